#include "opdrift/engine/wanted_values.hpp"

#include "opdrift/io/onnx/tensor_data.hpp"

namespace opdrift::engine {

std::string unwritable_reason(const io::onnx::ValueInfo& info) {
  using io::onnx::ValueKind;
  if (info.kind != ValueKind::tensor && info.kind != ValueKind::optional) {
    return "a " + std::string(to_string(info.kind)) + ", not a tensor";
  }
  const bool text = info.kind == ValueKind::tensor &&
                    io::onnx::dtype_of(info.element_type) == tensor::DType::string;
  return text ? "a tensor of text" : "";
}

}  // namespace opdrift::engine
