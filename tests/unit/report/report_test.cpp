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
