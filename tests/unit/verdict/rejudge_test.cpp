#include "opdrift/verdict/rejudge.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace opdrift::verdict {
namespace {

Judgement judged(double q_own, double z, double own = 1.0, double depth = 0.1) {
  Judgement judgement;
  judgement.label = Label::healthy;
  judgement.tier = Tier::replay;
  judgement.q_own = judgement.q1 = q_own;
  judgement.z = judgement.z1 = z;
  judgement.own = own;
  judgement.depth = depth;
  judgement.q_cum = 1.0;
  return judgement;
}

TensorResult with_error(double error) {
  TensorResult tensor;
  metrics::Measurement m;
  m.count = m.finite_pairs = 4;
  m.golden.dtype = m.target.dtype = tensor::DType::f32;
  m.sum_golden2 = m.sum_target2 = 4.0;
  m.sum_product = 4.0 - 2.0 * error * error;
  m.sum_d2 = 4.0 * error * error;
  m.max_abs = {error, 0, 1.0, 1.0 + error};
  m.max_relative = error;
  tensor.measurement = m;
  return tensor;
}

TEST(Rule, ReadsTheBudgetAndGates) {
  EXPECT_TRUE(parse_rule("verdict")->replay_budget);
  EXPECT_DOUBLE_EQ(parse_rule("verdict=8")->limit, 8.0);
  EXPECT_DOUBLE_EQ(*parse_rule("cosine=0.99,maxrel=0.01")->gates.max_relative, 0.01);
  EXPECT_DOUBLE_EQ(*parse_rule("sqnr=20")->gates.min_sqnr, 20.0);
  for (const char* text : {"", "verdict=", "verdict=0", "verdict=-1", "verdict=nan", "verdicts"}) {
    EXPECT_FALSE(parse_rule(text)) << text;
  }
}

TEST(LabelAt, FollowsTheLimit) {
  EXPECT_EQ(label_at(judged(5.0, 0.5), 4.0), Label::culprit);
  EXPECT_EQ(label_at(judged(5.0, 0.5), 8.0), Label::watch);
  EXPECT_EQ(label_at(judged(0.5, 4.5), 4.0), Label::culprit);
  EXPECT_EQ(label_at(judged(2.5, 0.5), 4.0), Label::watch);
  EXPECT_EQ(label_at(judged(1.0, 1.0), 4.0), Label::healthy);
}

TEST(LabelAt, ErrorBelowWhatPrecisionCostsIsNotBlamed) {
  EXPECT_EQ(label_at(judged(9.0, 0.5, 0.01, 0.1), 4.0), Label::watch);
}

TEST(LabelAt, NoLimitExcusesANewNanOrAnotherShape) {
  Judgement overflow = judged(0.0, 0.0);
  overflow.label = Label::culprit;
  overflow.cause = Cause::overflow;
  EXPECT_EQ(label_at(overflow, 1e9), Label::culprit);
}

TEST(LabelAt, WhatWasNotJudgedStaysSo) {
  EXPECT_EQ(label_at(Judgement{}, 4.0), Label::unjudged);
}

TEST(Rejudge, OtherGatesChangeWhoPasses) {
  RunResult result;
  result.tensors = {with_error(0.001), with_error(0.05)};
  ASSERT_TRUE(rejudge(*parse_rule("rel_l2=0.01"), result));
  EXPECT_TRUE(result.tensors[0].passed);
  EXPECT_FALSE(result.tensors[1].passed);
  ASSERT_TRUE(rejudge(*parse_rule("rel_l2=0.1"), result));
  EXPECT_EQ(result.failed(), 0U);
}

TEST(Rejudge, TheRunFollowsItsTensors) {
  RunResult result;
  result.tensors = {with_error(0.001), with_error(0.05)};
  result.tensors[0].judgement = judged(1.0, 1.0);
  result.tensors[1].judgement = judged(6.0, 1.0);
  result.verdict = RunVerdict{};
  result.verdict->outcome = Outcome::pass;
  ASSERT_TRUE(rejudge(*parse_rule("verdict"), result));
  EXPECT_EQ(result.verdict->outcome, Outcome::fail);
  EXPECT_EQ(result.verdict->first_divergence, std::vector<std::size_t>{1});
  ASSERT_TRUE(rejudge(*parse_rule("verdict=10"), result));
  EXPECT_EQ(result.verdict->outcome, Outcome::pass);
  EXPECT_TRUE(result.verdict->first_divergence.empty());
}

TEST(LabelAt, ARatioThatIsNoNumberPassesNoLimit) {
  EXPECT_EQ(label_at(judged(1.0, std::nan("")), 4.0), Label::culprit);
  EXPECT_EQ(label_at(judged(std::nan(""), 1.0), 4.0), Label::culprit);
}

TEST(Rejudge, LabelsThatDoNotComeFromAReplayStay) {
  RunResult result;
  result.tensors = {with_error(0.5), with_error(0.5), {}};
  result.tensors[0].judgement = Judgement{};
  result.tensors[0].judgement->label = Label::culprit;
  result.tensors[0].judgement->tier = Tier::golden_pair;
  result.tensors[1].judgement = Judgement{};  // unjudged, and beyond the limits
  result.tensors[1].judgement->tier = Tier::gates;
  result.tensors[2].judgement = Judgement{};  // could not be compared
  result.verdict = RunVerdict{};
  ASSERT_TRUE(rejudge(*parse_rule("verdict=100"), result));
  EXPECT_EQ(result.failed(), 3U);
  EXPECT_EQ(result.verdict->outcome, Outcome::fail);
}

TEST(Rejudge, ALostOutputFailsUnderEveryLimit) {
  RunResult result;
  result.tensors = {with_error(0.001)};
  result.tensors[0].passed = true;
  result.tensors[0].judgement = judged(1.0, 1.0);
  result.verdict = RunVerdict{};
  result.verdict->missing_outputs = 1;
  ASSERT_TRUE(rejudge(*parse_rule("verdict=100"), result));
  EXPECT_EQ(result.verdict->outcome, Outcome::fail);
}

TEST(Rejudge, ABudgetThatWasNeverWorkedOutIsNotPretended) {
  RunResult result;
  result.tensors = {with_error(0.001)};
  EXPECT_FALSE(rejudge(*parse_rule("verdict"), result));
}

TEST(Settle, ARunWithAFailedTensorIsNoPass) {
  RunResult result;
  result.tensors = {with_error(0.5)};
  result.verdict = RunVerdict{};
  result.verdict->outcome = Outcome::pass;
  settle(result);
  EXPECT_EQ(result.verdict->outcome, Outcome::fail);
}

TEST(SmallestTolerances, LetExactlyTheWholeRunPass) {
  RunResult result;
  result.tensors = {with_error(0.001), with_error(0.05), {}};
  for (const Tolerance& tolerance : smallest_tolerances(result)) {
    EXPECT_EQ(tolerance.tensor, 1U) << tolerance.name;
    RunResult again = result;
    again.tensors.pop_back();
    ASSERT_TRUE(rejudge(*parse_rule(tolerance.text()), again));
    EXPECT_EQ(again.failed(), 0U) << tolerance.text();
  }
  EXPECT_EQ(smallest_tolerances(result).size(), 5U);
}

// Rounded to the nearest, 1.138389 would be written 1.13839 (passes) and 1.138391 the same (fails).
TEST(SmallestTolerances, AreNeverRoundedToWhatFails) {
  EXPECT_EQ((Tolerance{"max_abs", 1.138389, 0, false}).text(), "max_abs=1.13839");
  EXPECT_EQ((Tolerance{"max_abs", 1.138391, 0, false}).text(), "max_abs=1.138391");
  EXPECT_EQ((Tolerance{"cosine", 0.9992588, 0, true}).text(), "cosine=0.9992588");
  EXPECT_EQ((Tolerance{"cosine", 0.9992592, 0, true}).text(), "cosine=0.999259");
}

TEST(SmallestTolerances, TellAllCloseWhereProfilesWereKept) {
  RunResult result;
  result.tensors = {with_error(0.05)};
  result.tensors[0].profile = ErrorProfile{};
  result.tensors[0].profile->bins = {{0, 100, 0.25, 1.0, 0.25, 1.0, 1.0}};
  const Tolerance last = smallest_tolerances(result).back();
  EXPECT_EQ(last.name, "allclose");
  ASSERT_TRUE(rejudge(*parse_rule(last.text()), result)) << last.text();
  EXPECT_EQ(result.failed(), 0U);
}

// Tensors are not "beyond the limits" because nobody kept what would tell.
TEST(Rejudge, AllCloseIsRefusedWhereItCannotBeDecided) {
  RunResult result;
  result.tensors = {with_error(0.01)};
  EXPECT_FALSE(rejudge(*parse_rule("allclose=0.05:0"), result));
  EXPECT_TRUE(rejudge(*parse_rule("allclose=0:1"), result));
  EXPECT_TRUE(rejudge(*parse_rule("allclose=0:1e-9"), result));
}

TEST(SmallestTolerances, ThereIsNoneForDifferentClasses) {
  RunResult result;
  result.tensors = {with_error(0.0)};
  result.tensors[0].measurement->class_mismatches = 1;
  EXPECT_TRUE(smallest_tolerances(result).empty());
}

}  // namespace
}  // namespace opdrift::verdict
