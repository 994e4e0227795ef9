#include "opdrift/verdict/steps.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace opdrift::verdict {
namespace {

using ::testing::HasSubstr;

/// Step `content` of a run: 20 tensors whose statistics belong to that step alone, off by `noise`,
/// and a weight that never changes.
StepSketch made_step(std::int64_t number, std::uint32_t content, double noise,
                     std::uint32_t seed = 1) {
  StepSketch step;
  step.number = number;
  std::mt19937 truth(content * 977 + 5);
  std::mt19937 random(seed * 31 + content);
  std::normal_distribution<double> normal;
  for (int k = 0; k < 20; ++k) {
    TensorSketch tensor;
    tensor.name = "op" + std::to_string(k) + ":output:0";
    tensor.count = 4096;
    tensor.norm = 64.0 * std::exp(0.05 * normal(truth)) * (1.0 + noise * normal(random));
    tensor.mean = 0.02 * normal(truth) * (1.0 + noise * normal(random));
    step.tensors.push_back(tensor);
  }
  TensorSketch weight;
  weight.name = "weight";
  weight.count = 100;
  weight.norm = 3.0;
  step.tensors.push_back(weight);
  return step;
}

std::vector<StepSketch> made_run(const std::vector<std::pair<std::int64_t, std::uint32_t>>& steps,
                                 double noise) {
  std::vector<StepSketch> run;
  for (const auto& [number, content] : steps) {
    run.push_back(made_step(number, content, noise));
  }
  return run;
}

const std::vector<std::pair<std::int64_t, std::uint32_t>> kGolden = {
    {0, 10}, {1, 11}, {2, 12}, {3, 13}, {4, 14}};

TEST(Steps, InStepNeedsNoWord) {
  const StepAlignment alignment = align_steps(made_run(kGolden, 0.0), made_run(kGolden, 1e-3));
  EXPECT_TRUE(alignment.findings.empty());
  EXPECT_FALSE(alignment.by_content);
  ASSERT_EQ(alignment.pairs.size(), 5U);
  EXPECT_LT(alignment.pairs[2].distance, 0.1);
}

// The target counts from 0 where its content begins one step later.
TEST(Steps, ContentOneStepAheadIsAShift) {
  const StepAlignment alignment = align_steps(
      made_run(kGolden, 0.0), made_run({{0, 11}, {1, 12}, {2, 13}, {3, 14}, {4, 15}}, 1e-3));
  EXPECT_TRUE(alignment.by_content);
  EXPECT_EQ(alignment.shift, 1);
  ASSERT_EQ(alignment.findings.size(), 1U);
  EXPECT_EQ(alignment.findings[0].kind, FindingKind::step_shift);
  EXPECT_THAT(alignment.findings[0].sentence, HasSubstr("target step k is golden step k + 1"));
}

TEST(Steps, OtherNumbersOfTheSameStepsAreAShift) {
  const StepAlignment alignment = align_steps(
      made_run(kGolden, 0.0), made_run({{1, 10}, {2, 11}, {3, 12}, {4, 13}, {5, 14}}, 1e-3));
  EXPECT_EQ(alignment.shift, -1);
  ASSERT_EQ(alignment.findings.size(), 1U);
  EXPECT_EQ(alignment.findings[0].kind, FindingKind::step_shift);
}

TEST(Steps, DroppedStepIsMissing) {
  const StepAlignment alignment =
      align_steps(made_run(kGolden, 0.0), made_run({{0, 10}, {1, 11}, {3, 13}, {4, 14}}, 1e-3));
  ASSERT_EQ(alignment.findings.size(), 1U);
  EXPECT_EQ(alignment.findings[0].kind, FindingKind::steps_missing);
  EXPECT_THAT(alignment.findings[0].sentence, HasSubstr("lacks golden steps 2"));
}

// A dropped step after which the target counts on: numbers 2 and 3 hold other steps.
TEST(Steps, DroppedAndRenumberedStepIsMissing) {
  const StepAlignment alignment =
      align_steps(made_run(kGolden, 0.0), made_run({{0, 10}, {1, 11}, {2, 13}, {3, 14}}, 1e-3));
  EXPECT_TRUE(alignment.by_content);
  ASSERT_FALSE(alignment.findings.empty());
  EXPECT_EQ(alignment.findings[0].kind, FindingKind::steps_missing);
  EXPECT_THAT(alignment.findings[0].sentence, HasSubstr("lacks golden steps 2"));
}

TEST(Steps, RepeatedStepIsExtra) {
  const StepAlignment alignment =
      align_steps(made_run(kGolden, 0.0),
                  made_run({{0, 10}, {1, 11}, {2, 99}, {3, 12}, {4, 13}, {5, 14}}, 1e-3));
  ASSERT_FALSE(alignment.findings.empty());
  EXPECT_THAT(alignment.findings[0].sentence, HasSubstr("steps of its own: 2"));
}

TEST(Steps, OtherOrderOfStepsIsOrderOnly) {
  const StepAlignment alignment = align_steps(
      made_run(kGolden, 0.0), made_run({{0, 14}, {1, 12}, {2, 10}, {3, 13}, {4, 11}}, 1e-3));
  ASSERT_EQ(alignment.findings.size(), 1U);
  EXPECT_EQ(alignment.findings[0].kind, FindingKind::order_only);
}

TEST(Steps, OtherOrderOfTensorsIsOrderOnly) {
  auto target = made_run(kGolden, 1e-3);
  std::swap(target[1].tensors[3], target[1].tensors[4]);
  const StepAlignment alignment = align_steps(made_run(kGolden, 0.0), target);
  ASSERT_EQ(alignment.findings.size(), 1U);
  EXPECT_EQ(alignment.findings[0].kind, FindingKind::order_only);
  EXPECT_THAT(alignment.findings[0].sentence, HasSubstr("in 1 steps"));
}

// A target that is wrong everywhere is not out of step: nothing fits better than the numbers.
TEST(Steps, WrongStepsKeepTheirNumbers) {
  const StepAlignment alignment = align_steps(
      made_run(kGolden, 0.0), made_run({{0, 50}, {1, 51}, {2, 52}, {3, 53}, {4, 54}}, 0.0));
  EXPECT_FALSE(alignment.by_content);
  EXPECT_TRUE(alignment.findings.empty());
}

TEST(Steps, EqualStepsCannotBeToldApart) {
  const std::vector<std::pair<std::int64_t, std::uint32_t>> same = {{0, 10}, {1, 10}, {2, 10}};
  const StepAlignment alignment = align_steps(made_run(same, 0.0), made_run(same, 0.0));
  EXPECT_FALSE(alignment.by_content);
  EXPECT_TRUE(alignment.findings.empty());
}

TEST(Steps, HashesCountWhereStatisticsAreUnknown) {
  std::vector<StepSketch> golden;
  std::vector<StepSketch> target;
  for (std::uint64_t k = 0; k < 4; ++k) {
    TensorSketch sketch;
    sketch.name = "x";
    sketch.count = 8;
    sketch.norm = static_cast<double>(k + 1);
    sketch.hash = 1000 + k;
    golden.push_back({static_cast<std::int64_t>(k), {sketch}});
    sketch.hash = 1001 + k;
    sketch.norm = static_cast<double>(k + 2);
    target.push_back({static_cast<std::int64_t>(k), {sketch}});
  }
  EXPECT_EQ(align_steps(golden, target).shift, 1);
}

TEST(Steps, EmptyAndSingleRuns) {
  EXPECT_TRUE(align_steps({}, {}).pairs.empty());
  const auto one = align_steps(made_run({{0, 10}}, 0.0), made_run({{7, 10}}, 0.0));
  ASSERT_EQ(one.pairs.size(), 1U);
  EXPECT_EQ(one.shift, -7);
  const auto none = align_steps(made_run(kGolden, 0.0), {});
  EXPECT_EQ(none.pairs.size(), 5U);
  ASSERT_EQ(none.findings.size(), 1U);
  EXPECT_EQ(none.findings[0].kind, FindingKind::steps_missing);
}

}  // namespace
}  // namespace opdrift::verdict
