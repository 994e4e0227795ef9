#pragma once

#include <cstdint>
#include <vector>

#include "opdrift/base/byte_cursor.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/io/archive/zip_archive.hpp"

namespace opdrift::io {

struct ZipDirectory {
  std::uint64_t offset = 0;  ///< of the first central entry
  std::vector<ZipMember> members;
};

/// Finds and reads the directory of an archive, see zip_archive.hpp for grammar and errors.
Result<ZipDirectory> read_zip_directory(ByteSpan file);

}  // namespace opdrift::io
