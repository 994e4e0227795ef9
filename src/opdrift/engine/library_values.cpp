#include "opdrift/engine/library_values.hpp"

#include <string>
#include <utility>

#include "opdrift/io/onnx/tensor_data.hpp"

namespace opdrift::engine {

using io::onnx::ValueKind;

ValueKind kind_of(ONNXType type) {
  switch (type) {
    case ONNX_TYPE_TENSOR: return ValueKind::tensor;
    case ONNX_TYPE_SEQUENCE: return ValueKind::sequence;
    case ONNX_TYPE_MAP: return ValueKind::map;
    case ONNX_TYPE_SPARSETENSOR: return ValueKind::sparse_tensor;
    case ONNX_TYPE_OPTIONAL: return ValueKind::optional;
    default: return ValueKind::unknown;
  }
}

std::optional<tensor::DType> dtype_of(ONNXTensorElementDataType type) {
  return type <= 23 ? io::onnx::dtype_of(static_cast<int>(type)) : std::nullopt;
}

RunValue borrow_value(const Ort::ConstValue& value) {
  RunValue out;
  if (!value || !value.HasValue()) {
    out.kind = ValueKind::optional;
    out.reason = "the optional value is empty";
    return out;
  }
  out.kind = kind_of(value.GetTypeInfo().GetONNXType());
  if (!value.IsTensor()) {
    out.reason = "a " + std::string(to_string(out.kind)) + ", not a tensor";
    return out;
  }
  const auto info = value.GetTensorTypeAndShapeInfo();
  const auto dtype = dtype_of(info.GetElementType());
  if (!dtype || *dtype == tensor::DType::string) {
    out.reason = dtype ? "a tensor of text"
                       : "elements of type " + std::to_string(info.GetElementType()) +
                             ", which no dump format can hold";
    return out;
  }
  tensor::Tensor result;
  result.desc.dtype = *dtype;
  for (const std::int64_t extent : info.GetShape()) {
    result.desc.shape.push_back(static_cast<std::uint64_t>(extent));
  }
  const std::uint64_t bytes = tensor::storage_bytes(*dtype, info.GetElementCount()).value_or(0);
  const auto* data = static_cast<const std::byte*>(value.GetTensorRawData());
  result.bytes = Bytes{{data, static_cast<std::size_t>(bytes)}, nullptr};
  out.tensor = std::move(result);
  return out;
}

}  // namespace opdrift::engine
