#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/io/file_writer.hpp"

/// Writes zip archives of deflated members whose pieces were compressed by several threads:
///
///   member = piece* 03 00          every piece a run of deflate blocks that ends at a byte
///                                  boundary and refers to nothing before it; 03 00 ends the stream
///
/// Archive grammar: io/zip_archive.hpp. Sizes follow the data in a descriptor; up to 4 GiB.
namespace opdrift::io {

/// A piece of a member, compressed on its own.
struct DeflatedPiece {
  std::string bytes;
  std::uint64_t unpacked_bytes = 0;
  std::uint32_t crc = 0;
};

/// Compresses quickly rather than well. Any thread. Fails with out_of_memory.
Result<DeflatedPiece> deflate_piece(std::string_view text);

/// create, (begin, add*, end)*, finish. Nothing appears under the path before `finish`.
class DeflateArchive {
 public:
  static Result<DeflateArchive> create(const std::string& path,
                                       const FileWriterOptions& options = {});

  Status begin(std::string_view name);
  Status add(const DeflatedPiece& piece);
  Status end();
  /// begin, one piece, end.
  Status member(std::string_view name, std::string_view content);
  /// Fails with `limit` beyond 4 GiB or 65,535 members, or as FileWriter does.
  Status finish();

 private:
  struct Entry {
    std::string name;
    std::uint64_t offset = 0;
    std::uint64_t packed_bytes = 0;
    std::uint64_t unpacked_bytes = 0;
    std::uint32_t crc = 0;
  };

  explicit DeflateArchive(FileWriter file) : file_(std::move(file)) {}

  FileWriter file_;
  std::vector<Entry> entries_;
};

}  // namespace opdrift::io
