#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "opdrift/io/onnx/model.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"
#include "opdrift/io/onnx/writer.hpp"

/// Small hand-made models.
namespace opdrift::io::testing {

inline constexpr int kFloat = 1;  // TensorProto.DataType
inline constexpr int kInt64 = 7;
inline constexpr int kBool = 9;

inline void keep_field(onnx::Model& model, std::uint32_t number, io::WireType type,
                       std::uint64_t value, const Bytes& bytes) {
  io::ProtobufField field;
  field.number = number;
  field.type = type;
  field.value = value;
  field.bytes = bytes.span;
  model.unknown.push_back({field, bytes.owner});
}

/// A model of IR version 8 without nodes, for one operator set of the default domain.
inline onnx::Model empty_model(std::uint64_t opset = 17) {
  onnx::Model model;
  io::ProtobufWriter import;
  import.varint(2, opset);
  keep_field(model, 1, io::WireType::varint, 8, {});
  keep_field(model, 8, io::WireType::bytes, 0, own_bytes(import.take()));
  model.opsets.push_back({"", static_cast<std::int64_t>(opset)});
  io::ProtobufField name;
  name.number = 2;
  name.type = io::WireType::bytes;
  name.bytes = as_bytes("g");
  model.graph.unknown.push_back({name, nullptr});
  return model;
}

inline onnx::ValueInfo floats(const std::string& name, std::vector<onnx::Dim> shape) {
  return onnx::make_value_info(name, kFloat, shape);
}

inline onnx::Tensor constant(const std::string& name, const tensor::Shape& shape,
                             const std::vector<float>& values) {
  return onnx::make_tensor(name, tensor::DType::f32, shape, std::as_bytes(std::span(values)));
}

inline onnx::Tensor constant(const std::string& name, const tensor::Shape& shape,
                             const std::vector<std::int64_t>& values) {
  return onnx::make_tensor(name, tensor::DType::i64, shape, std::as_bytes(std::span(values)));
}

inline onnx::Attribute body(const std::string& name, onnx::Graph graph) {
  onnx::Attribute attribute;
  attribute.name = name;
  attribute.type = onnx::AttributeType::graph;
  attribute.graphs.push_back(std::make_shared<const onnx::Graph>(std::move(graph)));
  return attribute;
}

/// x (n, 3) -> Add c -> Relu -> Mul by itself -> y, with a node name of each odd kind.
inline onnx::Model small_model(const std::string& middle_name = "a/b.c") {
  onnx::Model model = empty_model();
  model.graph.inputs = {floats("x", {{std::nullopt, "n"}, {3, ""}})};
  model.graph.initializers = {constant("c", {3}, std::vector<float>{0.1F, -2.0F, 0.25F})};
  model.graph.nodes = {onnx::make_node("Add", "first", {"x", "c"}, {"s"}),
                       onnx::make_node("Relu", middle_name, {"s"}, {"r"}),
                       onnx::make_node("Mul", "", {"r", "r"}, {"y"})};
  model.graph.outputs = {floats("y", {{std::nullopt, "n"}, {3, ""}})};
  return model;
}

}  // namespace opdrift::io::testing
