#include <gmock/gmock.h>

#include <cmath>

#include "opdrift/verdict/golden_pair.hpp"
#include "opdrift/verdict/statistics_tier.hpp"

namespace opdrift::verdict::test {
namespace {

using metrics::Measurement;
using metrics::SideStats;
using tensor::DType;

// ||G|| = 100, ||t - G|| = error.
Measurement measured(double error, DType dtype = DType::f16, std::uint64_t count = 10000) {
  Measurement m;
  m.count = m.finite_pairs = count;
  m.target.dtype = dtype;
  m.golden.dtype = DType::f32;
  m.sum_golden2 = 1e4;
  m.sum_d2 = error * error;
  return m;
}

// A golden in f32 that was run twice says nothing of what f16 costs.
TEST(GoldenPair, AFairRunIsOfTheTargetsPrecision) {
  EXPECT_TRUE(same_precision(measured(1, DType::f16), measured(1, DType::f16)));
  EXPECT_TRUE(same_precision(measured(1, DType::f16), measured(1, DType::bf16)));
  EXPECT_FALSE(same_precision(measured(1, DType::f16), measured(1, DType::f32)));
  EXPECT_THAT(judge_golden_pair(measured(9), measured(1), FairRun::golden).sentence,
              ::testing::EndsWith("as the goldens are from each other"));
}

TEST(GoldenPair, LimitsAreTwoAndFour) {
  EXPECT_EQ(judge_golden_pair(measured(1.9), measured(1)).label, Label::healthy);
  EXPECT_EQ(judge_golden_pair(measured(2.1), measured(1)).label, Label::watch);
  EXPECT_EQ(judge_golden_pair(measured(4.1), measured(1)).label, Label::culprit);
  EXPECT_DOUBLE_EQ(judge_golden_pair(measured(4.1), measured(1)).q_cum, 4.1);
}

TEST(GoldenPair, CoarseOrSmallTensorsPassUpToThree) {
  const DType bf16 = DType::bf16;
  EXPECT_EQ(judge_golden_pair(measured(2.9, bf16), measured(1, bf16)).label, Label::healthy);
  EXPECT_EQ(judge_golden_pair(measured(2.9, DType::f16, 999), measured(1, DType::f16, 999)).label,
            Label::healthy);
}

// 0.42 * 2^-11 * 100 = 0.0205: a perfect baseline does not make plain rounding an error.
TEST(GoldenPair, TheBaselineCountsAsRoundedAtLeast) {
  EXPECT_EQ(judge_golden_pair(measured(0.04), measured(0)).label, Label::healthy);
  EXPECT_EQ(judge_golden_pair(measured(0.09), measured(0)).label, Label::culprit);
}

TEST(GoldenPair, NewClassesAreBlamed) {
  Measurement target = measured(0);
  target.class_mismatches = 3;
  Measurement baseline = measured(0);
  baseline.class_mismatches = 1;
  const Judgement judgement = judge_golden_pair(target, baseline);
  EXPECT_EQ(judgement.label, Label::culprit);
  EXPECT_EQ(judgement.new_classes, 2U);
}

SideStats stats(double norm, double max, DType dtype) {
  SideStats side;
  side.dtype = dtype;
  side.finite = 10000;
  side.min = -max;
  side.max = max;
  side.sum_squares = norm * norm;
  return side;
}

TEST(Statistics, NormsWithinThePrecisionAreHealthyButNeverExact) {
  const SideStats golden = stats(100, 3, DType::f32);
  const Judgement equal = judge_statistics(golden, stats(100, 3, DType::f16));
  EXPECT_EQ(equal.label, Label::healthy);
  EXPECT_EQ(equal.tier, Tier::statistics);
  EXPECT_EQ(judge_statistics(golden, stats(102, 3, DType::f16)).label, Label::culprit);
  EXPECT_EQ(judge_statistics(golden, stats(100, 4, DType::f16)).label, Label::culprit);
}

// 0.42 * 2^-11 * 100 = 0.0205; five times that is allowed to 25 operators.
TEST(Statistics, DepthWidensTheBudget) {
  const SideStats golden = stats(100, 3, DType::f32);
  const SideStats target = stats(100.1, 3, DType::f16);
  EXPECT_EQ(judge_statistics(golden, target, 1).label, Label::culprit);
  EXPECT_EQ(judge_statistics(golden, target, 25).label, Label::healthy);
}

TEST(Statistics, NanCountsDecide) {
  SideStats target = stats(100, 3, DType::f16);
  target.classes.nan = 1;
  EXPECT_EQ(judge_statistics(stats(100, 3, DType::f32), target).label, Label::culprit);
}

TEST(Statistics, NothingFiniteIsUnjudged) {
  EXPECT_EQ(judge_statistics(SideStats{}, SideStats{}).label, Label::unjudged);
}

}  // namespace
}  // namespace opdrift::verdict::test
