#include "opdrift/diagnose/autorun/auto_run.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "unit/diagnose/flow_testing.hpp"
#include "unit/engine/model_testing.hpp"

namespace opdrift::diagnose::autorun {
namespace {

using namespace engine::testing;

/// x (1, 8), from 0 to 1 -> three factors one after the other -> y.
onnx::Model three_factors(float first, float second, float third) {
  onnx::Model model = empty_model();
  model.graph.inputs = {floats("x", {{1, ""}, {8, ""}})};
  model.graph.initializers = {constant("a", {1}, std::vector<float>{first}),
                              constant("b", {1}, std::vector<float>{second}),
                              constant("c", {1}, std::vector<float>{third})};
  model.graph.nodes = {onnx::make_node("Mul", "mul1", {"x", "a"}, {"v1"}),
                       onnx::make_node("Mul", "mul2", {"v1", "b"}, {"v2"}),
                       onnx::make_node("Mul", "mul3", {"v2", "c"}, {"y"})};
  model.graph.outputs = {floats("y", {{1, ""}, {8, ""}})};
  return model;
}

AutoOptions options_for(const TempFolder& folder, const onnx::Model& model) {
  AutoOptions options;
  options.model = folder / "m.onnx";
  EXPECT_TRUE(onnx::write_model(options.model, model));
  options.folder = folder / "report";
  options.threads = 1;
  return options;
}

// 1 * 300 * 300 is beyond float16, and so is what mul3 reads once mul2 alone stays f32: two rounds.
TEST(AutoRun, FindsTheKeepListOfAnOverflow) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TempFolder folder;
  const auto report = run_auto(options_for(folder, three_factors(300.0F, 300.0F, 1e-3F)));
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_EQ(summary(report->diagnosis), "PRECISION [mul2 mul3]");
  EXPECT_EQ(report->diagnosis.confidence, flow::Confidence::proved);
  EXPECT_EQ(report->facts.keep, (std::vector<std::string>{"mul2", "mul3"}));
  ASSERT_FALSE(report->diagnosis.fixes.empty());
  ASSERT_TRUE(report->diagnosis.fixes.front().file.has_value());
  EXPECT_EQ(report->diagnosis.fixes.front().file->content, "mul2\nmul3\n");
  std::string checks;
  for (const flow::Check& check : report->diagnosis.checks) {
    checks += check.result + "\n";
  }
  EXPECT_NE(checks.find("kept mul2: OVERFLOW"), std::string::npos) << checks;
  EXPECT_NE(checks.find("mixed_2: pass"), std::string::npos) << checks;
}

TEST(AutoRun, AConstantBeyondTheRangeIsNamed) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TempFolder folder;
  const auto report = run_auto(options_for(folder, three_factors(1.0F, 1e9F, 1e-9F)));
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_EQ(summary(report->diagnosis), "OVERFLOW_CONST [b]");
}

TEST(AutoRun, AModelThatPassesIsClean) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TempFolder folder;
  const auto report = run_auto(options_for(folder, three_factors(2.0F, 3.0F, 0.5F)));
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_EQ(summary(report->diagnosis), "CLEAN []");
  EXPECT_TRUE(std::filesystem::is_empty(folder / "report"));
}

TEST(AutoRun, StopsAfterItsRounds) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TempFolder folder;
  AutoOptions options = options_for(folder, three_factors(300.0F, 300.0F, 1e-3F));
  options.max_rounds = 1;
  const auto report = run_auto(options);
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_EQ(report->facts.keep, std::vector<std::string>{"mul2"});
  EXPECT_EQ(report->diagnosis.next.front().role, "mixed_2");
}

TEST(AutoRun, ARuleOfItsOwnDecidesInsteadOfTheCosine) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TempFolder folder;
  AutoOptions options = options_for(folder, three_factors(1.0F, 1.0F, 1.0F));
  options.rule = *verdict::parse_gates("max_abs=1e-9");
  options.rule_given = true;
  const auto report = run_auto(options);
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_EQ(report->facts.runs.at("base").verdict, flow::Verdict::fail);
  EXPECT_EQ(report->facts.runs.at("high").verdict, flow::Verdict::pass);
}

// No operator is below 0.95, and yet the outputs fail a strict rule: the limit has to move.
TEST(AutoRun, LooksCloserUntilTheOutputsPass) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TempFolder folder;
  AutoOptions options = options_for(folder, three_factors(1.1F, 1.3F, 1.7F));
  options.rule = *verdict::parse_gates("rel_l2=3e-4");
  options.rule_given = true;
  const auto report = run_auto(options);
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_EQ(report->diagnosis.conclusion, flow::Conclusion::precision);
  EXPECT_EQ(report->diagnosis.confidence, flow::Confidence::proved);
  EXPECT_FALSE(report->facts.keep.empty());
}

TEST(AutoRun, AModelThatIsNoneFails) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TempFolder folder;
  AutoOptions options = options_for(folder, three_factors(1.0F, 1.0F, 1.0F));
  options.model = folder.file("text.onnx", "no model");
  EXPECT_FALSE(run_auto(options));
}

}  // namespace
}  // namespace opdrift::diagnose::autorun
