#include "opdrift/report/report.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "opdrift/base/text.hpp"
#include "opdrift/report/csv_text.hpp"
#include "opdrift/report/terminal.hpp"

namespace opdrift::report {
namespace {

verdict::TensorResult tensor_of(const std::string& name, double error) {
  verdict::TensorResult tensor;
  tensor.operator_name = name;
  tensor.operator_type = "Conv";
  tensor.role = "output";
  tensor.passed = error == 0.0;
  tensor.reason = tensor.passed ? "" : "relative L2 too large";
  metrics::Measurement m;
  m.count = m.finite_pairs = 4;
  m.golden.dtype = m.target.dtype = tensor::DType::f32;
  m.sum_golden2 = m.sum_target2 = m.sum_product = 1.0;
  m.sum_d2 = error * error;
  tensor.measurement = m;
  return tensor;
}

verdict::RunResult sample() {
  verdict::RunResult result;
  result.tensors = {tensor_of("=cmd|' /C calc'!A0", 0.25), tensor_of("图/卷积,1", 0.0)};
  result.tensors.emplace_back();
  result.ledger.push_back(
      {verdict::RunSide::target, "a\xff.npy", "", verdict::LedgerState::unreadable, "truncated"});
  return result;
}

TEST(CsvText, QuotesSeparatorsAndDisarmsFormulas) {
  EXPECT_EQ(csv_text("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_text("a\"b"), "\"a\"\"b\"");
  EXPECT_EQ(csv_text("=1+1"), "'=1+1");
  EXPECT_EQ(csv_text("@x"), "'@x");
  EXPECT_EQ(csv_text("＝x"), "'＝x");
  EXPECT_EQ(csv_text("-1.5"), "-1.5");
  EXPECT_EQ(csv_text("-"), "-");
}

TEST(CsvReport, EveryLineHasAsManyCellsAsTheHeader) {
  const std::string text = render_csv(sample());
  std::size_t expected = 0;
  std::size_t lines = 0;
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty()) {
      continue;
    }
    bool quoted = false;
    std::size_t cells = 1;
    for (const char c : line) {
      quoted = c == '"' ? !quoted : quoted;
      cells += c == ',' && !quoted ? 1U : 0U;
    }
    expected = lines == 0 ? cells : expected;
    EXPECT_EQ(cells, expected) << line;
    ++lines;
  }
  EXPECT_EQ(lines, 4U);
  EXPECT_NE(text.find("'=cmd"), std::string::npos);
}

TEST(JsonReport, KeepsWhatJsonHasNoNumberFor) {
  const auto json = nlohmann::json::parse(render_json(sample()));
  EXPECT_EQ(json["schema"], "opdrift-result/1");
  EXPECT_EQ(json["summary"]["tensors"], 3);
  EXPECT_EQ(json["summary"]["failed"], 2);
  EXPECT_EQ(json["tensors"][0]["measurement"]["kl_divergence"], "nan");
  EXPECT_EQ(json["tensors"][1]["measurement"]["sqnr_db"], "inf");
  EXPECT_TRUE(json["tensors"][2]["measurement"].is_null());
  EXPECT_EQ(json["tensors"][1]["operator"], "图/卷积,1");
  EXPECT_EQ(json["totals"]["target"]["unreadable"], 1);
}

/// Two metrics by name in place of the usual ones; the last row has no values.
verdict::RunResult sample_with_metrics() {
  verdict::RunResult result = sample();
  result.metric_names = {"RelativeL2", "Mine"};
  result.usual_metrics = false;
  result.tensors[0].metric_values = {{0.25, "0.25", ""}, {1.5, "=1.5", "odd"}};
  result.tensors[1].metric_values = {{0.0, "0", ""}, {metrics::kNan, "", ""}};
  return result;
}

TEST(CsvReport, ChosenMetricsTakeThePlaceOfTheUsualOnes) {
  const std::string text = render_csv(sample_with_metrics());
  const auto lines = split(text, '\n');
  EXPECT_NE(lines[0].find(",target_shape,RelativeL2,Mine,label,"), std::string::npos) << lines[0];
  EXPECT_NE(lines[1].find(",0.25,'=1.5,"), std::string::npos) << lines[1];
  const auto commas = [](std::string_view line) {
    return std::count(line.begin(), line.end(), ',');
  };
  EXPECT_EQ(commas(lines[3]), commas(lines[0]));
}

TEST(CsvReport, PluginsStandBesideTheUsualMetrics) {
  verdict::RunResult result = sample_with_metrics();
  result.usual_metrics = true;
  const std::string text = render_csv(result);
  EXPECT_NE(text.find(",class_mismatches,RelativeL2,Mine,label,"), std::string::npos);
}

TEST(JsonReport, ChosenMetricsCarryValueTextAndNote) {
  const auto json = nlohmann::json::parse(render_json(sample_with_metrics()));
  EXPECT_EQ(json["metrics"]["names"], (std::vector<std::string>{"RelativeL2", "Mine"}));
  EXPECT_EQ(json["metrics"]["usual"], false);
  const auto& mine = json["tensors"][0]["metrics"]["Mine"];
  EXPECT_EQ(mine["value"], 1.5);
  EXPECT_EQ(mine["text"], "=1.5");
  EXPECT_EQ(mine["note"], "odd");
  EXPECT_EQ(json["tensors"][1]["metrics"]["Mine"]["value"], "nan");
}

TEST(Terminal, ChosenMetricsAreColumnsAndWhatDoesNotFitIsSaid) {
  const verdict::RunResult result = sample_with_metrics();
  const std::string wide = render_terminal(result, {.columns = 100});
  EXPECT_NE(wide.find("RelativeL2"), std::string::npos);
  EXPECT_NE(wide.find("Mine"), std::string::npos);
  EXPECT_EQ(wide.find("1-cosine"), std::string::npos);
  const std::string narrow = render_terminal(result, {.columns = 60});
  EXPECT_NE(narrow.find("RelativeL2"), std::string::npos);
  EXPECT_NE(narrow.find("1 metric does not fit"), std::string::npos) << narrow;
}

TEST(Reports, AreFoundByNameAndUnknownNamesListThem) {
  EXPECT_EQ((*find_report("json"))->file_name, "result.json");
  const auto unknown = find_report("pdf");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("csv"), std::string::npos);
}

TEST(Terminal, FitsNarrowTerminalsAndNamesTheFirstOffender) {
  const std::string text = render_terminal(sample(), {.columns = 60});
  for (const std::string_view line : split(text, '\n')) {
    if (line.find("reason") == std::string_view::npos) {
      EXPECT_LE(display_width(line), 78U) << line;
    }
  }
  EXPECT_NE(text.find("DIFFER  2 of 3"), std::string::npos);
  EXPECT_NE(text.find("First offender: =cmd"), std::string::npos);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(Terminal, ColourIsOnlyThereWhenAskedFor) {
  EXPECT_NE(render_terminal(sample(), {.colour = true}).find("\x1b[31m"), std::string::npos);
}

TEST(Terminal, NothingComparedIsSaidAndNotCalledAgreement) {
  const std::string text = render_terminal({}, {});
  EXPECT_NE(text.find("NOTHING COMPARED"), std::string::npos);
  EXPECT_EQ(text.find("AGREE"), std::string::npos);
}

}  // namespace
}  // namespace opdrift::report
