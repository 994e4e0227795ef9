#include <gtest/gtest.h>

#include <filesystem>

#include "unit/io/io_testing.hpp"

#include "opdrift/io/onnx/graph.hpp"
#include "opdrift/io/onnx/model.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"
#include "opdrift/io/onnx/writer.hpp"

namespace opdrift::io::onnx {
namespace {

using testing::bytes_of;
using testing::TempFolder;
using testing::text_of;

ProtobufWriter value(std::string_view name) {
  ProtobufWriter info;
  info.text(1, name);
  return info;
}

/// A node with an attribute of every kind, an unknown field 77 and a documentation string.
ProtobufWriter node_with_everything() {
  ProtobufWriter node;
  node.text(1, "x");
  node.text(1, "");
  node.text(2, "y");
  node.text(3, "名");
  node.text(4, "Op");
  const auto attribute = [&](std::string_view name, int type, auto fill) {
    ProtobufWriter a;
    a.text(1, name);
    fill(a);
    a.varint(20, static_cast<std::uint64_t>(type));
    node.message(5, a);
  };
  attribute("f", 1, [](ProtobufWriter& a) { a.real(2, 0.5F); });
  attribute("i", 2, [](ProtobufWriter& a) { a.signed_varint(3, -3); });
  attribute("s", 3, [](ProtobufWriter& a) { a.text(4, "text"); });
  attribute("fs", 6, [](ProtobufWriter& a) {
    const std::string packed = text_of(std::vector<float>{1, 2});
    a.text(7, packed);
    a.real(7, 3.0F);
  });
  attribute("is", 7, [](ProtobufWriter& a) {
    const std::vector<std::uint64_t> numbers{1, ~std::uint64_t{0}};
    a.packed(8, numbers);
  });
  attribute("ss", 8, [](ProtobufWriter& a) {
    a.text(9, "one");
    a.text(9, "two");
  });
  node.text(6, "documentation");
  node.text(7, "custom.domain");
  node.varint(77, 5);
  return node;
}

std::vector<std::byte> model_bytes(const ProtobufWriter& node) {
  ProtobufWriter graph;
  graph.message(1, node);
  graph.text(2, "graph");
  graph.message(11, value("x"));
  graph.message(12, value("y"));
  ProtobufWriter opset;
  opset.varint(2, 17);
  ProtobufWriter model;
  model.varint(1, 8);
  model.text(2, "maker");
  model.message(7, graph);
  model.message(8, opset);
  model.fixed64(99, 12345);
  return model.take();
}

Model read(const std::vector<std::byte>& bytes) {
  Result<Model> model = read_model(own_bytes(bytes));
  EXPECT_TRUE(model) << model.error().to_string();
  return model ? std::move(model).value() : Model{};
}

std::vector<std::byte> written(const Model& model) {
  const auto encoded = encode(model);
  EXPECT_TRUE(encoded);
  return encoded ? encoded->flatten() : std::vector<std::byte>{};
}

void expect_everything(const Node& node) {
  EXPECT_EQ(node.name, "名");
  EXPECT_EQ(node.domain, "custom.domain");
  EXPECT_EQ(node.inputs, (std::vector<std::string>{"x", ""}));
  ASSERT_NE(node.attribute("f"), nullptr);
  EXPECT_EQ(node.attribute("f")->real, 0.5F);
  EXPECT_EQ(node.attribute("i")->integer, -3);
  EXPECT_EQ(node.attribute("s")->text, "text");
  EXPECT_EQ(node.attribute("fs")->reals, (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(node.attribute("is")->integers, (std::vector<std::int64_t>{1, -1}));
  EXPECT_EQ(node.attribute("ss")->texts, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(node.unknown.size(), 2U);  // documentation and field 77
}

TEST(OnnxModel, EveryPartIsRead) {
  const Model model = read(model_bytes(node_with_everything()));
  EXPECT_EQ(model.producer, "maker");
  EXPECT_EQ(model.graph.name, "graph");
  EXPECT_EQ(model.opsets[0].version, 17);
  expect_everything(model.graph.nodes[0]);
}

TEST(OnnxModel, WritingAnUntouchedModelKeepsEveryField) {
  const std::vector<std::byte> bytes = model_bytes(node_with_everything());
  const std::vector<std::byte> again = written(read(bytes));
  EXPECT_EQ(again.size(), bytes.size());
  EXPECT_EQ(written(read(again)), again);
  const Model model = read(again);
  expect_everything(model.graph.nodes[0]);
  EXPECT_EQ(model.unknown.back().field.number, 99U);
}

TEST(OnnxModel, AnEditedNodeIsEncodedFromItsFields) {
  Model model = read(model_bytes(node_with_everything()));
  Node& node = model.graph.nodes[0];
  node.outputs[0] = "z";
  node.message = {};
  for (Attribute& attribute : node.attributes) {
    attribute.message = {};
  }
  const Model again = read(written(model));
  EXPECT_EQ(again.graph.nodes[0].outputs[0], "z");
  expect_everything(again.graph.nodes[0]);
}

TEST(OnnxModel, BodiesAreReadAndKept) {
  ProtobufWriter inner;
  ProtobufWriter inner_node;
  inner_node.text(4, "Relu");
  inner.message(1, inner_node);
  ProtobufWriter attribute;
  attribute.text(1, "body");
  attribute.message(6, inner);
  attribute.varint(20, 5);
  ProtobufWriter node;
  node.text(4, "Loop");
  node.message(5, attribute);
  Model model = read(model_bytes(node));
  ASSERT_EQ(model.graph.nodes[0].attributes[0].graphs.size(), 1U);
  model.graph.nodes[0].message = {};
  model.graph.nodes[0].attributes[0].message = {};
  const Model again = read(written(model));
  EXPECT_EQ(again.graph.nodes[0].attributes[0].graphs[0]->nodes[0].op_type, "Relu");
}

TEST(OnnxModel, EveryCutOfTheBytesIsRefusedOrReadWithoutHarm) {
  const std::vector<std::byte> bytes = model_bytes(node_with_everything());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<long>(size));
    const auto model = read_model(own_bytes(cut));
    if (!model) {
      EXPECT_NE(model.error().code, ErrorCode::internal);
    }
  }
}

// 200 bodies within each other, far beyond what the wire reader follows.
TEST(OnnxModel, EndlessNestingIsRefused) {
  std::vector<std::byte> graph;
  for (int depth = 0; depth < 200; ++depth) {
    ProtobufWriter attribute;
    attribute.bytes(6, graph);
    ProtobufWriter node;
    node.message(5, attribute);
    ProtobufWriter outer;
    outer.message(1, node);
    graph = outer.take();
  }
  ProtobufWriter model;
  model.bytes(7, graph);
  EXPECT_FALSE(read_model(own_bytes(model.take())));
}

TEST(OnnxModel, TextIsNoModel) {
  EXPECT_FALSE(read_model(bytes_of("hello, this is no model")));
  EXPECT_FALSE(read_model(bytes_of("")));
}

TEST(OnnxTensor, TypedFieldsGiveTheBytesOfRawData) {
  ProtobufWriter message;
  message.varint(1, 3);
  message.varint(2, 10);  // FLOAT16, bit patterns in int32_data
  const std::vector<std::uint64_t> bits{0x3c00, 0x4000, 0xbc00};
  message.packed(5, bits);
  ProtobufWriter graph;
  graph.message(5, message);
  graph.message(11, value("x"));
  ProtobufWriter model;
  model.message(7, graph);
  const Model read_back = read(model.take());
  const auto tensor = load(read_back.graph.initializers[0], ".");
  ASSERT_TRUE(tensor) << tensor.error().to_string();
  EXPECT_EQ(as_text(tensor->bytes.span),
            text_of(std::vector<std::uint16_t>{0x3c00, 0x4000, 0xbc00}));
}

TEST(OnnxTensor, FewerBytesThanTheShapeNeedsAreAMismatch) {
  Tensor tensor = make_tensor("w", tensor::DType::f32, {2}, as_bytes("12345678"));
  EXPECT_TRUE(load(tensor, "."));
  tensor.dims = {3};
  const auto loaded = load(tensor, ".");
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::data_mismatch);
}

TEST(OnnxTensor, AShapeOfTwoToTheSixtyIsRefused) {
  Tensor tensor = make_tensor("w", tensor::DType::f32, {2}, as_bytes("12345678"));
  tensor.dims = {std::uint64_t{1} << 60};
  EXPECT_FALSE(load(tensor, "."));
}

TEST(ExternalPath, MayNotLeaveTheFolder) {
  const TempFolder folder;
  const TempFolder elsewhere;
  (void)folder.file("inside.bin", "x");
  (void)elsewhere.file("outside.bin", "x");
  std::filesystem::create_symlink(elsewhere / "outside.bin", folder / "link.bin");
  EXPECT_TRUE(external_path("inside.bin", folder.path()));
  for (const std::string location :
       {"../outside.bin", "/etc/passwd", "a/../../b", "link.bin", ""}) {
    const auto path = external_path(location, folder.path());
    ASSERT_FALSE(path) << location;
    EXPECT_EQ(path.error().code, ErrorCode::invalid_argument) << location;
  }
  const auto missing = external_path("missing.bin", folder.path());
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
}

TEST(OnnxGraph, OperatorsKnowTheirProducers) {
  Model model;
  model.graph.nodes = {make_node("Split", "split", {"x"}, {"a", "b"}),
                       make_node("Add", "", {"b", "w"}, {"y"}),
                       make_node("Clip", "clip", {"y", ""}, {"z"})};
  model.graph.value_infos = {make_value_info("y", 10, {{2, ""}, {3, ""}})};
  model.opsets = {{"ai.onnx", 13}};
  const graph::Graph graph = to_graph(model);
  const graph::Operator& add = graph.operators[1];
  EXPECT_EQ(add.name, "Add_1");
  EXPECT_EQ(add.opset, 13);
  EXPECT_EQ(add.inputs[0].producer, "split");
  EXPECT_EQ(add.inputs[0].index, 1);
  EXPECT_EQ(add.inputs[1].producer, "");
  EXPECT_EQ(add.inputs[1].tensor, "w");
  EXPECT_EQ(add.outputs[0].dtype, "float16");
  EXPECT_EQ(add.outputs[0].shape, (tensor::Shape{2, 3}));
  EXPECT_EQ(graph.operators[2].inputs[1].producer, "");
}

TEST(OnnxGraph, TensorAttributesCarryTheirValues) {
  Model model;
  const std::vector<std::int64_t> values{(std::int64_t{1} << 60) + 1, -2};
  model.graph.nodes = {make_node(
      "Constant", "k", {}, {"y"},
      {make_attribute(
          "value", make_tensor("", tensor::DType::i64, {2}, std::as_bytes(std::span(values))))})};
  const graph::Attribute attribute = to_graph(model).operators[0].attributes.at("value");
  EXPECT_EQ(attribute.kind, graph::Attribute::Kind::tensor);
  EXPECT_EQ(attribute.integers, values);
  EXPECT_EQ(attribute.tensor_shape, (tensor::Shape{2}));
}

}  // namespace
}  // namespace opdrift::io::onnx
