#include "opdrift/match/torchair_match.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace opdrift::match {

namespace {

graph::Operator make_op(const std::string& name, std::initializer_list<const char*> fx,
                        std::initializer_list<const char*> inputs = {}) {
  graph::Operator op;
  op.name = name;
  for (const char* tensor : fx) {
    graph::OutputDesc output;
    output.tensor = tensor;
    op.outputs.push_back(output);
  }
  for (const char* input : inputs) {
    op.inputs.push_back({input, 0, "", input, true});
  }
  return op;
}

graph::Graph example() {
  graph::Graph graph;
  graph.operators = {make_op("MatMul", {"mm-aten.mm.OUTPUT.0"}, {"a", "w"}),
                     make_op("Mul_7", {"mul_7-aten.mul.OUTPUT.0"}, {"MatMul", "c"}),
                     make_op("Mul_70", {"mul_70.OUTPUT.0"}),
                     make_op("Split", {"split-s.OUTPUT.0", "split-s.OUTPUT.1"})};
  return graph;
}

CountsOf counts(const std::map<std::string, TensorCounts>& table) {
  return [table](std::string_view name) {
    const auto found = table.find(std::string(name));
    return found == table.end() ? TensorCounts{} : found->second;
  };
}

}  // namespace

TEST(FusedNames, AreSplitIntoTheLongestPieces) {
  const graph::Graph graph = example();
  const FusedNames names(graph, {});
  const auto split = names.split("MatMulMul_70");
  ASSERT_EQ(split.pieces.size(), 2U);
  EXPECT_EQ(split.pieces[1]->name, "Mul_70");
  EXPECT_TRUE(split.complete);
  EXPECT_EQ(names.split("MatMulX").pieces.size(), 1U);
  EXPECT_FALSE(names.split("MatMulX").complete);
  EXPECT_TRUE(names.split("trans_Cast_12").pieces.empty());
}

TEST(FusedNames, AnotherDumpedNameOnTheWayEndsTheSearch) {
  const graph::Graph graph = example();
  const FusedNames names(graph, {"MatMulM"});
  EXPECT_TRUE(names.split("MatMulMul_7").pieces.empty());
}

TEST(TorchairMatch, AFusionTakesInputsFromItsFirstAndOutputsFromItsLastPiece) {
  const graph::Graph graph = example();
  const FusedNames names(graph, {});
  const auto result = pair_with_fx(names, "MatMulMul_7", "MatMul", {3, 1},
                                   counts({{"mm-aten.mm", {2, 1}}, {"mul_7-aten.mul", {2, 1}}}));
  ASSERT_EQ(result.pairs.size(), 3U);
  EXPECT_EQ(result.pairs[1].golden.name, "mm-aten.mm");
  EXPECT_EQ(result.pairs[2].golden.name, "mul_7-aten.mul");
  EXPECT_EQ(result.pairs[2].target_kind, TensorKind::output);
}

// The reference compares once per output and keeps the last round.
TEST(TorchairMatch, TheLastOutputOfASingleOperatorCounts) {
  const graph::Graph graph = example();
  const FusedNames names(graph, {});
  const auto result = pair_with_fx(names, "Split", "Split", {1, 2}, counts({{"split-s", {1, 2}}}));
  ASSERT_EQ(result.pairs.size(), 6U);
  EXPECT_TRUE(result.pairs[2].superseded);
  EXPECT_FALSE(result.pairs[3].superseded);
}

TEST(TorchairMatch, InsertedCastsAreComparedWithTheirInputs) {
  const graph::Graph graph = example();
  const FusedNames names(graph, {});
  const auto result = pair_with_fx(names, "trans_Cast_1", "Cast", {1, 1}, counts({}));
  ASSERT_EQ(result.pairs.size(), 1U);
  EXPECT_EQ(result.pairs[0].golden.source, GoldenRef::Source::target);
  EXPECT_TRUE(pair_with_fx(names, "trans_Foo", "Foo", {1, 1}, counts({})).unexplained);
}

TEST(TorchairMatch, MissingNodesAreNamed) {
  const graph::Graph graph = example();
  const FusedNames names(graph, {});
  const auto result = pair_with_fx(names, "Mul_7", "Mul", {1, 1}, counts({}));
  EXPECT_EQ(result.missing, (std::vector<std::string>{"mul_7-aten.mul"}));
}

// Input 0 of Mul_7 comes from MatMul and is no input of the fusion.
TEST(TorchairMatch, EdgesInsideAFusionAreNoInputs) {
  const graph::Graph graph = example();
  const FusedNames names(graph, {});
  const auto result = pair_with_ge(names, "MatMulMul_7", true, {3, 1},
                                   counts({{"MatMul", {2, 1}}, {"Mul_7", {2, 1}}}));
  ASSERT_EQ(result.pairs.size(), 4U);
  EXPECT_EQ(result.pairs[2].golden.name, "Mul_7");
  EXPECT_EQ(result.pairs[2].golden.index, 1U);
  EXPECT_EQ(result.pairs[3].golden.name, "Mul_7");
}

TEST(TorchairMatch, OutputsComeFromTheLastPieceThatWasDumped) {
  const graph::Graph graph = example();
  const FusedNames names(graph, {});
  const auto result =
      pair_with_ge(names, "MatMulMul_7", true, {3, 1}, counts({{"MatMul", {2, 1}}}));
  ASSERT_EQ(result.pairs.size(), 4U);
  EXPECT_EQ(result.pairs[2].golden.source, GoldenRef::Source::missing);
  EXPECT_EQ(result.pairs[3].golden.name, "MatMul");
}

}  // namespace opdrift::match
