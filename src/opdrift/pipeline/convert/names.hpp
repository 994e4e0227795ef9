#pragma once

#include <string>
#include <string_view>

#include "opdrift/base/result.hpp"
#include "opdrift/io/dump.hpp"
#include "opdrift/pipeline/convert/convert.hpp"
#include "opdrift/pipeline/convert/tensor_output.hpp"

/// Names of converted tensors; the grammar stands in pipeline/convert.hpp.
namespace opdrift::pipeline {

/// What a name is made from.
struct NameParts {
  std::string_view dump_name;  ///< F
  std::string_view op_name;    ///< of the operator, as msnpy names use it
  io::TensorRole role = io::TensorRole::output;
  std::uint32_t index = 0;
  /// Of the array that is written; without a target format bin names give the number of elements.
  tensor::Shape shape;
  tensor::TensorDesc desc;                     ///< of the stored tensor
  tensor::Format format = tensor::Format::nd;  ///< the written array is in
  bool converted = false;                      ///< a target format was asked for
  bool reference = false;  ///< types the reference has no decoder for have no name
};

OutputFile file_kind(ConvertType type);

/// Fails with unsupported_format or unsupported_dtype when the name needs a name that a number does
/// not have.
Result<std::string> tensor_file_name(ConvertType type, const NameParts& parts);

/// F with its second part replaced by the last part of the operator's name.
std::string msnpy_base(std::string_view dump_name, std::string_view op_name);

/// Name of format `format`; fails with unsupported_format for numbers without one.
Result<std::string> required_format_name(tensor::Format format);

}  // namespace opdrift::pipeline
