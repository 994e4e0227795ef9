#include "opdrift/match/network.hpp"

#include <gtest/gtest.h>

#include "graph_builder.hpp"

namespace opdrift::match {
namespace {

TEST(Network, GroupsFollowOriginalNames) {
  GraphBuilder builder;
  builder.plain("data", {}, "Data");
  builder.op("fused", "Conv2D", {"conv", "bn", "relu"}, {"data:0"}).output("relu");
  builder.op("split", "A", {"big"}, {"fused:0"}).output("");
  builder.op("join", "B", {"big"}, {"split:0"}).output("big");
  builder.op("m1", "A", {"p", "q"}, {"join:0"}).output("p");
  builder.op("m2", "A", {"p", "q"}, {"m1:0"}).output("q");
  builder.op("pad", "Pad", {""}, {"m2:0"}).output("");
  const Network network = builder.network();
  ASSERT_EQ(network.groups.size(), 5u);
  EXPECT_EQ(network.groups[0].relation, Relation::one_to_one);
  EXPECT_EQ(network.groups[1].relation, Relation::many_to_one);
  EXPECT_EQ(network.groups[2].relation, Relation::one_to_many);
  EXPECT_EQ(network.groups[3].relation, Relation::many_to_many);
  EXPECT_EQ(network.groups[4].relation, Relation::one_to_one);
  EXPECT_EQ(shown_target(network, network.groups[2]), "split,join");
  EXPECT_EQ(shown_golden(network, network.groups[1]), "conv,bn,relu");
  EXPECT_EQ(shown_golden(network, network.groups[2]), "big");
  EXPECT_EQ(shown_golden(network, network.groups[4]), "*");
}

TEST(Network, L1GroupsComeBeforeOriginalNames) {
  GraphBuilder builder;
  builder.plain("a", {});
  builder.last().l1_fusion_group = "17";
  builder.plain("b", {"a:0"});
  builder.last().l1_fusion_group = "17";
  const Network network = builder.network();
  ASSERT_EQ(network.groups.size(), 1u);
  EXPECT_EQ(network.groups[0].relation, Relation::l1_fusion);
  EXPECT_EQ(shown_golden(network, network.groups[0]), "a,b");
}

TEST(Network, JoinedOriginalsOfEqualTextStayApart) {
  GraphBuilder builder;
  builder.op("x", "A", {"ab", "c"}, {}).output("c");
  builder.op("y", "A", {"a", "bc"}, {}).output("bc");
  EXPECT_EQ(builder.network().groups.size(), 2u);
}

TEST(Network, SecondOperatorOfAGroupWithTheSameNameIsDropped) {
  GraphBuilder builder;
  builder.plain("a", {}).plain("a", {});
  const Network network = builder.network();
  ASSERT_EQ(network.groups.size(), 1u);
  EXPECT_EQ(network.groups[0].members, (std::vector<std::size_t>{0}));
  EXPECT_EQ(network.nodes[1].left_out, LeftOut::duplicate);
  EXPECT_EQ(network.find("a"), 0u);
}

TEST(Network, SlicesAreOneOperatorUnlessKept) {
  GraphBuilder builder;
  builder.op("conv_lxslice0", "Conv2D", {"conv"}, {}).output("conv");
  builder.op("conv_lxslice1", "Conv2D", {"conv"}, {}).output("conv");
  const Network merged = builder.network();
  EXPECT_EQ(merged.groups[0].members.size(), 1u);
  EXPECT_EQ(merged.nodes[0].name, "conv");
  EXPECT_EQ(merged.find("conv_lxslice1"), 0u);
  const Network kept = builder.network({.keep_slice_names = true});
  EXPECT_EQ(shown_target(kept, kept.groups[0]), "conv_lxslice0,conv_lxslice1");
  EXPECT_EQ(without_slices("a_lxslice12_b_lxslice"), "a_b_lxslice");
}

TEST(Network, OutputsWithoutOriginTakeTheLoneOriginalOrTheOwnName) {
  GraphBuilder builder;
  builder.op("renamed", "Soft", {"softmax"}, {}).output("", 1);
  builder.op("bare", "Add", {}, {});
  builder.op("described", "Add", {}, {}).output("");
  builder.op("fused", "A", {"p", "q"}, {}).output("");
  const Network network = builder.network();
  EXPECT_EQ(network.nodes[0].outputs[0].origin_name, "softmax");
  EXPECT_EQ(network.nodes[0].outputs[0].origin_index, 1);
  ASSERT_EQ(network.nodes[1].outputs.size(), 1u);
  EXPECT_EQ(network.nodes[1].outputs[0].origin_name, "bare");
  EXPECT_FALSE(network.nodes[1].outputs[0].origin_index.has_value());
  EXPECT_EQ(network.nodes[2].outputs[0].origin_name, "described");
  EXPECT_EQ(network.nodes[3].outputs[0].origin_name, "");
}

TEST(Network, RunOrderFollowsIdsAndIndexFollowsTheFile) {
  GraphBuilder builder;
  builder.plain("late", {}).plain("early", {});
  graph::Graph graph = builder.graph();
  graph.operators[0].id = 9;
  const Network network{graph};
  EXPECT_EQ(network.run_order, (std::vector<std::size_t>{1, 0}));
  EXPECT_EQ(network.nodes[0].group, 0u);
  EXPECT_EQ(network.last_id(), 9);
}

TEST(DumpKey, ReplacesSlashesAndDotsOnly) {
  EXPECT_EQ(dump_key("a/b.c:d"), "a_b_c:d");
}

}  // namespace
}  // namespace opdrift::match
