#include "opdrift/engine/precision.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "unit/engine/model_testing.hpp"

namespace opdrift::engine {
namespace {

namespace onnx = io::onnx;
using testing::constant;
using testing::empty_model;
using testing::floats;
using testing::TempFolder;

std::vector<float> rounded(Precision precision, std::vector<float> values) {
  round_values(precision, std::as_writable_bytes(std::span(values)));
  return values;
}

// Halfway cases by hand: f16 has 11 significant bits, bf16 has 8; ties go to the even neighbour.
TEST(RoundValues, FollowsTheNarrowType) {
  EXPECT_EQ(rounded(Precision::fp16, {2049, 2051, 65520, 1e-8F}),
            (std::vector<float>{2048, 2052, std::numeric_limits<float>::infinity(), 0}));
  EXPECT_EQ(rounded(Precision::bf16, {257, 259, -3.0F}), (std::vector<float>{256, 260, -3}));
}

TEST(RoundValues, TreatsMoreThanOneBlockAlike) {
  const std::vector<float> values = rounded(Precision::bf16, std::vector<float>(50'001, 257.0F));
  EXPECT_EQ(std::count(values.begin(), values.end(), 256.0F), 50'001);
}

TEST(NarrowExactly, RefusesValuesThatWouldChange) {
  const std::vector<float> fine{1.0F, -0.5F, 65504.0F};
  const std::vector<float> not_fine{1.0F, 0.1F};
  const auto narrow = narrow_exactly(Precision::fp16, std::as_bytes(std::span(fine)));
  ASSERT_TRUE(narrow);
  EXPECT_EQ(narrow->size(), 6U);
  EXPECT_FALSE(narrow_exactly(Precision::fp16, std::as_bytes(std::span(not_fine))));
  EXPECT_FALSE(narrow_exactly(Precision::fp32, std::as_bytes(std::span(fine))));
}

std::vector<std::string> types_of(const onnx::Model& model) {
  std::vector<std::string> types;
  for (const onnx::Node& node : model.graph.nodes) {
    types.push_back(node.op_type);
  }
  return types;
}

TEST(RoundBorders, CastsStandBehindWideOutputsOnly) {
  onnx::Model model = testing::small_model();
  round_borders(model, Precision::fp16, {"s"});
  EXPECT_EQ(types_of(model), (std::vector<std::string>{"Add", "Cast", "Cast", "Relu", "Mul"}));
  EXPECT_EQ(model.graph.nodes[2].outputs, std::vector<std::string>{"s"});
  EXPECT_EQ(model.graph.nodes[3].inputs, std::vector<std::string>{"s"});
}

// Cast knows bfloat16 from operator set 13 on.
TEST(RoundBorders, OldOperatorSetsGetTheOwnOperator) {
  onnx::Model model = empty_model(9);
  model.graph.nodes = {onnx::make_node("Relu", "r", {"x"}, {"y"})};
  round_borders(model, Precision::bf16, {"y"});
  ASSERT_EQ(types_of(model), (std::vector<std::string>{"Relu", "Round"}));
  EXPECT_EQ(model.graph.nodes[1].domain, "opdrift");
}

float first_value(const onnx::Tensor& tensor, const std::string& folder) {
  const auto loaded = onnx::load(tensor, folder);
  EXPECT_TRUE(loaded) << loaded.error().to_string();
  float value = 0;
  std::memcpy(&value, loaded->bytes.span.data(), sizeof value);
  return value;
}

onnx::Model model_with_scales() {
  onnx::Model model = empty_model();
  model.graph.initializers = {constant("w", {1}, std::vector<float>{257}),
                              constant("scales", {4}, std::vector<float>{257, 1, 1, 1})};
  model.graph.nodes = {onnx::make_node("Mul", "m", {"x", "w"}, {"y"}),
                       onnx::make_node("Resize", "r", {"y", "", "scales"}, {"z"})};
  return model;
}

// 257 is not a bf16 number; Resize takes its scales as f32 whatever the rest of the model is.
TEST(RoundConstants, LeavesInputsThatAreFloatByDefinition) {
  PlacedModel placed{model_with_scales(), "."};
  ASSERT_TRUE(round_constants(placed, Precision::bf16, "."));
  EXPECT_EQ(first_value(placed.model.graph.initializers[0], "."), 256.0F);
  EXPECT_EQ(first_value(placed.model.graph.initializers[1], "."), 257.0F);
}

TEST(RoundConstants, ReachesConstantNodes) {
  PlacedModel placed{empty_model(), "."};
  placed.model.graph.nodes = {
      onnx::make_node("Constant", "k", {}, {"w"},
                      {onnx::make_attribute("value", constant("", {1}, std::vector<float>{257}))}),
      onnx::make_node("Mul", "m", {"x", "w"}, {"y"})};
  ASSERT_TRUE(round_constants(placed, Precision::bf16, "."));
  EXPECT_EQ(first_value(*placed.model.graph.nodes[0].attributes[0].tensor, "."), 256.0F);
}

}  // namespace
}  // namespace opdrift::engine
