#include <gtest/gtest.h>

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
}

TEST(ModelExplorerReport, NamesValuesOfTheGoldenGraph) {
  const Json json = Json::parse(render_model_explorer(sample()));
  EXPECT_EQ(json["results"].size(), 4U);
  EXPECT_EQ(json["results"]["victim_y"]["value"], 9.0);
  EXPECT_NE(json["results"]["victim_y"]["bgColor"], json["results"]["healthy_y"]["bgColor"]);
}

}  // namespace
}  // namespace opdrift::report
