#include "opdrift/engine/inputs.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "unit/engine/model_testing.hpp"

#include "opdrift/io/numpy/npy_writer.hpp"

namespace opdrift::engine {
namespace {

using testing::floats;
using testing::kInt64;
using testing::TempFolder;
namespace onnx = io::onnx;

onnx::Graph one_input(onnx::ValueInfo input) {
  onnx::Graph graph;
  graph.inputs.push_back(std::move(input));
  return graph;
}

template <typename T>
T element(const ModelInputs& inputs, std::size_t index) {
  T value{};
  std::memcpy(&value, inputs.tensors[0].tensor.bytes.span.data() + index * sizeof(T), sizeof(T));
  return value;
}

// Worked out with Python integers: SplitMix64 of seed 7 is 0x63cbe1e459320dd7, FNV-1a of "x" is
// 0xaf63f54c86021707; their xor seeds the numbers, whose first two give the mantissas below.
TEST(MakeInputs, MadeUpFloatsAreTheSameEverywhere) {
  InputOptions options;
  options.seed = 7;
  const auto inputs = make_inputs(one_input(floats("x", {{2, ""}})), options);
  ASSERT_TRUE(inputs) << inputs.error().to_string();
  EXPECT_EQ(element<float>(*inputs, 0), 2881079.0F / 16777216.0F);
  EXPECT_EQ(element<float>(*inputs, 1), 9522076.0F / 16777216.0F);
  EXPECT_EQ(inputs->sources[0], "seed 7");
}

TEST(MakeInputs, WholeNumbersBecomeOne) {
  const auto inputs = make_inputs(one_input(onnx::make_value_info("ids", kInt64, {{2, ""}})), {});
  ASSERT_TRUE(inputs);
  EXPECT_EQ(element<std::int64_t>(*inputs, 1), 1);
}

TEST(MakeInputs, OpenExtentsTakeTheDocumentedDefaults) {
  const auto inputs = make_inputs(
      one_input(
          floats("x", {{std::nullopt, "n"}, {3, ""}, {std::nullopt, ""}, {std::nullopt, "w"}})),
      {});
  ASSERT_TRUE(inputs);
  EXPECT_EQ(inputs->tensors[0].tensor.desc.shape, (tensor::Shape{1, 3, 224, 224}));
  EXPECT_EQ(inputs->chosen.at("w"), 224U);
  EXPECT_EQ(inputs->chosen.at("x:2"), 224U);
}

TEST(MakeInputs, DimsAreTakenBySymbolAndByAxis) {
  InputOptions options;
  options.dims = {{"n", 2}, {"x:1", 5}};
  const auto inputs =
      make_inputs(one_input(floats("x", {{std::nullopt, "n"}, {std::nullopt, ""}})), options);
  ASSERT_TRUE(inputs);
  EXPECT_EQ(inputs->tensors[0].tensor.desc.shape, (tensor::Shape{2, 5}));
  EXPECT_TRUE(inputs->chosen.empty());
}

TEST(MakeInputs, AnUnknownDimIsRefusedWithTheKnownOnes) {
  InputOptions options;
  options.dims = {{"m", 2}};
  const auto inputs = make_inputs(one_input(floats("x", {{std::nullopt, "n"}})), options);
  ASSERT_FALSE(inputs);
  EXPECT_NE(inputs.error().message.find("n, x:0"), std::string::npos) << inputs.error().message;
}

TEST(MakeInputs, AFileTellsOtherInputsTheSymbol) {
  const TempFolder folder;
  auto writer = io::NpyWriter::create(folder / "a.npy", tensor::DType::f32, {4});
  ASSERT_TRUE(writer);
  const std::vector<float> values{1, 2, 3, 4};
  ASSERT_TRUE(writer->write(std::as_bytes(std::span(values))));
  ASSERT_TRUE(writer->finish());
  onnx::Graph graph;
  graph.inputs = {floats("b", {{std::nullopt, "n"}}), floats("a", {{std::nullopt, "n"}})};
  InputOptions options;
  options.files = {{"a", folder / "a.npy"}};
  const auto inputs = make_inputs(graph, options);
  ASSERT_TRUE(inputs) << inputs.error().to_string();
  EXPECT_EQ(inputs->tensors[0].tensor.desc.shape, (tensor::Shape{4}));
}

// NumPy makes float64 unless told otherwise; 0.1 as f64 rounds to the f32 0.1.
TEST(MakeInputs, DoublesAreAcceptedForFloats) {
  const TempFolder folder;
  auto writer = io::NpyWriter::create(folder / "a.npy", tensor::DType::f64, {1});
  ASSERT_TRUE(writer);
  const std::vector<double> values{0.1};
  ASSERT_TRUE(writer->write(std::as_bytes(std::span(values))));
  ASSERT_TRUE(writer->finish());
  InputOptions options;
  options.files = {{"", folder / "a.npy"}};
  const auto inputs = make_inputs(one_input(floats("x", {{1, ""}})), options);
  ASSERT_TRUE(inputs) << inputs.error().to_string();
  EXPECT_EQ(element<float>(*inputs, 0), 0.1F);
}

TEST(MakeInputs, PlainBytesOfTheWrongLengthAreRefused) {
  const TempFolder folder;
  InputOptions options;
  options.files = {{"x", folder.file("x.bin", "12345")}};
  const auto inputs = make_inputs(one_input(floats("x", {{2, ""}})), options);
  ASSERT_FALSE(inputs);
  EXPECT_NE(inputs.error().message.find("expected 8 bytes"), std::string::npos);
}

TEST(MakeInputs, AnUnknownInputNameIsRefusedWithTheKnownOnes) {
  InputOptions options;
  options.files = {{"z", "whatever.npy"}};
  const auto inputs = make_inputs(one_input(floats("x", {{2, ""}})), options);
  ASSERT_FALSE(inputs);
  EXPECT_NE(inputs.error().message.find("its inputs are x"), std::string::npos);
}

TEST(MakeInputs, AShapeBeyondMemoryIsRefused) {
  const auto inputs =
      make_inputs(one_input(floats("x", {{std::uint64_t{1} << 40, ""}, {1 << 20, ""}})), {});
  ASSERT_FALSE(inputs);
  EXPECT_EQ(inputs.error().code, ErrorCode::limit);
}

TEST(MakeInputs, ConstantsAmongTheInputsAreNotAskedFor) {
  onnx::Graph graph = one_input(floats("w", {{2, ""}}));
  graph.initializers = {testing::constant("w", {2}, std::vector<float>{1, 2})};
  const auto inputs = make_inputs(graph, {});
  ASSERT_TRUE(inputs);
  EXPECT_TRUE(inputs->tensors.empty());
}

}  // namespace
}  // namespace opdrift::engine
