#include "opdrift/report/html_page.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <limits>

#include <nlohmann/json.hpp>

#include "opdrift/io/archive/inflate.hpp"
#include "opdrift/report/page_columns.hpp"
#include "opdrift/report/page_data.hpp"
#include "opdrift/report/report.hpp"

namespace opdrift::report {
namespace {

using Parsed = nlohmann::json;

constexpr std::string_view kNasty = "</script><script>alert(1)</script><!-- 图/卷积";

verdict::TensorResult tensor_of(const std::string& name, double error) {
  verdict::TensorResult tensor;
  tensor.operator_name = name;
  tensor.golden_operator = name;
  tensor.operator_type = "Conv";
  tensor.role = "output";
  tensor.golden_shape = {1, 64};
  metrics::Measurement m;
  m.count = m.finite_pairs = 64;
  m.golden.dtype = m.target.dtype = m.ulp_dtype = tensor::DType::f16;
  m.sum_golden2 = m.sum_target2 = m.sum_product = 1.0;
  m.sum_d2 = error * error;
  m.ulp_histogram[0] = 60;
  m.ulp_histogram[3] = 4;
  tensor.measurement = m;
  tensor.judgement = verdict::Judgement{};
  tensor.judgement->label = verdict::Label::healthy;
  tensor.judgement->relative = error;
  return tensor;
}

verdict::RunResult judged(std::size_t operators) {
  verdict::RunResult result;
  for (std::size_t i = 0; i < operators; ++i) {
    const std::string name = "/model/layers." + std::to_string(i / 40) + "/op_" + std::to_string(i);
    verdict::TensorResult& tensor = result.tensors.emplace_back(
        tensor_of(name, 1e-3 * (1.0 + std::sin(static_cast<double>(i)) / 3.0)));
    verdict::Judgement& judgement = *tensor.judgement;
    double value = 1e-4 * static_cast<double>(i + 1) / 3.0;
    for (double* number : {&judgement.q_own, &judgement.z, &judgement.q_cum, &judgement.own,
                           &judgement.rho, &judgement.depth, &judgement.inherited, &judgement.gain,
                           &judgement.self_check, &judgement.bias, &judgement.worst_golden,
                           &judgement.worst_target, &judgement.worst_expected}) {
      *number = value *= 1.1;
    }
    tensor.target_path = "target/" + std::to_string(i) + ".npy";
    tensor.golden_path = "golden/" + std::to_string(i) + ".npy";
    tensor.measurement->max_abs = {value, i % 64, value, 2 * value};
    tensor.measurement->golden.min = -value;
    tensor.measurement->golden.max = value * 3;
    tensor.measurement->target.min = -value * 1.01;
    result.network.push_back({name, "Conv", {}, {i}});
    if (i > 0) {
      result.network.back().producers = {static_cast<std::uint32_t>(i - 1)};
    }
    for (const auto side : {verdict::RunSide::golden, verdict::RunSide::target}) {
      result.ledger.push_back(
          {side, tensor.target_path, name + ":output:0", verdict::LedgerState::compared, ""});
    }
  }
  result.verdict = verdict::RunVerdict{};
  return result;
}

/// What stands in the page's data elements of a type.
std::vector<std::string> pieces_of(const std::string& html, const std::string& type) {
  std::vector<std::string> pieces;
  for (std::size_t at = html.find("<script id=\"data-"); at != std::string::npos;
       at = html.find("<script id=\"data-", at)) {
    const std::size_t begin = html.find('>', at) + 1;
    if (html.substr(at, begin - at).find("type=\"" + type + "\"") != std::string::npos) {
      pieces.push_back(html.substr(begin, html.find("</script>", begin) - begin));
    }
    at = begin;
  }
  return pieces;
}

/// All pieces as the page puts them together.
Parsed joined(const std::vector<std::string>& pieces) {
  Parsed page = {{"columns", Parsed::object()}, {"strings", Parsed::array()}};
  for (const std::string& piece : pieces) {
    const Parsed part = Parsed::parse(piece);
    for (const auto& [key, value] : part.items()) {
      if (key == "columns") {
        page[key].update(value);
      } else if (key == "strings") {
        page[key].insert(page[key].end(), value.begin(), value.end());
      } else {
        page[key] = value;
      }
    }
  }
  return page;
}

Parsed page_of(const verdict::RunResult& result) {
  return joined(pieces_of(render_html(result), "application/json"));
}

std::string from_base64(std::string_view text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  unsigned have = 0;
  for (std::size_t i = 0; i < text.size() && text[i] != '='; ++i) {
    bits = bits << 6U | static_cast<std::uint32_t>(digits.find(text[i]));
    have += 6;
    if (have >= 8) {
      have -= 8;
      bytes += static_cast<char>(bits >> have & 255U);
    }
  }
  return bytes;
}

std::string name_in(const Parsed& page, const char* column, std::size_t row) {
  const Parsed& cells = page["columns"][column];
  const Parsed& cell = cells.is_array() ? cells[row] : cells["all"];
  return page["strings"][cell.get<std::size_t>()];
}

TEST(HtmlPage, NamesThatAreMarkupStayInsideTheData) {
  verdict::RunResult result = judged(2);
  result.tensors[1].operator_name = kNasty;
  result.notes = {std::string(kNasty)};
  result.ledger[0].reason = kNasty;
  result.tensors[0].target_path = kNasty;
  const auto pieces = pieces_of(render_html(result), "application/json");
  ASSERT_EQ(pieces.size(), 4U);
  for (const std::string& piece : pieces) {
    EXPECT_EQ(piece.find('<'), std::string::npos);
  }
  const Parsed page = joined(pieces);
  EXPECT_EQ(name_in(page, "operator", 1), kNasty);
  EXPECT_EQ(page["run"]["notes"][0], kNasty);
}

TEST(HtmlPage, TheVerdictIsThereBeforeTheScriptAndHarmless) {
  verdict::RunResult result = judged(1);
  result.verdict->sentence = kNasty;
  const std::string html = render_html(result);
  const std::string body = html.substr(html.find("<body>"));
  EXPECT_LT(body.find("&lt;/script&gt;&lt;script&gt;alert(1)"), body.find("<script"));
}

TEST(HtmlPage, APolicyForbidsWhatThePageDoesNotHold) {
  const std::string html = render_html(judged(1));
  EXPECT_NE(html.find("default-src 'none'"), std::string::npos);
  EXPECT_NE(html.find("script-src 'sha256-"), std::string::npos);
  const std::string head = html.substr(0, html.find("<style>"));
  EXPECT_EQ(head.find("http://"), std::string::npos);
  EXPECT_EQ(head.find("https://"), std::string::npos);
  EXPECT_EQ(html.find(" src="), std::string::npos);
}

TEST(HtmlPage, AResultWithNothingInItIsAPageToo) {
  const Parsed page = page_of({});
  EXPECT_EQ(page["kind"], "report");
  EXPECT_EQ(page["rows"], 0);
  EXPECT_TRUE(page["run"]["verdict"].is_null());
}

TEST(HtmlPage, BytesThatAreNoUtf8AreReplaced) {
  verdict::RunResult result = judged(1);
  result.tensors[0].operator_name = "a\xff";
  result.ledger[0].path = "b\xfe.npy";
  const Parsed page = page_of(result);
  EXPECT_EQ(name_in(page, "operator", 0), "a\xEF\xBF\xBD");
}

TEST(HtmlPage, TensorsWithoutNumbersAndNumbersThatJsonLacksAreThere) {
  verdict::RunResult result = judged(3);
  result.tensors[0].measurement.reset();
  result.tensors[1].judgement->q_own = std::numeric_limits<double>::infinity();
  result.tensors[2].judgement->q_own = std::numeric_limits<double>::quiet_NaN();
  const Parsed page = joined(page_data(result));
  EXPECT_EQ(page["columns"]["measured"], Parsed({0, 1, 1}));
  EXPECT_TRUE(page["columns"]["relative_l2"][0].is_null());
  EXPECT_EQ(page["columns"]["q_own"][1], "inf");
  EXPECT_TRUE(page["columns"]["q_own"][2].is_null());
  EXPECT_TRUE(page["histograms"][0].is_null());
  EXPECT_EQ(page["histograms"][1], Parsed({60, 0, 0, 4}));
}

TEST(HtmlPage, ExplanationsPlacesAndTheNetworkBelongToTheirRows) {
  verdict::RunResult result = judged(3);
  result.tensors[2].explanations = {
      {verdict::ExplanationKind::scaled, "1.02 * golden", 1e-4, 0.99}};
  result.tensors[2].place = verdict::ErrorPlace{};
  result.tensors[2].place->axes = {{4, {{1, 1, 0.75}}, {}}};
  result.tensors[1].judgement->group = {"a", "b"};
  const Parsed page = joined(page_data(result));
  EXPECT_EQ(page["explanations"]["2"][0]["kind"], "scaled");
  EXPECT_EQ(page["explanations"].size(), 1U);
  EXPECT_EQ(page["places"]["2"]["axes"][0]["top"][0]["first"], 1);
  EXPECT_EQ(page["groups"]["1"], Parsed({"a", "b"}));
  EXPECT_EQ(page["network"]["producers"], Parsed({Parsed::array(), {0}, {1}}));
  EXPECT_EQ(page["network"]["rows"], Parsed({{0}, {1}, {2}}));
}

TEST(HtmlPage, LongLedgersKeepWhatWentWrong) {
  verdict::RunResult result;
  result.ledger.assign(70'000,
                       {verdict::RunSide::golden, "a", "t", verdict::LedgerState::compared, ""});
  result.ledger.push_back(
      {verdict::RunSide::target, "last.npy", "", verdict::LedgerState::unreadable, "truncated"});
  const Parsed page = joined(page_data(result));
  EXPECT_EQ(page["ledger"]["rows"], 60'000);
  EXPECT_EQ(page["ledger"]["left_out"], 10'001);
  const std::size_t file = page["ledger"]["columns"]["file"][59'999];
  EXPECT_EQ(page["strings"][file], "last.npy");
}

TEST(HtmlPage, TwentyThousandOperatorsFitAMail) {
  const verdict::RunResult result = judged(20'000);
  const std::clock_t begin = std::clock();
  const std::string html = render_html(result);
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  EXPECT_LT(html.size(), 6'000'000U);
  EXPECT_LT(seconds, 10.0);  // 0.3 s in a release build; the rest is for sanitizers
  const auto packed = pieces_of(html, "application/x-deflate");
  const auto data = page_data(result);
  ASSERT_EQ(packed.size(), data.size());
  for (std::size_t i = 0; i < data.size(); ++i) {
    const std::string bytes = from_base64(packed[i]);
    const auto unpacked =
        io::inflate_to_memory(as_bytes(bytes), data[i].size(), io::DeflateWrapping::none);
    ASSERT_TRUE(unpacked) << unpacked.error().to_string();
    EXPECT_EQ(as_text(unpacked->span), data[i]);
  }
  EXPECT_EQ(Parsed::parse(data[0])["rows"], 20'000);
}

// First paint waits for the first piece only.
TEST(HtmlPage, TheFirstPieceHoldsTheLesserPart) {
  const auto data = page_data(judged(1'000));
  EXPECT_LT(3 * data[0].size(), data[1].size() + data[2].size() + data[3].size());
  const Parsed first = Parsed::parse(data[0]);
  EXPECT_TRUE(first["columns"].contains("relative_l2"));
  EXPECT_FALSE(first["columns"].contains("golden_min"));
}

TEST(PageColumns, AColumnOfOneValueIsThatValue) {
  PageColumns columns(3);
  columns.add("same", [](std::size_t, std::string& out) { append_cell(0.5, out); });
  columns.add("other",
              [](std::size_t row, std::string& out) { append_cell(std::uint64_t{row}, out); });
  EXPECT_EQ(columns.take_json(), R"({"same":{"all":0.5},"other":[0,1,2]})");
}

TEST(PageTexts, APieceBringsTheTextsThatAreNew) {
  PageTexts texts;
  EXPECT_EQ(texts.number_of("a"), 1U);
  EXPECT_EQ(texts.take_json(), R"(["","a"])");
  EXPECT_EQ(texts.number_of("b"), 2U);
  EXPECT_EQ(texts.number_of("a"), 1U);
  EXPECT_EQ(texts.take_json(), R"(["b"])");
}

TEST(PageColumns, NumbersHaveFiveDigitsAndWholeOnesAll) {
  std::string cells;
  for (const double value : {1.0 / 3.0, 1e-300, 123456789.0, -2.0, 6.02214076e23}) {
    append_cell(value, cells);
    cells += ' ';
  }
  EXPECT_EQ(cells, "0.33333 1e-300 123456789 -2 6.0221e+23 ");
}

}  // namespace
}  // namespace opdrift::report
