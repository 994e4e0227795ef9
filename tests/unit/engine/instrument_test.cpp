#include "opdrift/engine/instrument.hpp"

#include <gtest/gtest.h>

#include "unit/engine/model_testing.hpp"

#include "opdrift/engine/damage.hpp"

namespace opdrift::engine {
namespace {

namespace onnx = io::onnx;
using testing::body;
using testing::constant;
using testing::empty_model;

TEST(NameNodes, NamelessNodesAreNamedByTypeAndPosition) {
  onnx::Model model = testing::small_model();
  EXPECT_EQ(name_nodes(model), 1U);
  EXPECT_EQ(model.graph.nodes[2].name, "Mul_2");
}

// The rule for clashes: numbers from 999 on.
TEST(NameNodes, ATakenNameGetsANumber) {
  onnx::Model model = testing::small_model("Mul_2");
  name_nodes(model);
  EXPECT_EQ(model.graph.nodes[2].name, "Mul_2_999");
}

TEST(NodeOutputs, AbsentOutputsAreLeftOut) {
  onnx::Graph graph;
  graph.nodes = {onnx::make_node("Dropout", "d", {"x"}, {"", "mask"})};
  const auto outputs = node_outputs(graph);
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_EQ(outputs[0].index, 1U);
}

// Conv -> BatchNormalization -> Relu became one FusedConv; the Constant that fed it is no operator
// whose work it does.
TEST(OriginalsOf, AFusedNodeNamesAllItReplaces) {
  onnx::Graph original;
  original.nodes = {onnx::make_node("Constant", "k", {}, {"w"}),
                    onnx::make_node("Conv", "conv", {"x", "w"}, {"c"}),
                    onnx::make_node("BatchNormalization", "bn", {"c"}, {"b"}),
                    onnx::make_node("Relu", "relu", {"b"}, {"r"}),
                    onnx::make_node("Exp", "exp", {"r"}, {"y"})};
  onnx::Graph optimized;
  optimized.nodes = {onnx::make_node("FusedConv", "f", {"x", "w"}, {"r"}),
                     onnx::make_node("Reorder", "added", {"r"}, {"token"}),
                     onnx::make_node("Exp", "exp", {"token"}, {"y"})};
  const auto originals = originals_of(optimized, original);
  EXPECT_EQ(originals[0], (std::vector<std::size_t>{1, 2, 3}));
  EXPECT_TRUE(originals[1].empty());
  EXPECT_EQ(originals[2], (std::vector<std::size_t>{4}));
}

// Slice was moved in front of Transpose: it kept its name but gives a value the original lacks.
TEST(RenameAdded, NodesWithoutOriginalsLoseTheNameOfAnOldNode) {
  onnx::Graph original;
  original.nodes = {onnx::make_node("Transpose", "t", {"x"}, {"a"}),
                    onnx::make_node("Slice", "s", {"a"}, {"y"})};
  onnx::Graph optimized;
  optimized.nodes = {onnx::make_node("Slice", "s", {"x"}, {"new"}),
                     onnx::make_node("Transpose", "added", {"new"}, {"y"})};
  const auto originals = originals_of(optimized, original);
  rename_added(optimized, original, originals);
  EXPECT_EQ(optimized.nodes[0].name, "s/rewritten");
  EXPECT_EQ(optimized.nodes[1].name, "added");
  EXPECT_EQ(originals[1], (std::vector<std::size_t>{0, 1}));
}

TEST(CapturedValues, BodiesReadFromOutsideAtAnyDepth) {
  onnx::Graph inner;
  inner.nodes = {onnx::make_node("Add", "a", {"outer", "own"}, {"sum"})};
  inner.outputs = {onnx::make_value_info("sum")};
  onnx::Graph outer;
  outer.nodes = {onnx::make_node("Relu", "r", {"deep"}, {"own"}),
                 onnx::make_node("If", "i", {"cond"}, {"out"}, {body("then_branch", inner)})};
  outer.outputs = {onnx::make_value_info("out")};
  const onnx::Node node =
      onnx::make_node("Loop", "l", {"n", ""}, {"y"}, {body("body", std::move(outer))});
  EXPECT_EQ(captured_values(node), (std::vector<std::string>{"deep", "cond", "outer"}));
}

TEST(DamageWeight, ScalesOneChannelOfTheMiddleConv) {
  onnx::Model model = empty_model();
  model.graph.initializers = {constant("w", {2, 1, 1, 1}, std::vector<float>{1, 2})};
  model.graph.nodes = {onnx::make_node("Conv", "c", {"x", "w"}, {"y"})};
  const auto damage = damage_weight(model, ".", {.node = "", .channel = 1, .factor = 3.0F});
  ASSERT_TRUE(damage) << damage.error().to_string();
  EXPECT_EQ(damage->node, "c");
  const auto weight = onnx::load(model.graph.initializers[0], ".");
  ASSERT_TRUE(weight);
  EXPECT_EQ(io::testing::text_of(std::vector<float>{1, 6}), as_text(weight->bytes.span));
}

TEST(DamageWeight, AChannelBeyondTheEndIsRefused) {
  onnx::Model model = empty_model();
  model.graph.initializers = {constant("w", {2, 1}, std::vector<float>{1, 2})};
  model.graph.nodes = {onnx::make_node("MatMul", "m", {"x", "w"}, {"y"})};
  const auto damage = damage_weight(model, ".", {.node = "m", .channel = 2});
  ASSERT_FALSE(damage);
  EXPECT_EQ(damage.error().code, ErrorCode::out_of_range);
}

}  // namespace
}  // namespace opdrift::engine
