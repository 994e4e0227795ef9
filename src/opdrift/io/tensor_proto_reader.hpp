#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "opdrift/base/byte_cursor.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/io/dump.hpp"

/// One ONNX tensor per file (`.pb`), as the ONNX test data and onnx.numpy_helper write it:
///
///   file = TensorProto     protobuf: 1 dims* int64, 2 data_type int32, 8 name string,
///                          13 external_data* (1 key, 2 value), 14 data_location,
///                          data fields as in io/onnx/tensor_data.hpp
namespace opdrift::io {

/// True for names ending in .pb whose first byte is the tag of a TensorProto field and whose first
/// eight bytes are not the header length of an Ascend dump, which may have the same ending.
bool probe_tensor_proto(ByteSpan head, std::uint64_t file_size, std::string_view file_name);

/// One output tensor. Fails with malformed or truncated (no TensorProto), or what mapping a file
/// may fail with. A type that is no number and data that do not fit the shape are found when the
/// tensor is loaded; the first already shows as its `problem`.
Result<FileDump> open_tensor_proto(const std::string& path);

/// The same over bytes that are already there. External data is looked for beside `path`.
Result<FileDump> parse_tensor_proto(const Bytes& file, const std::string& path);

}  // namespace opdrift::io
