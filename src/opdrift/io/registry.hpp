#pragma once

#include <span>
#include <string>
#include <string_view>

#include "opdrift/base/byte_cursor.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/io/dump.hpp"

namespace opdrift::io {

/// One row per format that can be read.
struct Reader {
  std::string_view name;     ///< "npy"
  std::string_view summary;  ///< "NumPy array, one tensor per file"
  /// Looks at no more than the first 64 bytes, the size and the file name.
  bool (*probe)(ByteSpan head, std::uint64_t file_size, std::string_view file_name);
  /// Reads the header; maps the rest.
  Result<FileDump> (*open)(const std::string& path);
  std::string_view example;  ///< a command line for the help text
  bool has_magic = false;    ///< the bytes decide, whatever the name says
};

/// All readers, most specific first.
std::span<const Reader> readers();

/// The reader for a file: rows with a magic number by content alone, then all rows by content and
/// name, the first whose probe takes it; last, names of Ascend dumps, whose bytes have no mark.
/// Fails with not_found, permission, wrong_kind, or unsupported when no reader takes it.
Result<const Reader*> find_reader(const std::string& path);

/// find_reader and open in one step.
Result<FileDump> open_file(const std::string& path);

}  // namespace opdrift::io
