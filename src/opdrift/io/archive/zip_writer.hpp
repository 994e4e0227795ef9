#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opdrift/base/byte_cursor.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/io/file_writer.hpp"

namespace opdrift::io {

/// Which writer's habits an archive follows; both are read by everything.
enum class ZipStyle : std::uint8_t {
  numpy,  ///< sizes in the local header, behind a zip64 field, patched when the member ends
  torch,  ///< no sizes in the local header but a descriptor; zip64 end record always; no dates
};

/// Writes an archive of stored members (grammar in zip_archive.hpp), one member after the other:
/// create, (begin, write*, end)*, finish. Data begin at multiples of 64 so that they can be mapped.
/// zip64 records are written where sizes need them. Nothing appears before `finish`.
class ZipWriter {
 public:
  static Result<ZipWriter> create(const std::string& path, ZipStyle style,
                                  const FileWriterOptions& options = {});

  /// Starts a member of `bytes` bytes. Fails with invalid_argument when the name is too long.
  Status begin(std::string_view name, std::uint64_t bytes);
  /// Fails with mismatch beyond the announced size.
  Status write(ByteSpan bytes);
  Status write(std::string_view text) { return write(as_bytes(text)); }
  /// Fails with mismatch when less was written than announced.
  Status end();
  Status finish();

 private:
  struct Entry {
    std::string name;
    std::uint64_t bytes = 0;
    std::uint64_t local_offset = 0;
    std::uint32_t crc = 0;
  };

  ZipWriter(FileWriter file, ZipStyle style) : file_(std::move(file)), style_(style) {}
  std::string local_header(const Entry& entry) const;
  std::string central_entry(const Entry& entry) const;
  std::string end_records(std::uint64_t directory_offset, std::uint64_t directory_end) const;
  std::uint16_t flags(const Entry& entry) const;

  FileWriter file_;
  ZipStyle style_;
  std::uint64_t left_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace opdrift::io
