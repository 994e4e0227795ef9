#include "opdrift/match/plan.hpp"

#include <gtest/gtest.h>

#include <map>

#include "graph_builder.hpp"

namespace opdrift::match {
namespace {

/// Presence by node; nodes not listed have no dump.
std::function<DumpPresence(std::size_t)> dumps(std::map<std::size_t, std::uint64_t> times) {
  return [times = std::move(times)](std::size_t node) {
    const auto found = times.find(node);
    return found == times.end() ? DumpPresence{} : DumpPresence{true, found->second};
  };
}

std::vector<std::size_t> compared(const std::vector<PlannedNode>& plan) {
  std::vector<std::size_t> nodes;
  for (const PlannedNode& planned : plan) {
    if (planned.step == Step::compare) {
      nodes.push_back(planned.node);
    }
  }
  return nodes;
}

GraphBuilder l1_of_three() {
  GraphBuilder builder;
  for (const char* name : {"a", "b", "c"}) {
    builder.plain(name, {});
    builder.last().l1_fusion_group = "5";
  }
  return builder;
}

TEST(PlanGroup, LoneOperatorsAreComparedEvenWithoutDump) {
  GraphBuilder builder;
  builder.plain("a", {});
  const Network network = builder.network();
  EXPECT_EQ(compared(plan_group(network, network.groups[0], dumps({}))),
            (std::vector<std::size_t>{0}));
}

TEST(PlanGroup, FusionsSkipMissingDumpsAndInnerNodes) {
  GraphBuilder builder;
  builder.op("n1", "F", {"r"}, {}).output("r");
  builder.op("n2", "F", {"r"}, {}).output("");
  builder.last().multi_op = true;
  const Network network = builder.network();
  const auto plan = plan_group(network, network.groups[0], dumps({{1, 7}}));
  EXPECT_TRUE(compared(plan).empty());
  ASSERT_EQ(plan.size(), 2u);
  EXPECT_EQ(plan[0].step, Step::no_dump);
  EXPECT_EQ(plan[1].step, Step::inner_node);
  EXPECT_NE(explain(network, plan[0]).find("n1"), std::string::npos);
}

TEST(PlanGroup, L1FusionComparesOldestWithOtherOriginalsThenYoungest) {
  const Network network = l1_of_three().network();
  const Group& group = network.groups[0];
  EXPECT_EQ(compared(plan_group(network, group, dumps({{0, 30}, {1, 10}, {2, 20}}))),
            (std::vector<std::size_t>{1, 0}));
  EXPECT_EQ(compared(plan_group(network, group, dumps({{2, 20}}))), (std::vector<std::size_t>{2}));
  EXPECT_TRUE(compared(plan_group(network, group, dumps({}))).empty());
}

TEST(PlanGroup, L1FusionOfOneOriginalComparesTheYoungestOnly) {
  GraphBuilder builder;
  for (const char* name : {"a", "b"}) {
    builder.op(name, "F", {"same"}, {}).output("same");
    builder.last().l1_fusion_group = "5";
  }
  const Network network = builder.network();
  EXPECT_EQ(compared(plan_group(network, network.groups[0], dumps({{0, 1}, {1, 2}}))),
            (std::vector<std::size_t>{1}));
}

TEST(PlanTensors, InputsComeFirstAndQuantisersLackOneHalf) {
  GraphBuilder builder;
  builder.op("q", "AscendQuant", {"q"}, {"q:0"}).output("q");
  builder.op("d", "AscendDequant", {"d"}, {"q:0"}).output("d");
  builder.plain("c", {"d:0"});
  const Network network = builder.network();
  EXPECT_EQ(plan_tensors(network, 0, 1, 1).size(), 1u);
  EXPECT_FALSE(plan_tensors(network, 0, 1, 1)[0].output);
  EXPECT_TRUE(plan_tensors(network, 1, 1, 1)[0].output);
  const auto tensors = plan_tensors(network, 2, 1, 2);
  ASSERT_EQ(tensors.size(), 3u);
  EXPECT_FALSE(tensors[0].output);
  EXPECT_EQ(tensors[2].index, 1u);
}

}  // namespace
}  // namespace opdrift::match
