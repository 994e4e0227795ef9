#include "opdrift/pipeline/stats/tensor_summary.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace opdrift::pipeline {
namespace {

/// Statistics of a float32 tensor of four elements.
TensorSummary of(double max, double min, double mean, double l2) {
  TensorSummary summary;
  summary.dtype = tensor::DType::f32;
  summary.shape = {4};
  summary.count = 4;
  summary.max = max;
  summary.min = min;
  summary.mean = mean;
  summary.l2 = l2;
  return summary;
}

SummaryComparison compared(const TensorSummary& golden, const TensorSummary& target,
                           const verdict::Gates& gates = {}) {
  const auto comparison = compare_summaries(golden, target, gates);
  EXPECT_TRUE(comparison) << comparison.error().to_string();
  return comparison.value_or(SummaryComparison{});
}

TEST(TensorSummary, EqualStatisticsPassButNeverClaimEqualBits) {
  const SummaryComparison comparison = compared(of(2, -1, 0.5, 3), of(2, -1, 0.5, 3));
  EXPECT_TRUE(comparison.passed);
  EXPECT_EQ(comparison.measurement.equal_bits, 0U);
  EXPECT_EQ(comparison.measurement.relative_l2(), 0.0);
  EXPECT_TRUE(std::isnan(comparison.measurement.one_minus_cosine()));
}

// By hand: norms 3 and 3.3 are 0.3 apart, a tenth of the golden's.
TEST(TensorSummary, ANormThatMovedIsALowerBoundOfTheError) {
  const SummaryComparison comparison = compared(of(2, -1, 0.5, 3), of(2, -1, 0.5, 3.3));
  EXPECT_FALSE(comparison.passed);
  EXPECT_NEAR(comparison.measurement.relative_l2(), 0.1, 1e-12);
  EXPECT_NE(comparison.reason.find("statistics only: relative L2 at least 0.1"), std::string::npos)
      << comparison.reason;
}

// By hand: sqrt(4) * |0.5 - 0.2| / 3 = 0.2.
TEST(TensorSummary, AMeanThatMovedIsOneToo) {
  EXPECT_NEAR(compared(of(2, -1, 0.5, 3), of(2, -1, 0.2, 3)).measurement.relative_l2(), 0.2, 1e-12);
}

// By hand: 0.25 of the largest magnitude 2.
TEST(TensorSummary, TheLargestDifferenceOfExtremesIsReported) {
  const SummaryComparison comparison = compared(of(2, -1, 0.5, 3), of(2.25, -1, 0.5, 3));
  EXPECT_FALSE(comparison.passed);
  EXPECT_DOUBLE_EQ(comparison.measurement.max_abs.value, 0.25);
  EXPECT_DOUBLE_EQ(comparison.measurement.max_relative, 0.125);
}

// By hand: 2 to 2.019 is 0.95 %, -1 to -1.011 is 1.1 %.
TEST(TensorSummary, ReducedDumpsAreAskedEachExtremeByTheirOwnLimit) {
  TensorSummary golden = of(2, -1, 0, 0);
  golden.mean = golden.l2 = std::nullopt;
  golden.extremes_limit = 0.01;
  TensorSummary target = golden;
  target.max = 2.019;
  EXPECT_TRUE(compared(golden, target).passed);
  target.min = -1.011;
  const SummaryComparison comparison = compared(golden, target);
  EXPECT_FALSE(comparison.passed);
  EXPECT_NE(comparison.reason.find("min moved by 0.011 > 0.01"), std::string::npos)
      << comparison.reason;
}

TEST(TensorSummary, ReducedDumpsFailWhenAnExtremeIsNoNumber) {
  TensorSummary golden = of(2, -1, 0, 0);
  golden.extremes_limit = 0.01;
  TensorSummary target = golden;
  target.min = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(compared(golden, target).passed);
  target = golden;
  golden.min = 0.0;
  target.min = 1e-9;
  EXPECT_FALSE(compared(golden, target).passed);
}

TEST(TensorSummary, DifferentCountsOfNaNFail) {
  TensorSummary golden = of(2, -1, 0.5, 3);
  TensorSummary target = golden;
  golden.classes = metrics::ClassCounts{};
  target.classes = metrics::ClassCounts{.nan = 2};
  const SummaryComparison comparison = compared(golden, target);
  EXPECT_FALSE(comparison.passed);
  EXPECT_EQ(comparison.measurement.class_mismatches, 2U);
}

TEST(TensorSummary, ANaNInOneStatisticFails) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(compared(of(2, -1, 0.5, 3), of(nan, nan, nan, nan)).passed);
  EXPECT_TRUE(compared(of(nan, nan, nan, nan), of(nan, nan, nan, nan)).passed);
}

TEST(TensorSummary, CheckSumsAloneDecide) {
  TensorSummary golden;
  golden.dtype = tensor::DType::f32;
  golden.checksum = "0a1b2c3d";
  TensorSummary target = golden;
  EXPECT_TRUE(compared(golden, target).passed);
  target.checksum = "00000000";
  EXPECT_FALSE(compared(golden, target).passed);
}

TEST(TensorSummary, IntegersMustHaveEqualCheckSums) {
  TensorSummary golden = of(2, -1, 0.5, 3);
  golden.dtype = tensor::DType::i32;
  golden.checksum = "0a1b2c3d";
  TensorSummary target = golden;
  target.checksum = "00000000";
  EXPECT_FALSE(compared(golden, target).passed);
}

TEST(TensorSummary, ElementCountsMustAgree) {
  TensorSummary target = of(2, -1, 0.5, 3);
  target.count = 5;
  EXPECT_EQ(compare_summaries(of(2, -1, 0.5, 3), target, {}).error().code, ErrorCode::mismatch);
}

TEST(TensorSummary, NothingInCommonIsNoPass) {
  TensorSummary golden = of(2, -1, 0.5, 3);
  TensorSummary target;
  target.count = 4;
  target.checksum = "00000000";
  EXPECT_EQ(compare_summaries(golden, target, {}).error().code, ErrorCode::unsupported);
}

// The angle is not in the statistics, so a limit on it cannot be met.
TEST(TensorSummary, AGateThatStatisticsCannotAnswerFails) {
  verdict::Gates gates;
  gates.min_cosine = 0.99;
  gates.default_relative_l2 = false;
  EXPECT_FALSE(compared(of(2, -1, 0.5, 3), of(2, -1, 0.5, 3), gates).passed);
}

}  // namespace
}  // namespace opdrift::pipeline
