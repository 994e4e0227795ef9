#include "opdrift/verdict/trends.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace opdrift::verdict {
namespace {

/// An output with an error of `error` of the golden's norm.
TensorResult output_of(const std::string& name, double error, std::optional<Label> label) {
  TensorResult tensor;
  tensor.operator_name = "fused_" + name;
  tensor.golden_operator = name;
  tensor.role = "output";
  tensor.passed = !label || *label != Label::culprit;
  metrics::Measurement m;
  m.count = m.finite_pairs = 4;
  m.sum_golden2 = 1.0;
  m.sum_d2 = error * error;
  tensor.measurement = m;
  if (label) {
    tensor.judgement = Judgement{};
    tensor.judgement->label = *label;
    tensor.judgement->relative = error;
    tensor.judgement->q_cum = error / 1e-3;
  }
  return tensor;
}

RunResult run_of(std::vector<TensorResult> tensors) {
  RunResult result;
  result.tensors = std::move(tensors);
  return result;
}

TEST(Trends, AnOperatorBeginsInTheFirstRunThatFindsItWrong) {
  TrendBuilder builder;
  builder.add("s1",
              run_of({output_of("a", 1e-4, Label::healthy), output_of("b", 1e-4, Label::healthy)}));
  builder.add("s2",
              run_of({output_of("a", 1e-3, Label::watch), output_of("b", 1e-2, Label::victim)}));
  builder.add("s3",
              run_of({output_of("a", 1e-1, Label::culprit), output_of("b", 1e-4, Label::healthy)}));
  const Trends trends = builder.finish();
  ASSERT_EQ(trends.lines.size(), 2U);
  EXPECT_EQ(trends.runs, (std::vector<std::string>{"s1", "s2", "s3"}));
  EXPECT_EQ(trends.lines[0].operator_name, "a");
  EXPECT_EQ(trends.lines[0].begins, 2U);
  EXPECT_EQ(trends.lines[1].begins, 1U);
  EXPECT_EQ(trends.lines[1].wrong_runs, 1U);
  EXPECT_NEAR(trends.lines[0].growth, 1000.0, 1e-9);
  EXPECT_EQ(by_beginning(trends), (std::vector<std::size_t>{1, 0}));
}

TEST(Trends, StepsOfOneResultAreRunsOfTheirOwn) {
  RunResult result =
      run_of({output_of("a", 1e-4, Label::healthy), output_of("a", 0.5, Label::drift)});
  result.tensors[0].step = "0";
  result.tensors[1].step = "1";
  TrendBuilder builder;
  builder.add("r", result);
  const Trends trends = builder.finish();
  EXPECT_EQ(trends.runs, (std::vector<std::string>{"r:0", "r:1"}));
  ASSERT_EQ(trends.lines.size(), 1U);
  EXPECT_EQ(trends.lines[0].begins, 1U);
}

TEST(Trends, RunsThatLackAnOperatorHaveNoCell) {
  TrendBuilder builder;
  builder.add("1", run_of({output_of("a", 1e-4, Label::healthy)}));
  builder.add("2", run_of({output_of("b", 1e-4, Label::healthy)}));
  builder.add("3", run_of({}));
  const Trends trends = builder.finish();
  EXPECT_EQ(trends.runs.size(), 3U);
  for (const TrendLine& line : trends.lines) {
    EXPECT_EQ(line.cells.size(), 3U);
  }
  EXPECT_FALSE(trends.lines[0].cells[1]);
  EXPECT_TRUE(trends.lines[1].cells[1]);
  EXPECT_TRUE(std::isnan(trends.lines[0].growth));
  EXPECT_TRUE(by_beginning(trends).empty());
}

TEST(Trends, WithoutAJudgementTheLimitsCount) {
  TensorResult failed = output_of("a", 0.5, std::nullopt);
  failed.passed = false;
  TensorResult broken = output_of("b", 0.0, std::nullopt);
  broken.measurement.reset();
  broken.passed = false;
  TrendBuilder builder;
  builder.add("1", run_of({failed, broken}));
  const Trends trends = builder.finish();
  EXPECT_EQ(trends.lines[0].cells[0]->state, "fail");
  EXPECT_EQ(trends.lines[1].cells[0]->state, "broken");
  EXPECT_EQ(by_beginning(trends).size(), 2U);
}

TEST(Trends, NanOnOneSideIsAnInfiniteError) {
  TensorResult broken = output_of("a", 0.0, Label::victim);
  broken.measurement->class_mismatches = 4;
  TrendBuilder builder;
  builder.add("before", run_of({broken}));
  builder.add("after", run_of({output_of("a", 1e-3, Label::healthy)}));
  const Trends trends = builder.finish();
  EXPECT_TRUE(std::isinf(trends.lines[0].cells[0]->error));
  EXPECT_DOUBLE_EQ(trends.lines[0].cells[1]->error, 1e-3);
  EXPECT_EQ(trends.lines[0].growth, 0.0);
}

TEST(Trends, InputsAreNoLinesAndTheWorseOfTwoRowsCounts) {
  TensorResult input = output_of("a", 0.9, Label::culprit);
  input.role = "input";
  TrendBuilder builder;
  builder.add(
      "1", run_of({input, output_of("a", 0.1, Label::healthy), output_of("a", 0.2, Label::victim),
                   output_of("a", 0.3, Label::healthy)}));
  const Trends trends = builder.finish();
  ASSERT_EQ(trends.lines.size(), 1U);
  EXPECT_EQ(trends.lines[0].cells[0]->state, "victim");
}

}  // namespace
}  // namespace opdrift::verdict
