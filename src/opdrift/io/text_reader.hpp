#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "opdrift/base/byte_cursor.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/io/dump.hpp"

/// Numbers as text (`.txt`):
///
///   file   = (number | comment | blank)*         blank = space, tab, line end
///   number = as in C, without hexadecimal, also nan, inf, infinity and a sign
///   comment = "#" to the end of the line
///
/// One float64 tensor of one axis; the text does not say its shape.
namespace opdrift::io {

bool probe_text(ByteSpan head, std::uint64_t file_size, std::string_view file_name);

/// Fails with malformed (something that is no number, with its line), limit (over 1 GiB), or what
/// mapping a file may fail with.
Result<FileDump> open_text(const std::string& path);

}  // namespace opdrift::io
