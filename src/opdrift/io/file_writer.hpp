#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/byte_cursor.hpp"
#include "opdrift/base/result.hpp"

namespace opdrift::io {

struct FileWriterOptions {
  unsigned mode = 0666;  ///< permissions of a new file, before the process's umask
};

/// Writes a file that appears whole or not at all.
///
/// The bytes go to `.opdrift-<pid>-<n>.tmp` in the same folder (short, so that a target name of 255
/// bytes works); `commit` renames it over `path`, replacing a file or a symbolic link. Without
/// `commit` the temporary file is removed. Pipes, terminals and everything below /dev are written
/// directly instead. One thread at a time.
///
/// Failures carry `path` and one of not_found (no such folder), permission, wrong_kind (a folder),
/// write_failed (disk full, quota, anything else). After a failed write, all further steps fail.
class FileWriter {
 public:
  static Result<FileWriter> create(const std::string& path, const FileWriterOptions& options = {});

  FileWriter(FileWriter&& other) noexcept;
  FileWriter& operator=(FileWriter&& other) noexcept;
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  ~FileWriter();

  const std::string& path() const { return path_; }
  /// Bytes written so far.
  std::uint64_t position() const { return flushed_ + buffer_.size(); }

  Status write(ByteSpan bytes);
  Status write(std::string_view text) { return write(as_bytes(text)); }
  /// Replaces bytes that were already written. Fails with write_failed on a pipe or terminal.
  Status rewrite(std::uint64_t offset, ByteSpan bytes);
  /// Writes what is buffered, closes and renames. The writer cannot be used any more.
  Status commit();

 private:
  FileWriter() = default;
  Status open_temporary(unsigned mode);
  Status flush();
  Status write_through(ByteSpan bytes);
  Error failed(int error_number, const std::string& what);
  void discard();

  std::string path_;
  std::string temporary_;  // "" when path_ is written directly
  int fd_ = -1;
  std::uint64_t flushed_ = 0;
  std::vector<std::byte> buffer_;
};

/// Creates a file with this content, whole or not at all.
Status write_file(const std::string& path, std::string_view content,
                  const FileWriterOptions& options = {});

}  // namespace opdrift::io
