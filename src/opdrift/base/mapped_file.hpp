#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "opdrift/base/byte_cursor.hpp"
#include "opdrift/base/result.hpp"

namespace opdrift {

/// Bytes that somebody keeps alive: a mapped file, an unpacked archive member, a buffer.
struct Bytes {
  ByteSpan span;
  std::shared_ptr<const void> owner;

  std::size_t size() const { return span.size(); }
  /// The part [offset, offset + count), sharing the owner. The part must lie inside.
  Bytes part(std::uint64_t offset, std::uint64_t count) const;
};

/// Copies nothing: takes over a buffer.
Bytes own_bytes(std::vector<std::byte> buffer);

/// A file opened for reading. Small files are read, larger ones mapped; either way the bytes do not
/// change length under the reader: if the file is cut while mapped, the missing pages read as zero
/// and `damaged()` turns true, instead of the process dying of SIGBUS.
class MappedFile {
 public:
  /// Fails with not_found, permission, wrong_kind (not a regular file) or io.
  static Result<std::shared_ptr<const MappedFile>> open(const std::string& path);

  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  ByteSpan bytes() const { return {data_, static_cast<std::size_t>(size_)}; }
  /// The first bytes, all of a file that is not mapped. Looking at them does not bring pages of a
  /// mapping in, which takes longer than reading a header.
  ByteSpan head() const { return {buffer_.get(), buffer_bytes_}; }

  /// True once a page of the mapping turned out to be missing (file truncated by another process).
  bool damaged() const;

  /// Tells the system that the file will be read from front to back.
  void advise_sequential() const;

 private:
  MappedFile() = default;

  std::string path_;
  const std::byte* data_ = nullptr;
  std::uint64_t size_ = 0;
  std::size_t mapped_bytes_ = 0;  // 0 when the file was read into buffer_ as a whole
  std::size_t guard_slot_ = 0;    // place in the table of guarded mappings
  std::unique_ptr<std::byte[]> buffer_;
  std::size_t buffer_bytes_ = 0;
};

/// The bytes of a whole file, kept alive by the result.
Result<Bytes> map_file(const std::string& path);

/// Errors of the operating system as an Error of ours: ENOENT, EACCES, EISDIR, ENOSPC and so on.
Error system_error(int error_number, const std::string& what, const std::string& path);

}  // namespace opdrift
