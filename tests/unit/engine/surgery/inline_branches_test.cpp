#include "opdrift/engine/surgery/inline_branches.hpp"

#include <gtest/gtest.h>

#include "unit/engine/surgery/surgery_testing.hpp"

namespace opdrift::engine {
namespace {

namespace onnx = io::onnx;
using Names = std::vector<std::string>;

/// c, x -> If(c) { then: If(c) { then: Neg x, else: Abs x }, else: w } -> y
onnx::Model nested_model(const std::string& inner_value = "inner") {
  const auto leaf = [&](const std::string& type) {
    onnx::Graph graph;
    graph.nodes = {onnx::make_node(type, "leaf " + type, {"x"}, {inner_value})};
    graph.outputs = {onnx::make_value_info(inner_value, testing::kFloat)};
    return graph;
  };
  onnx::Graph then_graph;
  then_graph.nodes = {onnx::make_node(
      "If", "deep", {"c"}, {"middle"},
      {testing::body("then_branch", leaf("Neg")), testing::body("else_branch", leaf("Abs"))})};
  then_graph.outputs = {onnx::make_value_info("middle", testing::kFloat)};
  onnx::Graph else_graph;
  else_graph.initializers = {testing::constant("w", {2}, std::vector<float>{1, 2})};
  else_graph.outputs = {onnx::make_value_info("w", testing::kFloat)};
  onnx::Model model = testing::empty_model();
  model.graph.inputs = {onnx::make_value_info("c", testing::kBool, {}),
                        testing::floats("x", {{2, ""}})};
  model.graph.nodes = {onnx::make_node(
      "If", "top", {"c"}, {"y"},
      {testing::body("then_branch", then_graph), testing::body("else_branch", else_graph)})};
  model.graph.outputs = {testing::floats("y", {{2, ""}})};
  return model;
}

ConditionValue always(std::optional<bool> value) {
  return [value](const onnx::Model&, const std::string&) -> Result<std::optional<bool>> {
    return value;
  };
}

Names node_types(const onnx::Model& model) {
  Names types;
  for (const onnx::Node& node : model.graph.nodes) {
    types.push_back(node.op_type);
  }
  return types;
}

TEST(InlineBranches, BranchesWithinBranchesAreReached) {
  onnx::Model model = nested_model();
  EXPECT_EQ(inline_branches(model, always(true)).value_or(0U), 2U);
  EXPECT_EQ(node_types(model), (Names{"Neg", "Identity", "Identity"}));
  const Workpiece piece = testing::prepared(std::move(model));
  EXPECT_EQ(piece.graph.producer("y"), std::optional<std::size_t>(2));
}

TEST(InlineBranches, ConstantsOfTheBranchComeAlong) {
  onnx::Model model = nested_model();
  EXPECT_EQ(inline_branches(model, always(false)).value_or(0U), 1U);
  EXPECT_EQ(node_types(model), (Names{"Identity"}));
  ASSERT_EQ(model.graph.initializers.size(), 1U);
  EXPECT_EQ(model.graph.initializers[0].name, "w");
}

TEST(InlineBranches, WhatIsNotKnownStays) {
  onnx::Model model = nested_model();
  EXPECT_EQ(inline_branches(model, always(std::nullopt)).value_or(9U), 0U);
  EXPECT_EQ(node_types(model), (Names{"If"}));
}

TEST(InlineBranches, ABranchThatUsesANameFromOutsideStays) {
  onnx::Model model = nested_model("x");
  EXPECT_EQ(inline_branches(model, always(true)).value_or(9U), 1U);
  EXPECT_EQ(node_types(model), (Names{"If", "Identity"}));
}

TEST(InlineBranches, TheResultComputesTheSame) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  onnx::Model model = nested_model();
  ASSERT_TRUE(inline_branches(model, always(true)));
  const auto session = open_model(*testing::runtime(), {model, "."}, {});
  EXPECT_TRUE(session) << session.error().to_string();
}

}  // namespace
}  // namespace opdrift::engine
