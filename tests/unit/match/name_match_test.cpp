#include "opdrift/match/name_match.hpp"

#include <gtest/gtest.h>

#include <set>

namespace opdrift::match {
namespace {

NamedTensor output(const std::string& name, std::uint32_t index = 0,
                   const std::string& tensor = "") {
  return {name, tensor, "", true, index};
}

TEST(NameMatch, EqualTensorNamesBeatOperatorNames) {
  const NameMatch match =
      match_names({output("conv", 0, "x"), output("fused", 0, "y")}, {output("conv", 0, "y")});
  ASSERT_EQ(match.pairs.size(), 1U);
  EXPECT_EQ(match.pairs[0].golden, 1U);
  EXPECT_EQ(match.pairs[0].rule, NameRule::tensor_name);
  ASSERT_EQ(match.unpaired_golden.size(), 1U);
  EXPECT_EQ(match.unpaired_golden[0].reason, UnpairedReason::no_counterpart);
}

TEST(NameMatch, DeviceNamesPairWithFrameworkNames) {
  const NameMatch match = match_names({output("/Block.1/Conv:0")}, {output("block_1_conv_0")});
  ASSERT_EQ(match.pairs.size(), 1U);
  EXPECT_EQ(match.pairs[0].rule, NameRule::normalised_name);
}

TEST(NameMatch, IndexRoleAndStepMustAgree) {
  NamedTensor input = output("a");
  input.output = false;
  NamedTensor later = output("a");
  later.step = "1";
  const NameMatch match = match_names({output("a", 1), input, later}, {output("a", 0)});
  EXPECT_TRUE(match.pairs.empty());
  EXPECT_EQ(match.unpaired_golden.size(), 3U);
}

TEST(NameMatch, BaseNamesPairOnlyWhenUnique) {
  const NameMatch one = match_names({output("model/a/conv1")}, {output("net/conv1")});
  ASSERT_EQ(one.pairs.size(), 1U);
  EXPECT_EQ(one.pairs[0].rule, NameRule::base_name);
  const NameMatch two =
      match_names({output("model/a/conv1"), output("model/b/conv1")}, {output("net/conv1")});
  EXPECT_TRUE(two.pairs.empty());
  EXPECT_EQ(two.unpaired_target[0].reason, UnpairedReason::ambiguous);
}

TEST(NameMatch, RepeatedNamesPairInOrderAndTheRestIsADuplicate) {
  const NameMatch match =
      match_names({output("r"), output("r"), output("r")}, {output("r"), output("r")});
  ASSERT_EQ(match.pairs.size(), 2U);
  EXPECT_EQ(match.pairs[1].golden, 1U);
  ASSERT_EQ(match.unpaired_golden.size(), 1U);
  EXPECT_EQ(match.unpaired_golden[0].reason, UnpairedReason::duplicate);
}

// Whatever the names: every tensor of both sides is paired once or listed once.
TEST(NameMatch, NothingIsLostOrUsedTwice) {
  std::vector<NamedTensor> golden;
  std::vector<NamedTensor> target;
  unsigned state = 1;
  const auto next = [&](unsigned range) {
    state = state * 1664525U + 1013904223U;
    return (state >> 16) % range;
  };
  for (int i = 0; i < 400; ++i) {
    auto& side = next(2) == 0 ? golden : target;
    side.push_back(output("m" + std::to_string(next(4)) + "/n" + std::to_string(next(60)), next(2),
                          next(3) == 0 ? "t" + std::to_string(next(50)) : ""));
  }
  const NameMatch match = match_names(golden, target);
  std::set<std::size_t> golden_seen;
  std::set<std::size_t> target_seen;
  for (const NamePair& pair : match.pairs) {
    EXPECT_TRUE(golden_seen.insert(pair.golden).second);
    EXPECT_TRUE(target_seen.insert(pair.target).second);
  }
  for (const Unpaired& unpaired : match.unpaired_golden) {
    EXPECT_TRUE(golden_seen.insert(unpaired.position).second);
  }
  for (const Unpaired& unpaired : match.unpaired_target) {
    EXPECT_TRUE(target_seen.insert(unpaired.position).second);
  }
  EXPECT_EQ(golden_seen.size(), golden.size());
  EXPECT_EQ(target_seen.size(), target.size());
}

}  // namespace
}  // namespace opdrift::match
