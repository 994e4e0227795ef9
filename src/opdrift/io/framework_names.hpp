#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "opdrift/io/dump.hpp"

/// Names of tensors dumped by frameworks:
///
///   TensorFlow   op '.' output '.' time '.npy'   tensor name with "/" as "_" and ":" as "."
///   Caffe, ONNX  op '.' output '.' time '.npy'   node name with "/" and "." as "_"
///   MindSpore    type '.' op '.' task '.' stream '.' time '.' ('input' | 'output') '.' index '.'
///                format '.' dtype '.npy'
///   op may hold dots; output, task, stream, index are digits; time is 1 to 255 digits
///
/// The suffix may be .npy, .pb or .quant, or be missing (TensorFlow's too long names are a number
/// on disk and stand in mapping.csv, see ascend/mapping.hpp).
namespace opdrift::io {

struct FrameworkName {
  std::string op;       ///< as in the name, nothing is turned back
  std::string op_type;  ///< MindSpore only
  TensorRole role = TensorRole::output;
  std::uint32_t index = 0;
  std::string time;  ///< digits, microseconds as far as known
};

/// Takes a file name (no folder) apart; nothing when it is of none of these forms.
std::optional<FrameworkName> parse_framework_name(std::string_view file_name);

/// "op.output" as TensorFlow's dump writes the tensor "scope/op:0": "scope_op.0".
std::string tensorflow_file_key(std::string_view tensor_name);

/// "op.output" as the Caffe and ONNX dumps write it.
std::string node_file_key(std::string_view node_name, std::uint32_t output);

}  // namespace opdrift::io
