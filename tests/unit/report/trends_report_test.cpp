#include "opdrift/report/trends_report.hpp"

#include <gtest/gtest.h>

#include <limits>

#include <nlohmann/json.hpp>

#include "opdrift/base/text.hpp"

namespace opdrift::report {
namespace {

using verdict::TrendCell;
using verdict::TrendLine;
using verdict::Trends;

Trends sample() {
  Trends trends;
  trends.runs = {"step1", "=step2", "步3"};
  TrendLine steady;
  steady.operator_name = "a,b</script>";
  steady.operator_type = "Conv";
  steady.cells = {TrendCell{1e-4, 0.5, "healthy", false}, std::nullopt,
                  TrendCell{2e-4, 0.6, "healthy", false}};
  steady.growth = 2.0;
  TrendLine drifting;
  drifting.operator_name = "层/激活";
  drifting.operator_type = "Relu";
  drifting.output = 1;
  drifting.cells = {TrendCell{1e-4, 0.5, "healthy", false}, TrendCell{0.25, 90.0, "culprit", true},
                    TrendCell{std::numeric_limits<double>::infinity(), 99.0, "victim", true}};
  drifting.begins = 1;
  drifting.wrong_runs = 2;
  drifting.growth = std::numeric_limits<double>::infinity();
  trends.lines = {steady, drifting};
  return trends;
}

TEST(TrendsReport, TheTerminalNamesWhatBeginsFirst) {
  const std::string text = render_trends_terminal(sample(), {.columns = 120});
  EXPECT_NE(text.find("1 outputs drift, first 层/激活 in =step2"), std::string::npos) << text;
  EXPECT_NE(text.find("culprit"), std::string::npos);
  EXPECT_NE(text.find("▃▆█"), std::string::npos) << text;
}

TEST(TrendsReport, NothingThatDriftsIsSaidSo) {
  Trends trends = sample();
  trends.lines.pop_back();
  const std::string text = render_trends_terminal(trends, {});
  EXPECT_EQ(text, "STEADY  no operator drifts (1 outputs, 3 runs)\n");
}

TEST(TrendsReport, CsvHasAColumnPerRunAndNoFormulas) {
  const std::string text = render_trends_csv(sample());
  const auto lines = split(text, '\n');
  EXPECT_EQ(lines[0], "operator,type,output,begins,wrong_runs,growth,step1,'=step2,步3");
  EXPECT_EQ(lines[1], "\"a,b</script>\",Conv,0,,0,2,0.0001,,0.0002");
  EXPECT_EQ(lines[2], "层/激活,Relu,1,'=step2,2,inf,0.0001,0.25,inf");
}

TEST(TrendsReport, JsonKeepsRunsThatLackAnOperator) {
  const auto json = nlohmann::json::parse(render_trends_json(sample()));
  EXPECT_EQ(json["schema"], "opdrift-trends/1");
  EXPECT_TRUE(json["lines"][0]["cells"][1].is_null());
  EXPECT_TRUE(json["lines"][0]["begins"].is_null());
  EXPECT_EQ(json["lines"][1]["begins"], 1);
  EXPECT_EQ(json["lines"][1]["cells"][2]["error"], "inf");
}

TEST(TrendsReport, ThePageHoldsColumnsByRunAndNoMarkup) {
  const std::string html = render_trends_html(sample(), "a & b");
  const std::string open = "type=\"application/json\">";
  const std::size_t begin = html.find(open) + open.size();
  const std::string data = html.substr(begin, html.find("</script>", begin) - begin);
  EXPECT_EQ(data.find('<'), std::string::npos);
  const auto page = nlohmann::json::parse(data);
  EXPECT_EQ(page["kind"], "trends");
  EXPECT_EQ(page["title"], "a & b");
  EXPECT_EQ(page["runs"][1]["error"], nlohmann::json({nullptr, 0.25}));
  const std::size_t name = page["lines"]["operator"][0];
  EXPECT_EQ(page["strings"][name], "a,b</script>");
}

TEST(TrendsReport, FormatsAreFoundByName) {
  EXPECT_TRUE(find_trends_report("csv"));
  const auto missing = find_trends_report("xlsx");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().to_string().find("html, csv, json"), std::string::npos);
}

}  // namespace
}  // namespace opdrift::report
