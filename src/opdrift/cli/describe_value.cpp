#include "opdrift/cli/describe_value.hpp"

#include "opdrift/base/text.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"

namespace opdrift::cli {

std::string shape_text(const io::onnx::ValueInfo& info) {
  if (!info.shape) {
    return "?";
  }
  std::string text;
  for (const io::onnx::Dim& dim : *info.shape) {
    text += text.empty() ? "" : ", ";
    text +=
        dim.value ? std::to_string(*dim.value) : (dim.symbol.empty() ? "?" : printable(dim.symbol));
  }
  return "(" + text + ")";
}

std::string describe(const io::onnx::ValueInfo& info) {
  if (info.kind != io::onnx::ValueKind::tensor) {
    return printable(info.name) + "  " + std::string(to_string(info.kind));
  }
  const auto dtype = io::onnx::dtype_of(info.element_type);
  return printable(info.name) + "  " +
         (dtype ? std::string(tensor::name_of(*dtype)) : std::to_string(info.element_type)) + " " +
         shape_text(info);
}

}  // namespace opdrift::cli
