#include "opdrift/match/merge.hpp"

#include <gtest/gtest.h>

#include "graph_builder.hpp"

#include "opdrift/match/golden.hpp"
#include "opdrift/match/quant_filter.hpp"

namespace opdrift::match {
namespace {

GraphBuilder quantised_model() {
  GraphBuilder builder;
  builder.plain("data", {}, "Data");
  builder.op("conv1_quant_layer", "AscendQuant", {"data"}, {"data:0"}).output("data", 0, "DT_INT8");
  builder.op("conv1", "Conv2D", {"conv1"}, {"conv1_quant_layer:0"}).output("conv1", 0, "DT_INT32");
  builder.op("conv1_dequant_layer", "AscendDequant", {"conv1"}, {"conv1:0"}).output("conv1");
  builder.op("pool", "Pool", {"pool", "drop"}, {"conv1_dequant_layer:0"}).output("pool", 1);
  return builder;
}

TEST(QuantFilter, LeavesOutWhatLiesBetweenQuantAndDequant) {
  Network network = quantised_model().network();
  EXPECT_EQ(leave_out_quantised(network), 1u);
  EXPECT_EQ(network.nodes[2].left_out, LeftOut::quant_pair);
  EXPECT_EQ(network.nodes[3].left_out, LeftOut::no);
  EXPECT_TRUE(network.find("conv1").has_value());
}

TEST(QuantFilter, OperatorsOfOtherTypesBehindAQuantiserAreMiddleToo) {
  GraphBuilder builder;
  builder.op("x_quant_layer", "AscendQuant", {"x_quant_layer"}, {})
      .output("x_quant_layer", 0, "DT_INT8");
  builder.plain("middle", {"x_quant_layer:0"});
  builder.plain("still", {"middle:0"});
  builder.plain("other", {"x_quant_layer:1"});
  Network network = builder.network();
  EXPECT_EQ(leave_out_quantised(network), 2u);
  EXPECT_EQ(network.nodes[3].left_out, LeftOut::no);
}

TEST(QuantisedName, WholeSuffixOrAnywhere) {
  EXPECT_TRUE(is_quantised_name("x_quantize_note", false));
  EXPECT_FALSE(is_quantised_name("x_quantize_note", true));
  EXPECT_TRUE(is_quantised_name("conv1_quant_layer", true));
  EXPECT_TRUE(is_quantised_name("scope_AscendQuant_12", true));
  EXPECT_FALSE(is_quantised_name("12", true));
}

TEST(MergeQuantised, OriginalsBecomeThoseOfTheWholeGroup) {
  GraphBuilder builder;
  builder.plain("conv1_dequant_layer", {});
  builder.op("pool", "Pool", {"pool", "nobody"}, {}).output("pool", 0);
  builder.op("own", "Add", {"elsewhere"}, {}).output("elsewhere", 2);
  const Network merged = merge_quantised(builder.network(), quantised_model().network());
  EXPECT_EQ(merged.nodes[0].originals, (std::vector<std::string>{"conv1"}));
  EXPECT_EQ(merged.nodes[0].outputs[0].origin_name, "conv1");
  EXPECT_EQ(merged.nodes[1].originals, (std::vector<std::string>{"pool", "drop"}));
  EXPECT_EQ(merged.nodes[1].outputs[0].origin_index, 1);
  EXPECT_EQ(merged.nodes[2].originals, (std::vector<std::string>{"elsewhere"}));
  EXPECT_EQ(merged.nodes[2].outputs[0].origin_index, 2);
}

TEST(MergeQuantised, IndexPastTheEndGivesAnEmptyDescription) {
  GraphBuilder builder;
  builder.op("pool", "Pool", {"pool"}, {}).output("pool", 5);
  const Network merged = merge_quantised(builder.network(), quantised_model().network());
  EXPECT_EQ(merged.nodes[0].outputs[0].origin_name, "");
  EXPECT_EQ(golden_of_output(merged, 0, 0).problem, NoGolden::no_origin);
}

struct FusedPair {
  Network target;
  Network unfused;
};

FusedPair fused_pair() {
  GraphBuilder target;
  target.plain("data", {}, "Data");
  target.op("p1", "Pad", {""}, {"data:0"}).output("");
  target.op("conv", "Conv2D", {"conv1", "relu1"}, {"p1:0"}).output("relu1");
  target.op("p2", "Pad", {""}, {"conv:0"}).output("");
  target.op("m_1", "Mul", {"m"}, {"p2:0"}).output("m");
  target.op("m_2", "Mul", {"m"}, {"m_1:0"}).output("m", 1);
  GraphBuilder unfused;
  unfused.plain("data", {}, "Data");
  unfused.op("conv1_off", "Conv2D", {"conv1"}, {}).output("conv1");
  unfused.op("relu1_off", "Relu", {"relu1"}, {}).output("relu1");
  unfused.op("m_off", "Mul", {"m"}, {}).output("m", 1).output("m", 0);
  return {target.network(), unfused.network()};
}

TEST(MergeCloseFusion, OriginalsAndOutputsBecomeOperatorsOfTheOtherBuild) {
  const FusedPair pair = fused_pair();
  const Network merged = merge_close_fusion(pair.target, pair.unfused, false).network;
  EXPECT_EQ(merged.nodes[2].originals, (std::vector<std::string>{"conv1_off", "relu1_off"}));
  EXPECT_EQ(merged.nodes[2].outputs[0].origin_name, "relu1_off");
  EXPECT_EQ(merged.nodes[4].outputs[0].origin_name, "m_off");
  EXPECT_EQ(merged.nodes[4].outputs[0].origin_index, 1);  // output 0 of m is output 1 there
  EXPECT_EQ(merged.nodes[5].outputs[0].origin_index, 0);
  for (const Node& node : merged.nodes) {
    EXPECT_EQ(node.left_out, LeftOut::no) << node.name;
  }
}

TEST(MergeCloseFusion, KeepFirstOnlyLosesDeviceOnlyOperatorsAndLaterMembers) {
  const FusedPair pair = fused_pair();
  const Network merged = merge_close_fusion(pair.target, pair.unfused, true).network;
  EXPECT_EQ(merged.nodes[1].left_out, LeftOut::merged);
  EXPECT_EQ(merged.nodes[3].left_out, LeftOut::no);
  EXPECT_EQ(merged.nodes[5].left_out, LeftOut::merged);
  EXPECT_EQ(golden_of_input(merged, 2, 0).problem, NoGolden::unknown_producer);
  EXPECT_EQ(shown_target(merged, merged.groups[4]), "m_1");
  EXPECT_EQ(merged.groups[4].relation, Relation::one_to_one);
}

}  // namespace
}  // namespace opdrift::match
