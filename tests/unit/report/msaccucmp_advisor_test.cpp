#include "opdrift/report/msaccucmp_advisor.hpp"

#include <gtest/gtest.h>

namespace opdrift::report {
namespace {

/// Index, NPUDump, OverFlow, CosineSimilarity.
AdvisorTable table_of(std::vector<std::vector<std::string>> rows) {
  return {{"Index", "NPUDump", "OverFlow", "CosineSimilarity"}, std::move(rows)};
}

TEST(Advisor, OverflowWinsOverEverything) {
  const AdvisorTable table =
      table_of({{"0", "data", "NO", "0.1"}, {"2", "relu", "YES", "NaN"}, {"3", "x", "YES", "1"}});
  const Advice advice = advise(table, std::vector<std::string>{"data"});
  EXPECT_EQ(advice.detection_type, "FP16 Overflow");
  EXPECT_EQ(advice.operator_index, "2");
}

TEST(Advisor, LowInputsComeInTheOrderOfTheNetworksInputs) {
  const AdvisorTable table =
      table_of({{"0", "in1", "NO", "0.5"}, {"1", "in2", "NO", "0.5"}, {"2", "y", "NO", "1.0"}});
  EXPECT_EQ(advise(table, std::vector<std::string>{"in2", "in1"}).operator_index, "1");
  EXPECT_EQ(advise(table, {}).detection_type, "Global Consistency");
}

TEST(Advisor, GlobalRuleLooksAtFirstAndLastRowWithANumber) {
  const AdvisorTable fine = table_of({{"0", "a", "NO", "0.99"}, {"1", "b", "NO", "NaN"}});
  EXPECT_EQ(advise(fine, {}).operator_index, "NA");
  const AdvisorTable bad = table_of({{"0", "a", "NO", "1"},
                                     {"4", "b", "NO", "0.5"},
                                     {"5", "c", "NO", "0.9"},
                                     {"6", "d", "", ""}});
  EXPECT_EQ(advise(bad, {}).operator_index, "4");
  EXPECT_NE(advise(bad, {}).expert_advice.find("unqualified"), std::string::npos);
  const AdvisorTable partly = table_of({{"4", "b", "NO", "0.5"}, {"5", "c", "NO", "1.0"}});
  EXPECT_EQ(advise(partly, {}).expert_advice.find("unqualified"), std::string::npos);
}

TEST(Advisor, NothingToJudgeGivesThreeTimesNA) {
  const Advice none = advise(table_of({{"0", "a", "NO", "nan"}}), {});
  EXPECT_EQ(none.lines(), (std::vector<std::string>{"Detection Type: NA", "Operator Index: NA",
                                                    "Expert Advice: NA"}));
  EXPECT_EQ(advise({{"Index"}, {{"0"}}}, {}).detection_type, "NA");
}

}  // namespace
}  // namespace opdrift::report
