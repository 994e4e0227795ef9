#include "opdrift/verdict/api_rules.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "opdrift/verdict/api_statistics.hpp"

namespace opdrift::verdict {

namespace {

using graph::ApiLeaf;
using graph::ApiValue;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

ApiValue value(std::string_view text, ApiValue::Kind kind = ApiValue::Kind::real) {
  return ApiValue::of(text, kind);
}

ApiLeaf leaf(std::string_view name, std::string_view max = "1.0") {
  ApiLeaf one;
  one.name = name;
  one.shape = "[2]";
  one.statistics.fill(value("1.0"));
  one.statistics[0] = value(max);
  return one;
}

RuleRow row(const ApiLeaf& target, const ApiLeaf& golden, double norm = 0.0) {
  RuleRow one;
  one.target = &target;
  one.golden = &golden;
  one.target_dtype = one.golden_dtype = "torch.float32";
  one.output = target.name.find(".output.") != std::string_view::npos;
  one.norm_relative = norm;
  one.cosine = one.within_1e3 = kNan;
  return one;
}

std::string diff(const ApiValue& x, const ApiValue& y) {
  const StatisticDifference difference = compare_statistic(x, y);
  std::string relative;
  append_relative(difference, relative);
  return difference.kind == StatisticDifference::Kind::word
             ? std::string(difference.word)
             : std::to_string(difference.difference) + " " + relative;
}

}  // namespace

// Every kind of cell of the table in the header.
TEST(ApiStatistics, TableOfDifferences) {
  const auto text = ApiValue::Kind::text;
  const auto none = ApiValue::Kind::none;
  EXPECT_EQ(diff(value("2.0"), value("1.0")), "1.000000 100.0%");
  EXPECT_EQ(diff(value("1.0"), value("0.0")), "1.000000 inf");
  EXPECT_EQ(diff(value("1", ApiValue::Kind::integer), value("1.0")), "0.000000 0.0%");
  EXPECT_EQ(diff(value("-0.0"), value("0.0")), "-0.000000 inf");
  EXPECT_EQ(diff(value("1.0"), value("nan")), "Nan");
  EXPECT_EQ(diff(value("1.0"), value("inf")), "-inf");
  EXPECT_EQ(diff(value("1.0"), value("-inf")), "inf");
  EXPECT_EQ(diff(value("inf"), value("-inf")), "inf");
  EXPECT_EQ(diff(value("-inf"), value("1.0")), "-inf");
  EXPECT_EQ(diff(value("inf"), value("nan")), "Nan");
  EXPECT_EQ(diff(value("npu:0", text), value("cuda:0", text)), "N/A");
  EXPECT_EQ(diff(value("npu:0", text), value("1.0")), "Diff");
  EXPECT_EQ(diff(value("None", none), value("1.0")), "Diff");
  EXPECT_EQ(diff(value("True", text), value("False", text)), "Diff");
  EXPECT_EQ(diff(value("N/A", text), value("1.0")), "N/A");
  EXPECT_EQ(diff(value("nan"), value("nan")), "0.000000 0");
}

// zlib.crc32 of b"None", b"2" and b"".
TEST(ApiStatistics, ChecksumsOfScalarsAreThoseOfTheirText) {
  ApiLeaf one;
  one.has_value = true;
  one.value = "None";
  EXPECT_EQ(checksum_text(one), "dfa2aff1");
  one.value = "2";
  EXPECT_EQ(checksum_text(one), "1ad5be0d");
  one.has_value = false;
  EXPECT_EQ(checksum_text(one), "00000000");
  one.checksum = "12345";
  EXPECT_EQ(checksum_text(one), "12345");
  one.missing_argument = true;
  EXPECT_EQ(checksum_text(one), "N/A");
}

TEST(ApiRules, NotFiniteTargetsAreErrors) {
  const ApiLeaf bad = leaf("T.a.0.forward.input.0", "nan");
  const ApiLeaf good = leaf("T.a.0.forward.input.0");
  std::vector<RuleRow> rows = {row(bad, good), row(bad, bad), row(good, bad)};
  apply_rules(rows, {});
  EXPECT_EQ(rows[0].level, RowLevel::error);
  EXPECT_EQ(rows[1].level, RowLevel::pass);
  EXPECT_EQ(rows[2].level, RowLevel::pass);
}

// Inputs agree within 10 %; outputs beyond 50 % are errors, the first also shows growth.
TEST(ApiRules, NormsThatGrowAreTold) {
  const ApiLeaf in = leaf("T.a.0.forward.input.0");
  const ApiLeaf out = leaf("T.a.0.forward.output.0");
  const double inf = std::numeric_limits<double>::infinity();
  std::vector<RuleRow> rows = {row(in, in, 0.01), row(out, out, 0.2), row(out, out, inf)};
  apply_rules(rows, {});
  EXPECT_EQ(rows[0].level, RowLevel::pass);
  EXPECT_EQ(rows[1].level, RowLevel::warning);
  EXPECT_EQ(rows[2].level, RowLevel::error);
}

TEST(ApiRules, LimitsOfDocumentsAndCodeDiffer) {
  const ApiLeaf in = leaf("T.a.0.forward.input.0");
  const ApiLeaf out = leaf("T.a.0.forward.output.0");
  std::vector<RuleRow> rows = {row(in, in), row(out, out)};
  rows[0].within_1e3 = 1.0;
  rows[1].within_1e3 = 0.3;
  rows[0].cosine = rows[1].cosine = 1.0;
  std::vector<RuleRow> reference = rows;
  apply_rules(rows, {RowMode::real_data, false});
  apply_rules(reference, {RowMode::real_data, true});
  EXPECT_EQ(rows[1].level, RowLevel::error);
  EXPECT_EQ(reference[1].level, RowLevel::pass);
}

TEST(ApiRules, AllocationsAndPlaceholdersAreSpared) {
  const ApiLeaf empty = leaf("Torch.empty.0.forward.output.0", "nan");
  const ApiLeaf golden = leaf("Torch.empty.0.forward.output.0");
  std::vector<RuleRow> rows = {row(empty, golden)};
  apply_rules(rows, {});
  EXPECT_EQ(rows[0].level, RowLevel::pass);
  const ApiLeaf in = leaf("Distributed._all_gather_base.0.forward.input.0", "nan");
  const ApiLeaf out = leaf("Distributed._all_gather_base.0.forward.output.0", "nan");
  std::vector<RuleRow> both = {row(in, golden), row(out, golden)};
  apply_rules(both, {});
  EXPECT_EQ(both[0].level, RowLevel::pass);
  EXPECT_EQ(both[1].level, RowLevel::error);
}

TEST(ApiRules, ChecksumsWithoutAPartnerAreWarnings) {
  const ApiLeaf one = leaf("T.a.0.forward.input.0");
  std::vector<RuleRow> rows = {row(one, one), row(one, one), row(one, one)};
  rows[0].target_checksum = rows[0].golden_checksum = "a";
  rows[1].target_checksum = "a";
  rows[1].golden_checksum = "N/A";
  rows[2].target_checksum = "a";
  rows[2].golden_checksum = "b";
  apply_rules(rows, {RowMode::checksum, false});
  EXPECT_EQ(rows[0].level, RowLevel::pass);
  EXPECT_EQ(rows[1].level, RowLevel::warning);
  EXPECT_EQ(rows[2].level, RowLevel::error);
}

TEST(ApiRules, MessagesAreAJsonList) {
  RuleRow one;
  one.raise(RowLevel::warning, RowMessage::norm_growth);
  one.raise(RowLevel::error, RowMessage::dtype);
  EXPECT_EQ(message_list({"a \"b\"\n"}, one.messages),
            "[\"a \\\"b\\\"\\u000a\", \"error: The dtype of NPU and Bench are inconsistent.\", "
            "\"warning: The norm relative error of output is 10 times that of input.\"]");
  EXPECT_EQ(one.level, RowLevel::error);
  EXPECT_EQ(message_list({}, 0), "[]");
}

}  // namespace opdrift::verdict
