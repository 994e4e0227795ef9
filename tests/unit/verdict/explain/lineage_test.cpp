#include "opdrift/verdict/lineage.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "unit/verdict/explain/made_data.hpp"

namespace opdrift::verdict {
namespace {

using metrics::SideStats;
using tensor::DType;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// input -> Mul (0) -> Add (1) -> LayerNormalization (2) -> Softmax (3) -> output; Add also reads
/// the parameter "mask".
class Lineage : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::vector<std::string> types = {"Mul", "Add", "LayerNormalization", "Softmax"};
    operators_.resize(types.size());
    for (std::size_t i = 0; i < types.size(); ++i) {
      operators_[i].type = types[i];
      operators_[i].name = "op" + std::to_string(i);
    }
    problem_.values = {
        {"input", ProblemValue::Role::network_input},   {"mul", ProblemValue::Role::computed},
        {"add", ProblemValue::Role::computed},          {"norm", ProblemValue::Role::computed},
        {"output", ProblemValue::Role::computed, true}, {"mask", ProblemValue::Role::parameter}};
    problem_.operators = {{&operators_[0], nullptr, {0, kAbsent}, {1}},
                          {&operators_[1], nullptr, {1, 5}, {2}},
                          {&operators_[2], nullptr, {2}, {3, kAbsent}},
                          {&operators_[3], nullptr, {3}, {4}}};
    for (ValueId value = 0; value < problem_.values.size(); ++value) {
      set(RunSide::golden, value, 100.0);
      set(RunSide::target, value, 100.0);
    }
  }

  void set(RunSide side, ValueId value, double amax, std::uint64_t inf = 0, std::uint64_t nan = 0) {
    SideStats stats;
    stats.dtype = side == RunSide::golden ? DType::f32 : DType::f16;
    stats.finite = 1000;
    stats.min = -amax;
    stats.max = amax / 2.0;
    stats.classes.positive_inf = inf;
    stats.classes.nan = nan;
    stats_[{side, value}] = stats;
  }

  StatsLookup lookup() const {
    return [this](RunSide side, ValueId value) -> const SideStats* {
      const auto at = stats_.find({side, value});
      return at == stats_.end() ? nullptr : &at->second;
    };
  }

  std::vector<graph::Operator> operators_;
  Problem problem_;
  std::map<std::pair<RunSide, ValueId>, SideStats> stats_;
};

