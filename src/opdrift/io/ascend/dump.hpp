#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "opdrift/base/byte_cursor.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/io/dump.hpp"

/// Operator dump of an Ascend device:
///
///   file     = u64 H, H bytes DumpData (protobuf), payload
///   payload  = data of every input, then output, then buffer, then space, each `size` bytes, not
///              aligned; what follows is ignored
///
///   DumpData = 1 version string, 2 dump_time uint64 (us), 3 output*, 4 input*, 5 buffer*,
///              6 op_name string, 7 attr*, 8 space*, 9 dfx_message string
///   output   = 1 data_type, 2 format, 3 shape, 4 original_op, 5 data, 6 size, 7 original_shape,
///              8 sub_format int32, 9 address uint64, 10 dim_range*, 11 offset
///   input    = 1 data_type, 2 format, 3 shape, 4 data, 5 size, 6 original_shape,
///              7 sub_format int32, 8 address uint64, 9 offset, 10 arg_index, 11 input_type
///   buffer, space = 1 type, 2 data, 3 size
///   shape    = 1 dim* uint64      attr = 1 name string, 2 value string
///   original_op = 1 name string, 2 output_index, 3 data_type, 4 format
///   dim_range   = 1 dim_start, 2 dim_end
///
/// Fields may come in any order; unknown ones are passed over; a scalar given twice keeps the last
/// value, a sub-message given twice is merged. Bytes in `data` belong to an older layout and are
/// not read. A file of 1 to 8 bytes is an empty dump with a warning.
namespace opdrift::io {

/// True when the first eight bytes are a header length that fits the file and the byte behind is
/// the tag of a field of DumpData.
bool probe_ascend_dump(ByteSpan head, std::uint64_t file_size, std::string_view file_name);

/// Maps the file and reads its header. Fails with truncated (empty file, header longer than the
/// file), malformed (not the message above, text that is not UTF-8), limit (header over 256 MiB,
/// over 100,000 tensors) or what mapping may fail with. A payload that ends early is the `problem`
/// of the tensors it does not reach (truncated); see tensor.hpp for the others.
Result<FileDump> open_ascend_dump(const std::string& path);

/// The same over bytes that are already there; `path` is only named in the result.
Result<FileDump> parse_ascend_dump(const Bytes& file, const std::string& path);

}  // namespace opdrift::io
