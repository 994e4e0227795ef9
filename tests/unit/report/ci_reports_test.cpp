#include <gtest/gtest.h>

#include <cmath>

#include <nlohmann/json.hpp>

#include "opdrift/report/report.hpp"
#include "opdrift/report/xml_text.hpp"

namespace opdrift::report {
namespace {

using Json = nlohmann::json;

verdict::TensorResult tensor_of(const std::string& name, verdict::Label label) {
  verdict::TensorResult tensor;
  tensor.operator_name = name;
  tensor.tensor_name = name + "_y";
  tensor.operator_type = "Conv";
  tensor.role = "output";
  tensor.target_path = "dump/" + name + " 1.npy";
  tensor.passed = label != verdict::Label::culprit;
  tensor.reason = tensor.passed ? "" : "adds 9 times its budget";
  tensor.measurement = metrics::Measurement{};
  tensor.judgement = verdict::Judgement{};
  tensor.judgement->label = label;
  tensor.judgement->q_own = 9.0;
  tensor.judgement->cause = verdict::Cause::own_error;
  return tensor;
}

verdict::RunResult sample() {
  verdict::RunResult result;
  result.tensors = {tensor_of("a<&>\"b", verdict::Label::culprit),
                    tensor_of("victim", verdict::Label::victim),
                    tensor_of("healthy", verdict::Label::healthy),
                    tensor_of("unknown", verdict::Label::unjudged)};
  result.tensors.emplace_back();  // could not be compared
  result.ledger = {
      {verdict::RunSide::target, "cut.npy", "", verdict::LedgerState::unreadable, "truncated"},
      {verdict::RunSide::target, "b.npy", "b", verdict::LedgerState::compared, ""}};
  return result;
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++found;
  }
  return found;
}

TEST(JunitReport, CountsAgreeWithTheCases) {
  const std::string text = render_junit(sample());
  EXPECT_EQ(count(text, "<testcase "), 6U);
  EXPECT_NE(text.find("tests=\"6\" failures=\"1\" errors=\"2\" skipped=\"1\""), std::string::npos)
      << text;
  EXPECT_EQ(count(text, "<failure "), 1U);
  EXPECT_EQ(count(text, "<error "), 2U);
  EXPECT_NE(text.find("type=\"own_error\""), std::string::npos);
}

TEST(XmlText, EscapesMarkupAndWhatXmlCannotHold) {
  EXPECT_EQ(xml_text("a<&>\"b"), "a&lt;&amp;&gt;&quot;b");
  EXPECT_EQ(xml_text("图\n2"), "图\n2");
  EXPECT_EQ(xml_text(std::string("\x01\xff", 2)), "\\x01\\xff");
  EXPECT_EQ(xml_text("a\uFFFEb\uFFFF\uFFFD"), "a\\xef\\xbf\\xbeb\\xef\\xbf\\xbf\uFFFD");
}

TEST(SarifReport, LevelsFollowBlame) {
  const Json json = Json::parse(render_sarif(sample()));
  const Json& run = json["runs"][0];
  ASSERT_EQ(run["results"].size(), 4U);
  EXPECT_EQ(run["results"][0]["level"], "error");
  EXPECT_EQ(run["results"][0]["ruleId"], "own_error");
  EXPECT_EQ(run["results"][1]["level"], "note");
  EXPECT_EQ(run["results"][2]["level"], "warning");
  EXPECT_EQ(run["results"][3]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "cut.npy");
}

TEST(SarifReport, EveryRuleOfAResultIsDescribedOnce) {
  const Json json = Json::parse(render_sarif(sample()));
  const Json& rules = json["runs"][0]["tool"]["driver"]["rules"];
  EXPECT_EQ(rules.size(), 2U);
  for (const Json& rule : rules) {
    EXPECT_FALSE(rule["shortDescription"]["text"].get<std::string>().empty());
  }
}

TEST(SarifReport, PathsAreUriReferences) {
  const Json json = Json::parse(render_sarif(sample()));
  EXPECT_EQ(
      json["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
      "dump/a%3C%26%3E%22b%201.npy");
  verdict::RunResult absolute = sample();
  for (verdict::TensorResult& tensor : absolute.tensors) {
    tensor.target_path = "/数据/y.npy";
  }
  EXPECT_EQ(Json::parse(render_sarif(absolute))["runs"][0]["results"][0]["locations"][0]
                                               ["physicalLocation"]["artifactLocation"]["uri"],
            "file:///%E6%95%B0%E6%8D%AE/y.npy");
}

// Every tensor is healthy, yet the run fails or says nothing: a green report would be a lie.
TEST(CiReports, TellWhatNoTensorShows) {
  verdict::RunResult result;
  result.tensors = {tensor_of("healthy", verdict::Label::healthy)};
  result.verdict = verdict::RunVerdict{};
  result.verdict->outcome = verdict::Outcome::pass;
  EXPECT_NE(render_junit(result).find("failures=\"0\" errors=\"0\""), std::string::npos);
  EXPECT_TRUE(Json::parse(render_sarif(result))["runs"][0]["results"].empty());

  result.verdict->outcome = verdict::Outcome::fail;
  result.verdict->sentence = "an output is missing";
  EXPECT_NE(render_junit(result).find("failures=\"1\" errors=\"0\""), std::string::npos);
  EXPECT_NE(render_junit(result).find("an output is missing"), std::string::npos);
  Json entry = Json::parse(render_sarif(result))["runs"][0]["results"][0];
  EXPECT_EQ(entry["level"], "error");
  EXPECT_EQ(entry["message"]["text"], "an output is missing");

  result.verdict->outcome = verdict::Outcome::inconclusive;
  EXPECT_NE(render_junit(result).find("failures=\"0\" errors=\"1\""), std::string::npos);
  entry = Json::parse(render_sarif(result))["runs"][0]["results"][0];
  EXPECT_EQ(entry["level"], "warning");

  EXPECT_NE(render_junit({}).find("nothing compared"), std::string::npos);
}

TEST(JunitReport, TensorsWithoutCounterpartAreSkipped) {
  verdict::RunResult result;
  result.tensors = {tensor_of("healthy", verdict::Label::healthy)};
  result.ledger = {
      {verdict::RunSide::golden, "g.npy", "g", verdict::LedgerState::unmatched, "no partner"}};
  const std::string text = render_junit(result);
  EXPECT_NE(text.find("tests=\"2\" failures=\"0\" errors=\"0\" skipped=\"1\""), std::string::npos);
  EXPECT_NE(text.find("<skipped message=\"no partner\"/>"), std::string::npos) << text;
}

// 1.25e-05, 12345678 and infinity lose their meaning when their text is cut.
TEST(ModelExplorerReport, NumbersKeepTheirSize) {
  verdict::RunResult result;
  for (const double value : {1.25e-5, 12345678.0, HUGE_VAL}) {
    result.tensors.push_back(tensor_of(std::to_string(value), verdict::Label::culprit));
    result.tensors.back().judgement->q_own = value;
    result.tensors.back().judgement->z = 0.0;
  }
  const Json nodes = Json::parse(render_model_explorer(result))["results"];
  std::vector<std::string> shown;
  for (const auto& tensor : result.tensors) {
    shown.push_back(nodes[tensor.tensor_name]["displayValue"]);
  }
  EXPECT_EQ(shown,
            (std::vector<std::string>{"culprit 1.25e-05", "culprit 1.235e+07", "culprit inf"}));
  EXPECT_EQ(nodes[result.tensors[2].tensor_name]["value"], "inf");
}

TEST(ModelExplorerReport, TheWorstStepOfAValueIsShown) {
  verdict::RunResult result;
  result.tensors = {tensor_of("a", verdict::Label::culprit),
                    tensor_of("a", verdict::Label::healthy)};
  result.tensors[0].step = "step0";
  result.tensors[1].step = "step1";
  const Json nodes = Json::parse(render_model_explorer(result))["results"];
  EXPECT_EQ(nodes["a_y"]["displayValue"].get<std::string>().substr(0, 7), "culprit");
}

TEST(ModelExplorerReport, NamesValuesOfTheGoldenGraph) {
  const Json json = Json::parse(render_model_explorer(sample()));
  EXPECT_EQ(json["results"].size(), 4U);
  EXPECT_EQ(json["results"]["victim_y"]["value"], 9.0);
  EXPECT_NE(json["results"]["victim_y"]["bgColor"], json["results"]["healthy_y"]["bgColor"]);
}

}  // namespace
}  // namespace opdrift::report
