#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "opdrift/base/byte_cursor.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/io/dump.hpp"

/// Dump of a transformer-boost operator, one tensor with a text head:
///
///   file  = line* end data
///   line  = key "=" value "\n"      UTF-8; keys that begin with "$" are passed over
///   end   = "$End=" text "\n"
///   keys  = dtype   0 float32, 1 float16, 2 int8, 3 int32, 9 int64, 12 bool, 27 bfloat16
///           dims    whole numbers joined by ","
///           format  a number, not used
///           data    place of the bytes in another file: not supported
///   data  = exactly the elements of dims, to the end of the file
namespace opdrift::io {

/// True for names ending in .bin (any case) whose first line is `key=value`.
bool probe_ascend_atb(ByteSpan head, std::uint64_t file_size, std::string_view file_name);

/// Fails with malformed when a line is not UTF-8, and with unsupported for everything else that
/// keeps the file from being read: no end line, a line without or with two "=", missing or bad
/// keys, another number of bytes than dims say.
Result<FileDump> open_ascend_atb(const std::string& path);
Result<FileDump> parse_ascend_atb(const Bytes& file, const std::string& path);

}  // namespace opdrift::io
