#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "unit/diagnose/flow_testing.hpp"

namespace opdrift::diagnose::flow {
namespace {

const std::string kHighPasses = "'base':{'verdict':'fail'},'high':{'verdict':'pass'}";

std::string with(const std::string& pair, const std::string& operators,
                 const std::string& more = "") {
  return "{'runs':{" + kHighPasses + "},'compare':{'" + pair + "':[" + operators + "]}" + more +
         "}";
}

TEST(PrecisionStep, UnderflowNeedsManyFlushedElements) {
  EXPECT_EQ(outcome(with("base.vs.high",
                         "{'op':'a','cos_in':[1],'cos_out':[0.5],"
                         "'ref_absmax':0.001,'flushed_share':0.4}")),
            "UNDERFLOW [a] -> mixed_1");
  EXPECT_EQ(outcome(with("base.vs.high",
                         "{'op':'a','cos_in':[1],'cos_out':[0.5],"
                         "'ref_absmax':0.001,'flushed_share':0.01}")),
            "PRECISION [a] -> mixed_1");
}

TEST(PrecisionStep, OnlyFiniteValuesOverflow) {
  EXPECT_EQ(outcome(with("base.vs.high",
                         "{'op':'a','cos_in':[1],'cos_out':[0.5],"
                         "'ref_absmax':Infinity}")),
            "PRECISION [a] -> mixed_1");
  EXPECT_EQ(outcome(with("base.vs.high",
                         "{'op':'a','cos_in':[1],'cos_out':[0.5],"
                         "'ref_absmax':65504}")),
            "PRECISION [a] -> mixed_1");
}

// Inf in the low precision run makes the cosine NaN; the range of the other run tells why.
TEST(PrecisionStep, ACosineThatIsNoNumberIsADifferenceWhenTheRangeWasLeft) {
  EXPECT_EQ(outcome(with("base.vs.high",
                         "{'op':'a','cos_in':[1],'cos_out':[NaN],"
                         "'ref_absmax':70000,'cand_absmax':Infinity}")),
            "OVERFLOW [a] -> mixed_1");
  EXPECT_EQ(outcome(with("base.vs.high",
                         "{'op':'a','cos_in':[1],'cos_out':[null]},"
                         "{'op':'b','cos_in':[1],'cos_out':[0.9]}")),
            "PRECISION [b] -> mixed_1");
}

TEST(PrecisionStep, TheLimitItselfIsGood) {
  EXPECT_EQ(outcome(with("base.vs.high",
                         "{'op':'a','cos_in':[1],'cos_out':[0.95]},"
                         "{'op':'b','cos_in':[1],'cos_out':[1,0.9499]}")),
            "PRECISION [b] -> mixed_1");
}

TEST(PrecisionStep, WithoutADifferenceTheModeItselfIsTheFix) {
  const Diagnosis found =
      diagnose(facts(with("base.vs.high", "{'op':'a','cos_in':[1],'cos_out':[0.96]}")), {});
  EXPECT_EQ(summary(found), "PRECISION []");
  EXPECT_EQ(found.confidence, Confidence::proved);
}

TEST(PrecisionStep, AnEmptyComparisonIsAsGoodAsNone) {
  EXPECT_EQ(outcome(with("base.vs.high", "")), "- [] -> dump base.vs.high");
}

TEST(PrecisionStep, RoundsGoOnFromTheLastMixedRun) {
  const std::string runs = "{'runs':{" + kHighPasses +
                           ",'mixed_1':{'verdict':'fail'},'mixed_10':{'verdict':'fail'}},"
                           "'keep':['a'],'compare':{";
  EXPECT_EQ(outcome(runs + "'mixed_10.vs.high':[{'op':'b','original':['b','c'],'cos_in':[1],"
                           "'cos_out':[0.5]}]}}"),
            "PRECISION [b] -> mixed_11");
  EXPECT_EQ(outcome(runs + "'mixed_1.vs.high':[{'op':'b','cos_in':[1],'cos_out':[0.5]}]}}"),
            "- [] -> dump mixed_10.vs.high");
}

TEST(PrecisionStep, TheNextCommandHasTheWholeKeepList) {
  const Diagnosis found =
      diagnose(facts("{'runs':{" + kHighPasses +
                     ",'mixed_1':{}},'keep':['a'],'options':{'model':'m.onnx',"
                     "'output':'m','precision_mode_v2':'fp16'},'compare':{'mixed_1.vs.high':"
                     "[{'op':'b','original':['b','c'],'cos_in':[1],'cos_out':[0.5]}]}}"),
               {});
  ASSERT_EQ(found.next.size(), 1U);
  EXPECT_EQ(found.next[0].command,
            "atc --model=m.onnx --keep_dtype=keep_dtype.cfg --precision_mode=force_fp16 "
            "--output=m_mixed_2");
  ASSERT_EQ(found.next[0].files.size(), 1U);
  EXPECT_EQ(found.next[0].files[0].content, "a\nb\nc\n");
}

TEST(PrecisionStep, APassingRoundProvesTheList) {
  const Diagnosis found = diagnose(
      facts("{'runs':{" + kHighPasses + ",'mixed_2':{'verdict':'pass'}},'keep':['a','c']}"), {});
  EXPECT_EQ(summary(found), "PRECISION [a c]");
  EXPECT_EQ(found.confidence, Confidence::proved);
}

TEST(PrecisionStep, AFailingRoundWithoutDifferencesIsOnlySuspected) {
  const Diagnosis found =
      diagnose(facts("{'runs':{" + kHighPasses +
                     ",'mixed_1':{'verdict':'fail'}},'keep':['a'],'compare':"
                     "{'mixed_1.vs.high':[{'op':'a','cos_in':[1],'cos_out':[1]}]}}"),
               {});
  EXPECT_EQ(summary(found), "PRECISION [a]");
  EXPECT_EQ(found.confidence, Confidence::suspected);
}

TEST(PrecisionStep, AKeptOperatorThatStillDiffersIsCustomised) {
  const Diagnosis found =
      diagnose(facts("{'runs':{" + kHighPasses +
                     ",'mixed_1':{'verdict':'fail'}},'keep':['a'],'compare':"
                     "{'mixed_1.vs.high':[{'op':'a','cos_in':[1,1],'cos_out':[0.5]}]}}"),
               {});
  EXPECT_EQ(summary(found), "PRECISION [a] -> mixed_2");
  ASSERT_EQ(found.next[0].files.size(), 2U);
  EXPECT_EQ(found.next[0].files[1].content, "a::InputDtype:float32,float32,OutputDtype:float32\n");
}

TEST(PrecisionStep, GreedyTakesAllWithAnErrorOfTheirOwn) {
  FlowOptions options;
  options.greedy = true;
  EXPECT_EQ(outcome(with("base.vs.high",
                         "{'op':'a','cos_in':[1],'cos_out':[0.5]},"
                         "{'op':'b','cos_in':[0.5],'cos_out':[0.5]},"
                         "{'op':'c','cos_in':[1],'cos_out':[0.6]}"),
                    options),
            "PRECISION [a c] -> mixed_1");
}

TEST(PrecisionStep, TheGoldenProvesPrecisionWithoutVerdicts) {
  const std::string good = "{'op':'a','cos_in':[1],'cos_out':[0.9999]}";
  const std::string bad = "{'op':'a','cos_in':[1],'cos_out':[0.5]}";
  EXPECT_EQ(outcome("{'compare':{'high.vs.golden':[" + good + "],'base.vs.golden':[" + bad +
                    "],'base.vs.high':[" + bad + "]}}"),
            "PRECISION [a] -> mixed_1");
  EXPECT_EQ(outcome("{'compare':{'high.vs.golden':[" + bad + "],'base.vs.golden':[" + bad + "]}}"),
            "OPERATOR [a] -> high");
}

TEST(PrecisionStep, AnUnjudgedHighPrecisionRunLeavesASuspicion) {
  const std::string runs = "{'runs':{'base':{'verdict':'fail'},'high':{}},'compare':{";
  const std::string overflow =
      "'base.vs.high':[{'op':'a','cos_in':[1],'cos_out':[0.7],'ref_absmax':109508}]";
  const Diagnosis found = diagnose(facts(runs + overflow + "}}"), {});
  EXPECT_EQ(summary(found), "OVERFLOW [a] -> high");
  EXPECT_EQ(found.confidence, Confidence::suspected);
  EXPECT_NE(found.next.at(0).why.find("--verdict high=pass"), std::string::npos);
  EXPECT_EQ(
      outcome(runs + overflow + ",'base.vs.golden':[{'op':'b','cos_in':[1],'cos_out':[0.5]}]}}"),
      "OPERATOR [b] -> high");
  EXPECT_EQ(outcome(runs + "'base.vs.high':[{'op':'a','cos_in':[1],'cos_out':[1]}]}}"),
            "- [] -> high");
}

TEST(PrecisionStep, InputsBeyondTheRangeAreOverflow) {
  EXPECT_EQ(outcome(with("base.vs.high",
                         "{'op':'a','type':'ReduceMean','cos_in':[0.99],'cos_out':[0.7],"
                         "'ref_absmax':900,'ref_in_absmax':80000}")),
            "OVERFLOW [a] -> mixed_1");
}

TEST(PrecisionStep, UntilThereAreDumpsTheGoldenSaysWhatItCan) {
  const Diagnosis found = diagnose(
      facts(with("base.vs.golden", "{'op':'a','cos_in':[1],'cos_out':[0.7],'ref_absmax':109508}")),
      {});
  EXPECT_EQ(summary(found), "- [] -> dump base.vs.high");
  EXPECT_NE(found.checks.back().result.find("a: cosine 0.7; values up to 109508"),
            std::string::npos);
}

TEST(PrecisionStep, ABaseRunInHighPrecisionNeedsNoOther) {
  EXPECT_EQ(outcome("{'runs':{'base':{'verdict':'fail'}},'options':{'precision_mode':"
                    "'force_fp32'}}"),
            "- [] -> nobuf");
  const Diagnosis found =
      diagnose(facts("{'runs':{'base':{'verdict':'fail'}},'options':{'precision_mode':"
                     "'allow_fp32_to_fp16','output':'m'}}"),
               {});
  EXPECT_EQ(found.next.at(0).command, "atc --precision_mode=force_fp32 --output=m_high");
}

TEST(PrecisionStep, MixedModesGetABlackList) {
  const Diagnosis found = diagnose(
      facts(with("base.vs.high", "{'op':'a','type':'SoftmaxV2','cos_in':[1],'cos_out':[0.5]}",
                 ",'options':{'precision_mode':'allow_mix_precision'}")),
      {});
  const bool listed = std::any_of(found.fixes.begin(), found.fixes.end(), [](const Fix& fix) {
    return fix.kind == "modify_mixlist" &&
           fix.file->content.find("\"SoftmaxV2\"") != std::string::npos;
  });
  EXPECT_TRUE(listed);
}

TEST(PrecisionStep, LimitsCanBeMoved) {
  FlowOptions options;
  ASSERT_TRUE(set_limit(options.limits, "difference", 0.4).has_value());
  EXPECT_EQ(outcome(with("base.vs.high", "{'op':'a','cos_in':[1],'cos_out':[0.5]}"), options),
            "PRECISION []");
  EXPECT_FALSE(set_limit(options.limits, "difference", 0.0).has_value());
  EXPECT_FALSE(set_limit(options.limits, "diference", 0.5).has_value());
}

}  // namespace
}  // namespace opdrift::diagnose::flow
