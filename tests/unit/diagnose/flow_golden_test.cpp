#include <gtest/gtest.h>

#include <string>

#include "unit/diagnose/flow_testing.hpp"

namespace opdrift::diagnose::flow {
namespace {

std::string golden(const std::string& operators, const std::string& more = "",
                   const std::string& base = "'verdict':'fail'") {
  return "{'runs':{'base':{" + base +
         "},'high':{'verdict':'fail'},'nobuf':{'verdict':'fail'},'noreuse':{'verdict':'fail'},"
         "'nofuse':{'verdict':'fail'}},'compare':{'base.vs.golden':[" +
         operators + "]}" + more + "}";
}

TEST(GoldenStep, NothingToCompareWithAsksForADump) {
  EXPECT_EQ(outcome("{'runs':{'base':{'verdict':'fail'},'high':{'verdict':'fail'},'nobuf':"
                    "{'verdict':'fail'},'noreuse':{'verdict':'fail'},'nofuse':{'verdict':"
                    "'fail'}}}"),
            "- [] -> dump base.vs.golden");
}

TEST(GoldenStep, BadOutputsWithNothingBadInsideAreUnlocated) {
  EXPECT_EQ(outcome(golden("{'op':'a','cos_in':[1],'cos_out':[1]},{'op':'n','cos_in':[],"
                           "'cos_out':[]},{'op':'m','cos_in':[1],'cos_out':[NaN]}",
                           "", "'output_cosine':0.3")),
            "UNLOCATED [n m]");
  EXPECT_EQ(outcome(golden("")), "UNLOCATED []");
  EXPECT_EQ(outcome(golden("{'op':'n','cos_in':[],'cos_out':[]}")), "UNLOCATED [n]");
}

TEST(GoldenStep, GoodOutputsOfAFailingRunAreClean) {
  EXPECT_EQ(outcome(golden("{'op':'a','cos_in':[1],'cos_out':[0.5]}", "",
                           "'verdict':'fail','output_cosine':0.9999")),
            "CLEAN []");
}

TEST(GoldenStep, AnErrorFromWhatCannotBeComparedIsUnlocated) {
  EXPECT_EQ(outcome(golden("{'op':'n','cos_in':[1],'cos_out':[]},"
                           "{'op':'b','cos_in':[0.8],'cos_out':[0.79]}")),
            "UNLOCATED [n]");
}

TEST(GoldenStep, TheWalkEndsAtAnOriginOfItsOwn) {
  EXPECT_EQ(outcome(golden("{'op':'n','cos_in':[1],'cos_out':[]},"
                           "{'op':'b','cos_in':[0.8],'cos_out':[0.79]},"
                           "{'op':'c','cos_in':[1],'cos_out':[0.9]}")),
            "OPERATOR [c]");
}

TEST(GoldenStep, UnknownInputsMakeAFirstBadOperatorSuspected) {
  const Diagnosis found = diagnose(facts(golden("{'op':'a','cos_in':[1],'cos_out':[1]},"
                                                "{'op':'b','cos_in':[null],'cos_out':[0.5]}")),
                                   {});
  EXPECT_EQ(summary(found), "OPERATOR [b]");
  EXPECT_EQ(found.confidence, Confidence::suspected);
}

TEST(GoldenStep, ADrifterAsksForABisection) {
  const std::string drift =
      "{'op':'a','cos_in':[1],'cos_out':[0.995]},"
      "{'op':'b','cos_in':[0.995],'cos_out':[0.988]}";
  EXPECT_EQ(outcome(golden(drift)), "ACCUMULATED [b] -> bisect");
  EXPECT_EQ(outcome(golden(drift, ",'bisect':{'interval':['a','b']}")),
            "ACCUMULATED [b] -> bisect");
}

TEST(GoldenStep, TheEndOfABisectionDecides) {
  const std::string drift =
      "{'op':'a','cos_in':[1],'cos_out':[0.995]},"
      "{'op':'b','cos_in':[0.995],'cos_out':[0.988]}";
  EXPECT_EQ(outcome(golden(drift, ",'bisect':{'interval':['b','b'],'single_op_ok':true}")),
            "SENSITIVE [b]");
  EXPECT_EQ(outcome(golden(drift, ",'bisect':{'interval':'a','single_op_ok':false}")),
            "OPERATOR [a]");
  EXPECT_EQ(outcome(golden(drift, ",'bisect':{'single_op_ok':true}")), "SENSITIVE [b]");
}

TEST(OperatorClasses, FollowTheTable) {
  const auto c = [](std::vector<double> in, std::vector<double> out) {
    OperatorFacts op;
    op.cos_in = std::move(in);
    op.cos_out = std::move(out);
    return to_string(classify(op, 0.99));
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(c({1}, {1}), "ok");
  EXPECT_EQ(c({1}, {0.99}), "ok");
  EXPECT_EQ(c({1, 0.999}, {1, 0.5}), "origin");
  EXPECT_EQ(c({0.995}, {0.985}), "origin");   // 0.015 = 3 * 0.005
  EXPECT_EQ(c({0.995}, {0.986}), "drifter");  // 0.014 < 0.015
  EXPECT_EQ(c({0.98}, {0.7}), "amplifier");   // 0.3 > 10 * 0.02
  EXPECT_EQ(c({0.98}, {0.9}), "carrier");
  EXPECT_EQ(c({0.98}, {0.999}), "healer");
  EXPECT_EQ(c({nan}, {0.5}), "unknown");
  EXPECT_EQ(c({1}, {nan}), "unknown");
  EXPECT_EQ(c({1}, {}), "unknown");
  EXPECT_EQ(c({}, {0.5}), "origin");
  EXPECT_EQ(c({1.0000001}, {1.0000001}), "ok");
}

}  // namespace
}  // namespace opdrift::diagnose::flow
