#include "opdrift/match/golden.hpp"

#include <gtest/gtest.h>

#include "graph_builder.hpp"

namespace opdrift::match {
namespace {

TEST(Golden, OutputTakesItsDescriptionOrTheFirst) {
  GraphBuilder builder;
  builder.op("split", "Split", {"s", "t"}, {}).output("s", 3).output("t", 1);
  const Network network = builder.network();
  const GoldenRef second = golden_of_output(network, 0, 1);
  EXPECT_EQ(second.origin_name, "t");
  EXPECT_EQ(second.origin_index, 1u);
  EXPECT_EQ(second.rule, PairRule::output_origin);
  const GoldenRef third = golden_of_output(network, 0, 2);
  EXPECT_EQ(third.origin_name, "s");
  EXPECT_EQ(third.origin_index, 3u);
  EXPECT_EQ(third.rule, PairRule::output_first_description);
}

TEST(Golden, OperatorsWithoutDescriptionsKeepTheNumberAsked) {
  GraphBuilder builder;
  builder.op("topk", "TopK", {"topk"}, {});
  const GoldenRef ref = golden_of_output(builder.network(), 0, 4);
  EXPECT_EQ(ref.origin_index, 4u);
  EXPECT_EQ(ref.rule, PairRule::output_same_index);
}

TEST(Golden, InputIsTheProducersOutput) {
  GraphBuilder builder;
  builder.op("p", "Split", {"p"}, {}).output("p", 0).output("p", 1);
  builder.plain("c", {"p:1"});
  const GoldenRef ref = golden_of_input(builder.network(), 1, 0);
  EXPECT_EQ(ref.origin_name, "p");
  EXPECT_EQ(ref.origin_index, 1u);
  EXPECT_EQ(ref.rule, PairRule::input_producer);
}

TEST(Golden, CastAndTransDataAreLookedThrough) {
  GraphBuilder builder;
  builder.plain("data", {}, "Data");
  builder.op("trans", "TransData", {""}, {"data:0"}).output("");
  builder.op("cast", "Cast", {""}, {"trans:0"}).output("");
  builder.plain("conv", {"cast:0"});
  const Network network = builder.network();
  EXPECT_EQ(golden_of_input(network, 3, 0).origin_name, "data");
  EXPECT_EQ(golden_of_input(network, 3, 0).looked_through, 2u);
  EXPECT_EQ(golden_of_output(network, 2, 0).origin_name, "data");
  EXPECT_EQ(golden_of_output(network, 2, 1).problem, NoGolden::input_past_end);
}

TEST(Golden, RingsOfCastsEnd) {
  GraphBuilder builder;
  builder.op("c1", "Cast", {""}, {"c2:0"}).output("");
  builder.op("c2", "Cast", {""}, {"c1:0"}).output("");
  builder.op("self", "TransData", {""}, {"self:0"}).output("");
  const Network network = builder.network();
  EXPECT_EQ(golden_of_output(network, 0, 0).problem, NoGolden::input_ring);
  EXPECT_EQ(golden_of_input(network, 2, 0).problem, NoGolden::input_ring);
}

TEST(Golden, EveryMissingGoldenHasItsReason) {
  GraphBuilder builder;
  builder.op("new", "Pad", {""}, {"ghost:0", "new:0:1", "new:0"}).output("");
  const Network network = builder.network();
  EXPECT_EQ(golden_of_input(network, 0, 0).problem, NoGolden::unknown_producer);
  EXPECT_EQ(golden_of_input(network, 0, 0).detail, "ghost");
  EXPECT_EQ(golden_of_input(network, 0, 1).problem, NoGolden::bad_input_entry);
  EXPECT_EQ(golden_of_input(network, 0, 2).problem, NoGolden::no_origin);
  EXPECT_EQ(golden_of_input(network, 0, 3).problem, NoGolden::input_past_end);
  EXPECT_NE(golden_of_input(network, 0, 1).explain().find("new:0:1"), std::string::npos);
}

TEST(Golden, QuantisersAreKnownByTypeAndName) {
  Node node;
  node.type = "AscendDequant";
  EXPECT_TRUE(is_dequantiser(node));
  node.type = "Mul";
  node.name = "conv1_dequant_layer";
  EXPECT_TRUE(is_dequantiser(node));
  node.name = "conv1_dequant_layer_x";
  EXPECT_FALSE(is_dequantiser(node));
  node.type = "AscendQuant";
  EXPECT_TRUE(is_quantiser(node));
}

}  // namespace
}  // namespace opdrift::match
