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
};

/// All readers, most specific first.
std::span<const Reader> readers();

/// The reader for a file: by content first, then by name. The first row whose probe takes it.
/// Fails with not_found, permission, wrong_kind, or unsupported when no reader takes it.
Result<const Reader*> find_reader(const std::string& path);

/// find_reader and open in one step.
Result<FileDump> open_file(const std::string& path);

}  // namespace opdrift::io
