#include "opdrift/report/json_result.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "opdrift/report/report.hpp"

namespace opdrift::report {
namespace {

metrics::Measurement measurement() {
  metrics::Measurement m;
  m.count = 10;
  m.finite_pairs = 9;
  m.class_mismatches = 1;
  m.equal_bits = 3;
  m.golden.dtype = tensor::DType::f32;
  m.target.dtype = tensor::DType::bf16;
  m.target.classes.nan = 1;
  m.golden.min = -1.5;
  m.golden.sum_squares = 0.1;
  m.sum_d2 = 1e-300;
  m.sum_golden2 = 3.0;
  m.sum_product = 1.0 / 3.0;
  m.max_relative = std::numeric_limits<double>::infinity();
  m.max_abs = {0.25, 7, 1.0, 1.25};
  m.ulp_dtype = tensor::DType::bf16;
  m.ulp_histogram[17] = 4;
  m.max_ulp = 1ULL << 40U;
  return m;
}

verdict::Judgement judgement() {
  verdict::Judgement j;
  j.label = verdict::Label::culprit;
  j.tier = verdict::Tier::sampled;
  j.cause = verdict::Cause::local_error;
  j.sentence = "要素 \"3\" ist zu groß";
  j.q_own = 5.5;
  j.z = std::numeric_limits<double>::infinity();
  j.worst = 3;
  j.worst_expected = 70683.0;
  j.sampled = 576;
  j.group = {"a", "b"};
  return j;
}

verdict::RunResult sample() {
  verdict::RunResult result;
  result.golden_path = "golden";
  result.target_kind = "npy";
  result.rule = "replay budget";
  result.notes = {"one", "two"};
  result.elapsed_s = 0.125;
  result.bytes_read = 1ULL << 50U;
  result.interrupted = true;
  verdict::TensorResult tensor;
  tensor.operator_name = "图/卷积";
  tensor.role = "output";
  tensor.index = 2;
  tensor.order = 1ULL << 40U;
  tensor.golden_shape = {1, 3, 1ULL << 33U};
  tensor.measurement = measurement();
  tensor.judgement = judgement();
  tensor.explanations = {{verdict::ExplanationKind::scaled, "1.02 * golden", 1e-4, 0.99}};
  tensor.place = verdict::ErrorPlace{};
  tensor.place->axes = {{4, {{1, 1, 0.75}, {2, 1, 0.25}}, {16, 16, 0.5}}};
  tensor.place->first_bad = 3;
  tensor.place->first_bad_index = {0, 3};
  result.metric_names = {"Mine", "Ours"};
  result.usual_metrics = false;
  tensor.metric_values = {{0.5, "0.500000", ""}, {metrics::kNan, "NaN", "no element is finite"}};
  tensor.profile = verdict::ErrorProfile{};
  tensor.profile->bins = {{-2000, 4, 0.5, 0.0, 0.5, 1.0, 0.0}, {3, 7, 0.25, 9.0, 0.2, 8.0, 8.0}};
  tensor.profile->both_nan = 2;
  result.tensors = {tensor, {}};
  result.ledger = {
      {verdict::RunSide::target, "a.npy", "x", verdict::LedgerState::unreadable, "truncated"}};
  result.verdict = verdict::RunVerdict{};
  result.verdict->outcome = verdict::Outcome::fail;
  result.verdict->findings = {
      {verdict::FindingKind::tf32_products, "multiplies in TF32", 0.5, 12, true}};
  result.verdict->first_divergence = {0};
  result.verdict->missing_outputs = 2;
  result.verdict->unjudged = 3;
  result.verdict->inputs_differ = true;
  result.overflow.sentence = "exp made 3 Inf";
  result.overflow.path = {"exp", "out"};
  result.overflow.headroom = {{"a", 65000.0, 1.008, "almost"}};
  result.overflow.constants = {{"mask", -3.4e38, 0.0, "becomes -inf"}};
  result.network = {{"in", "Add", {}, {1}}, {"图/卷积", "Conv", {0}, {0}}};
  return result;
}

TEST(JsonResult, ConnectionsThatPointAtNothingAreDropped) {
  verdict::RunResult result = sample();
  result.network[0].producers = {0, 7};
  result.network[1].rows = {0, 2};
  const auto read = parse_json(render_json(result), "result.json");
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->network[0].producers.empty());
  EXPECT_EQ(read->network[1].producers, std::vector<std::uint32_t>{0});
  EXPECT_EQ(read->network[1].rows, std::vector<std::size_t>{0});
}

TEST(JsonResult, ReadsBackEverythingThatWasWritten) {
  const std::string written = render_json(sample());
  const auto read = parse_json(written, "result.json");
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(render_json(*read), written);
}

TEST(JsonResult, AVerdictOnRowsThatAreNotThereLosesThem) {
  verdict::RunResult result = sample();
  result.verdict->first_divergence = {0, 99};
  const auto read = parse_json(render_json(result), "result.json");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->verdict->first_divergence, std::vector<std::size_t>{0});
}

TEST(JsonResult, ASummaryNeedsOnlyWhatStandsBeforeTheTensors) {
  const std::string written = render_json(sample());
  const std::size_t end = written.find("\"operator\"");
  for (const std::string& text : {written, written.substr(0, end)}) {
    const auto summary = parse_json_summary(text, "result.json");
    ASSERT_TRUE(summary) << summary.error().to_string();
    EXPECT_EQ(summary->tensors, 2U);
    EXPECT_EQ(summary->failed, 2U);
    EXPECT_EQ(summary->head.golden_path, "golden");
    EXPECT_EQ(summary->head.verdict->outcome, verdict::Outcome::fail);
    EXPECT_TRUE(summary->head.tensors.empty());
  }
  EXPECT_FALSE(parse_json_summary("{}", "other.json"));
}

TEST(JsonResult, OtherTextIsRefusedWithTheFileNamed) {
  for (const char* text : {"", "{", "[]", "{}", "null", "{\"schema\": \"opdrift-result/2\"}",
                           "{\"schema\": 1}", "\xff\xfe"}) {
    const auto read = parse_json(text, "some/result.json");
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, ErrorCode::bad_json);
    EXPECT_NE(read.error().to_string().find("some/result.json"), std::string::npos);
  }
}

TEST(JsonResult, EveryCutOfAResultIsRefusedOrRead) {
  const std::string written = render_json(sample());
  for (std::size_t length = 0; length < written.size() - 2; length += 7) {
    EXPECT_FALSE(parse_json(std::string_view(written).substr(0, length), "r")) << length;
  }
}

TEST(JsonResult, ValuesOfTheWrongKindAreIgnored) {
  const auto read = parse_json(
      R"({"schema":"opdrift-result/1","rule":5,"notes":{"a":1},"tensors":[3,{"order":-1,
      "index":99999999999,"measurement":[],"judgement":"x","target_shape":["a",2]}],
      "ledger":[null],"verdict":[1]})",
      "r");
  ASSERT_TRUE(read) << read.error().to_string();
  ASSERT_EQ(read->tensors.size(), 2U);
  EXPECT_EQ(read->tensors[1].order, 0U);
  EXPECT_EQ(read->tensors[1].target_shape, tensor::Shape{2});
}

}  // namespace
}  // namespace opdrift::report
