#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "opdrift/base/byte_cursor.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/io/dump.hpp"
#include "opdrift/tensor/tensor.hpp"

/// Writes operator dumps of the grammar in io/ascend_dump.hpp.
namespace opdrift::io {

/// One tensor to write. Inputs and outputs need `desc`; of buffers and spaces only the bytes count.
struct AscendTensor {
  TensorRole role = TensorRole::output;
  tensor::TensorDesc desc;  ///< `ascend_dtype` wins over `dtype` when it is not -1
  ByteSpan bytes;
  std::optional<std::uint64_t> claimed_size;  ///< written in place of the number of bytes
};

struct AscendContent {
  std::string version = "2.0";
  std::uint64_t dump_time_us = 0;
  std::string op_name;
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<AscendTensor> tensors;  ///< any order
};

/// The bytes of the file. Fails with unsupported_dtype when a type has no Ascend number.
Result<std::vector<std::byte>> encode_ascend_dump(const AscendContent& content);

/// Encodes and writes; the file appears whole or not at all.
Status write_ascend_dump(const std::string& path, const AscendContent& content);

}  // namespace opdrift::io
