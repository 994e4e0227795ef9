#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/tensor/tensor.hpp"

namespace opdrift::io {

/// What a tensor was to its operator.
enum class TensorRole : std::uint8_t { input, output, buffer, space };

std::string_view to_string(TensorRole role);

/// One tensor inside a file: described at once, brought in only by `load_tensor`.
struct FileTensor {
  TensorRole role = TensorRole::output;
  std::uint32_t index = 0;  ///< among the tensors of the same role
  std::string name;         ///< member or tensor name when the file has one
  tensor::TensorDesc desc;
  std::uint64_t size_bytes = 0;           ///< bytes the file holds (or claims) for it
  Bytes bytes;                            ///< ready bytes of mapped formats
  std::function<Result<Bytes>()> loader;  ///< for packed formats; used when set
  std::optional<Error> problem;  ///< why it cannot be decoded; the bytes may still be there
  std::vector<std::pair<std::string, std::string>> attributes;  ///< of this tensor, name and value
};

/// Brings in the bytes of a tensor. Costs nothing for mapped formats.
Result<tensor::Tensor> load_tensor(const FileTensor& file_tensor);

/// The header of one dump file and the tensors behind it.
struct FileDump {
  std::string path;
  std::string_view format;  ///< name of the reader, see io/registry.hpp
  std::string op_name;      ///< full operator name from the header, may be empty
  std::string version;
  std::uint64_t dump_time_us = 0;
  std::vector<FileTensor> tensors;                              ///< payload order
  std::vector<std::pair<std::string, std::string>> attributes;  ///< name, value, in file order
  std::vector<std::string> warnings;  ///< oddities that did not prevent reading

  /// Tensors of one role, in index order.
  std::vector<const FileTensor*> of(TensorRole role) const;
};

}  // namespace opdrift::io
