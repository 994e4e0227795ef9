#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "opdrift/base/byte_cursor.hpp"
#include "opdrift/base/result.hpp"

/// The partition MODEL_INOUT_INFO:
///
///   content = (i32 type, u32 length, length bytes)*
///   type 0, 1  inputs, outputs: u32 count, then per tensor u64 size, i32 format, i32 dtype,
///              u32 name bytes, u32 dims bytes, u32 dimsV2 bytes, u32 range bytes, then those:
///              name, i64 dims, i64 dims before static AIPP, pairs of i64
///   type 2     gears of a batch: u32 n, u64 x n
///   type 3, 4  gears of height and width, of dims: u32 n, u32 count x n, then all values as u64
///   type 5, 6  output shapes, order of the data: u32 n, u32 bytes x n, then the texts
namespace opdrift::graph {

struct InoutTensor {
  std::string name;
  std::uint64_t bytes = 0;
  std::string format;  ///< "NCHW"; "format 77" for a number without a name
  std::string dtype;   ///< "FLOAT16"; "type 77" for a number without a name
  std::vector<std::int64_t> dims;
  std::vector<std::int64_t> dims_before_aipp;
  std::vector<std::int64_t> ranges;  ///< least and most of every dim
};

struct InoutInfo {
  std::vector<InoutTensor> inputs;
  std::vector<InoutTensor> outputs;
  std::vector<std::uint64_t> batch_gears;
  std::vector<std::vector<std::uint64_t>> image_gears;
  std::vector<std::vector<std::uint64_t>> dims_gears;
  std::vector<std::string> output_shapes;
  std::vector<std::string> data_order;
};

/// Unknown types are passed over. Fails with truncated.
Result<InoutInfo> parse_inout_info(ByteSpan content, std::uint64_t offset);

/// "FLOAT16" of 1, the numbering of attributes and of this partition (not that of the proto).
std::string attribute_dtype_name(std::int64_t number);
/// "NC1HWC0" of 3; the upper bytes, a sub-format, are ignored.
std::string attribute_format_name(std::int64_t number);

}  // namespace opdrift::graph
