#include "opdrift/engine/wanted_values.hpp"

#include <memory>

#include "opdrift/base/byte_cursor.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"

namespace opdrift::engine {

namespace {

namespace onnx = io::onnx;
using onnx::ValueInfo;
using onnx::ValueKind;

std::uint64_t bytes_of(int element_type, const tensor::Shape& shape) {
  const auto dtype = onnx::dtype_of(element_type);
  const Result<std::uint64_t> count = tensor::element_count(shape);
  if (!dtype || !count) {
    return kUnknownSize;
  }
  return tensor::storage_bytes(*dtype, *count).value_or(kUnknownSize);
}

/// Size of a value whose shape a Shape node returned.
std::uint64_t measured_bytes(const ValueInfo& info, const RunValue& shape_value) {
  tensor::Shape shape;
  if (shape_value.tensor) {
    ByteCursor cursor(shape_value.tensor->bytes.span);
    while (cursor.remaining() > 0) {
      shape.push_back(cursor.u64("extent").value_or(0U));
    }
  }
  return bytes_of(info.element_type, shape);
}

}  // namespace

std::string unwritable_reason(const ValueInfo& info) {
  if (info.kind != ValueKind::tensor && info.kind != ValueKind::optional) {
    return "a " + std::string(to_string(info.kind)) + ", not a tensor";
  }
  const bool text =
      info.kind == ValueKind::tensor && onnx::dtype_of(info.element_type) == tensor::DType::string;
  return text ? "a tensor of text" : "";
}

std::uint64_t inferred_bytes(const ValueInfo& info) {
  if (!info.shape) {
    return kUnknownSize;
  }
  tensor::Shape shape;
  for (const onnx::Dim& dim : *info.shape) {
    if (!dim.value) {
      return kUnknownSize;
    }
    shape.push_back(*dim.value);
  }
  return bytes_of(info.element_type, shape);
}

Status measure_sizes(std::vector<WantedValue>& wanted, const ValueTypes& types,
                     const PlacedModel& model, Runtime& runtime, const SessionOptions& session,
                     const std::vector<NamedTensor>& inputs) {
  std::vector<WantedValue*> open;
  std::vector<std::string> open_names;
  for (WantedValue& value : wanted) {
    if (value.bytes == kUnknownSize && types.at(value.output.tensor).kind == ValueKind::tensor) {
      open.push_back(&value);
      open_names.push_back(value.output.tensor);
    }
  }
  if (open.empty()) {
    return Unit{};
  }
  PlacedModel shapes = model;
  expose_shapes(shapes.model, open_names);
  std::vector<std::string> names;
  for (const ValueInfo& output : shapes.model.graph.outputs) {
    names.push_back(output.name);
  }
  OPDRIFT_TRY(const std::unique_ptr<Session> shapes_only, open_model(runtime, shapes, session));
  OPDRIFT_TRY(const std::vector<RunValue> values, shapes_only->run(inputs, names));
  for (std::size_t i = 0; i < open.size(); ++i) {
    open[i]->bytes = measured_bytes(types.at(open_names[i]), values[i]);
  }
  return Unit{};
}

std::size_t group_end(const std::vector<WantedValue>& wanted, std::size_t first,
                      std::uint64_t budget) {
  std::uint64_t held = 0;
  std::size_t end = first;
  for (; end < wanted.size(); ++end) {
    const std::uint64_t bytes = wanted[end].bytes == kUnknownSize ? 0 : wanted[end].bytes;
    if (end > first && (bytes > budget || held > budget - bytes)) {
      break;
    }
    held += bytes;
  }
  return end;
}

}  // namespace opdrift::engine