// The Inf survives an Add and becomes NaN two operators later: blame goes to where it was made.
TEST_F(Lineage, InfIsTracedToItsMaker) {
  set(RunSide::golden, 1, 70000.0);
  set(RunSide::target, 1, 65000.0, 3);
  set(RunSide::target, 2, 65000.0, 3);
  set(RunSide::target, 3, 3.0, 0, 40);
  set(RunSide::target, 4, 1.0, 0, 40);
  const OverflowLineage lineage = trace_overflow(problem_, lookup(), RunSide::target);
  ASSERT_EQ(lineage.origins.size(), 1U);
  EXPECT_EQ(lineage.origins[0].op, 0U);
  EXPECT_EQ(lineage.origins[0].inf, 3U);
  EXPECT_TRUE(lineage.origins[0].inputs_known);
  EXPECT_THAT(lineage.spread, ElementsAre(1, 2, 3));
  EXPECT_THAT(lineage.path, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(lineage.turns_nan, 2U);
  EXPECT_THAT(lineage.sentence, HasSubstr("Mul \"op0\" makes 3 Inf from finite inputs"));
  EXPECT_THAT(lineage.sentence, HasSubstr("largest |value| there is 70000"));
  EXPECT_THAT(lineage.sentence, HasSubstr("becomes NaN in LayerNormalization"));
}

TEST_F(Lineage, NothingIsTracedWithoutOrigin) {
  EXPECT_TRUE(trace_overflow(problem_, lookup(), RunSide::target).origins.empty());
  set(RunSide::target, 0, 1.0, 1);
  set(RunSide::target, 1, 1.0, 1);
  const OverflowLineage lineage = trace_overflow(problem_, lookup(), RunSide::target);
  EXPECT_TRUE(lineage.origins.empty());
  EXPECT_EQ(lineage.sentence, "");
}

TEST_F(Lineage, UndumpedValuesPassItOn) {
  set(RunSide::target, 1, 65000.0, 3);
  stats_.erase({RunSide::target, 2});
  set(RunSide::target, 3, 3.0, 0, 40);
  const OverflowLineage lineage = trace_overflow(problem_, lookup(), RunSide::target);
  ASSERT_EQ(lineage.origins.size(), 1U);
  EXPECT_EQ(lineage.origins[0].op, 0U);
  EXPECT_TRUE(lineage.path.empty());
  EXPECT_THAT(lineage.sentence, HasSubstr("no network output is touched"));
}

TEST_F(Lineage, UnknownInputsAreSaid) {
  stats_.erase({RunSide::target, 0});
  set(RunSide::target, 1, 65000.0, 1);
  const OverflowLineage lineage = trace_overflow(problem_, lookup(), RunSide::target);
  ASSERT_EQ(lineage.origins.size(), 1U);
  EXPECT_FALSE(lineage.origins[0].inputs_known);
  EXPECT_THAT(lineage.origins[0].sentence, HasSubstr("some inputs were not dumped"));
}

TEST_F(Lineage, HeadroomListsTheTightestFirst) {
  set(RunSide::golden, 2, 66246.0);
  const auto rows = headroom(problem_, lookup(), RunSide::golden, DType::f16);
  ASSERT_EQ(rows.size(), 6U);
  EXPECT_EQ(rows[0].value, 2U);
  EXPECT_LT(rows[0].ratio, 1.0);
  EXPECT_THAT(rows[0].sentence, HasSubstr("66246 does not fit float16"));
  EXPECT_EQ(rows[1].sentence, "");
  stats_[{RunSide::target, 3}].classes.subnormal = 400;
  const auto stored = headroom(problem_, lookup(), RunSide::target);
  const auto at = std::find_if(stored.begin(), stored.end(),
                               [](const Headroom& row) { return row.value == 3; });
  ASSERT_NE(at, stored.end());
  EXPECT_DOUBLE_EQ(at->subnormal_share, 0.4);
  EXPECT_THAT(at->sentence, HasSubstr("40 % of the elements are subnormal"));
}

TEST_F(Lineage, MasksBeyondHalfPrecisionAreNamed) {
  set(RunSide::golden, 5, 1e9);
  const auto constants = large_constants(problem_, lookup(), DType::f16);
  ASSERT_EQ(constants.size(), 1U);
  EXPECT_EQ(constants[0].extreme, -1e9);
  EXPECT_TRUE(std::isinf(constants[0].becomes));
  EXPECT_THAT(constants[0].sentence, HasSubstr("constant mask, read by Add \"op1\""));
  EXPECT_THAT(constants[0].sentence, HasSubstr("becomes -Inf in float16"));
  EXPECT_TRUE(large_constants(problem_, lookup(), DType::bf16).empty());
}

// By hand: 1e5 overflows, 1e-6 is subnormal, 1e-9 below half the smallest subnormal (2^-25), 1 and
// 0 stay.
TEST(NarrowingEffect, CountsWhatFloat16Does) {
  const auto effect = narrowing_effect(
      testing::made_view({1e5, 1e-6, 1e-9, 1.0, 0.0}, {5}, DType::f32), DType::f16);
  ASSERT_TRUE(effect.has_value());
  EXPECT_EQ(effect->finite, 5U);
  EXPECT_EQ(effect->overflows, 1U);
  EXPECT_EQ(effect->subnormals, 2U);
  EXPECT_EQ(effect->flushed, 1U);
}

}  // namespace
}  // namespace opdrift::verdict
