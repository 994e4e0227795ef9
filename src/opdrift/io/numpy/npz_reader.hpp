#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "opdrift/base/byte_cursor.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/io/dump.hpp"

/// NumPy archives: a zip file (io/archive/zip_archive.hpp) of .npy files (io/numpy/npy_header.hpp).
///
/// One output tensor per member "name.npy", in directory order. Stored members are mapped in place,
/// deflated ones unpacked when loaded; the checksum is verified then. A member that cannot be read
/// is its tensor's `problem` and does not hide the others.
namespace opdrift::io {

bool probe_npz(ByteSpan head, std::uint64_t file_size, std::string_view file_name);

/// Fails as ZipArchive::open does.
Result<FileDump> open_npz(const std::string& path);

}  // namespace opdrift::io
