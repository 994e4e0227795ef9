#include "opdrift/diagnose/bisect/local_bisect.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <ostream>

#include "unit/engine/model_testing.hpp"

#include "opdrift/diagnose/bisect/keep_set.hpp"
#include "opdrift/engine/damage.hpp"
#include "opdrift/engine/surgery/inline_branches.hpp"

namespace opdrift::diagnose {
namespace {

namespace onnx = io::onnx;
using engine::testing::constant;
using engine::testing::empty_model;
using engine::testing::floats;
using engine::testing::TempFolder;

/// x -> add0 -> mul1 -> (relu2, neg3) -> join4 -> mul5 -> y; mul1 and mul5 have weights. neg3 is
/// the way around relu2, so that two cut points have operators between them.
onnx::Model branched_model() {
  const auto weights = [](float value) { return std::vector<float>(8, value); };
  onnx::Model model = empty_model();
  model.graph.inputs = {floats("x", {{8, ""}})};
  model.graph.initializers = {
      constant("w0", {8}, weights(0.5F)), constant("w1", {8}, weights(1.5F)),
      constant("w3", {8}, weights(2.0F)), constant("w5", {8}, weights(0.25F))};
  model.graph.nodes = {onnx::make_node("Add", "add0", {"x", "w0"}, {"v0"}),
                       onnx::make_node("Mul", "mul1", {"v0", "w1"}, {"v1"}),
                       onnx::make_node("Relu", "relu2", {"v1"}, {"v2"}),
                       onnx::make_node("Mul", "side3", {"v1", "w3"}, {"v3"}),
                       onnx::make_node("Add", "join4", {"v2", "v3"}, {"v4"}),
                       onnx::make_node("Mul", "mul5", {"v4", "w5"}, {"y"})};
  model.graph.outputs = {floats("y", {{8, ""}})};
  return model;
}

class PlantedFault : public ::testing::Test {
 protected:
  LocalBisectOptions options(const std::string& damaged_node) {
    LocalBisectOptions options;
    options.local.model = folder_ / "golden.onnx";
    options.local.target_model = folder_ / "target.onnx";
    EXPECT_TRUE(onnx::write_model(options.local.model, branched_model()));
    onnx::Model model = branched_model();
    for (std::uint64_t channel = 0; channel < 4; ++channel) {
      EXPECT_TRUE(engine::damage_weight(
          model, ".", {.node = damaged_node, .channel = channel, .factor = 9.0F}));
    }
    EXPECT_TRUE(onnx::write_model(options.local.target_model, model));
    return options;
  }

  TempFolder folder_;
};

TEST_F(PlantedFault, IsFoundWhereverItIsAndInBothDirections) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  for (const std::string node : {"add0", "mul1", "side3", "mul5"}) {
    for (const Direction direction : {Direction::suffix, Direction::prefix}) {
      LocalBisectOptions wanted = options(node);
      wanted.direction = direction;
      const auto report = bisect_locally(wanted);
      ASSERT_TRUE(report) << report.error().to_string();
      EXPECT_EQ(report->whole.outcome, Outcome::bad);
      ASSERT_EQ(report->suspects.size(), 1U) << node;
      EXPECT_EQ(report->suspects[0].name, node);
    }
  }
}

TEST_F(PlantedFault, AtCutPointsTheAnswerIsAStretch) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  LocalBisectOptions wanted = options("side3");
  wanted.direction = Direction::prefix;
  wanted.inside = false;
  const auto report = bisect_locally(wanted);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->cuts, (std::vector<std::string>{"add0", "mul1", "join4", "mul5"}));
  ASSERT_EQ(report->suspects.size(), 3U);
  EXPECT_EQ(report->suspects[0].name, "relu2");
  EXPECT_EQ(report->suspects[2].name, "join4");
}

TEST_F(PlantedFault, WithoutOneThereIsNothingToSearch) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  LocalBisectOptions wanted = options("mul1");
  wanted.local.target_model.clear();
  const auto report = bisect_locally(wanted);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->whole.outcome, Outcome::good);
  EXPECT_TRUE(report->suspects.empty());
}

TEST_F(PlantedFault, ACheckOfTheUsersDecides) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  LocalBisectOptions wanted = options("side3");
  // w5 is 0.25 in eight places: the command is good for parts that do not hold operator side3.
  wanted.local.check = "sh -c '! grep -q side3 \"{model}\"'";
  const auto report = bisect_locally(wanted);
  ASSERT_TRUE(report) << report.error().to_string();
  ASSERT_EQ(report->suspects.size(), 1U);
  EXPECT_EQ(report->suspects[0].name, "side3");
}

TEST_F(PlantedFault, ACheckThatDiesEndsTheSearch) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  LocalBisectOptions wanted = options("side3");
  wanted.local.check = "sh -c 'exit 200'";
  const auto report = bisect_locally(wanted);
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().message.find("200"), std::string::npos);
}

TEST_F(PlantedFault, ModelsWithOtherOperatorsAreRefused) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  LocalBisectOptions wanted = options("mul1");
  ASSERT_TRUE(onnx::write_model(wanted.local.target_model, engine::testing::small_model()));
  const auto report = bisect_locally(wanted);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::mismatch);
}

// 300 * 300 overflows float16; only the multiplication and what halves its result must stay f32.
TEST(FindKept, KeepsTheOverflowingMultiplication) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TempFolder folder;
  onnx::Model model = empty_model();
  model.graph.inputs = {floats("x", {{8, ""}})};
  model.graph.initializers = {constant("big", {8}, std::vector<float>(8, 300.0F)),
                              constant("small", {8}, std::vector<float>(8, 1.0F / 4096))};
  model.graph.nodes = {onnx::make_node("Relu", "first", {"x"}, {"a"}),
                       onnx::make_node("Mul", "grow", {"a", "big"}, {"b"}),
                       onnx::make_node("Mul", "overflow", {"b", "big"}, {"c"}),
                       onnx::make_node("Mul", "shrink", {"c", "small"}, {"d"}),
                       onnx::make_node("Abs", "last", {"d"}, {"y"})};
  model.graph.outputs = {floats("y", {{8, ""}})};
  KeepOptions options;
  options.local.model = folder / "m.onnx";
  ASSERT_TRUE(onnx::write_model(options.local.model, model));
  options.local.target.precision = engine::Precision::fp16;
  options.local.inputs.files = {{"x", folder.file("x.bin", io::testing::text_of(std::vector<float>{
                                                               1, 2, 3, 4, 5, 6, 7, 8}))}};
  options.output_folder = folder / "cfg";
  const auto report = find_kept(options);
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_EQ(report->none.outcome, Outcome::bad);
  ASSERT_EQ(report->kept.size(), 2U);
  EXPECT_EQ(report->kept[0].name, "overflow");
  EXPECT_EQ(report->kept[1].name, "shrink");
  EXPECT_EQ(io::testing::content_of(folder / "cfg/keep_dtype.cfg"), "overflow\nshrink\n");
  EXPECT_EQ(io::testing::content_of(folder / "cfg/customize_dtypes.cfg"),
            "overflow::InputDtype:float32,float32,OutputDtype:float32\n"
            "shrink::InputDtype:float32,float32,OutputDtype:float32\n");
}

struct RealModel {
  const char* file;
  const char* node;  ///< to damage; "" the Conv in the middle
  const char* end;   ///< whose outputs are judged; "" those of the network
  std::map<std::string, std::uint64_t> dims;
};

void PrintTo(const RealModel& model, std::ostream* out) {  // NOLINT: GoogleTest's name
  *out << model.file;
}

/// Models that tools/setup.sh models brings.
class RealModels : public ::testing::TestWithParam<RealModel> {
 protected:
  engine::InputOptions inputs(const onnx::Graph& graph) const {
    engine::InputOptions wanted;
    wanted.dims = GetParam().dims;
    for (const onnx::ValueInfo& input : graph.inputs) {
      if (input.name == "sr") {
        const std::vector<std::int64_t> rate = {16000};
        wanted.files = {{"sr", folder_.file("rate.bin", io::testing::text_of(rate))}};
      }
    }
    return wanted;
  }

  TempFolder folder_;
};

// Networks within an If are taken out first: a fault is planted into the main graph only.
TEST_P(RealModels, APlantedFaultIsFound) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const std::string path = std::string(OPDRIFT_SOURCE_DIR "/build/deps/") + GetParam().file;
  if (!std::filesystem::exists(path)) {
    GTEST_SKIP() << path << " is not installed";
  }
  auto model = onnx::open_model(path);
  ASSERT_TRUE(model) << model.error().to_string();
  LocalBisectOptions options;
  options.local.inputs = inputs(model->graph);
  const auto given = engine::make_inputs(model->graph, options.local.inputs);
  ASSERT_TRUE(given) << given.error().to_string();
  engine::PlacedModel placed{*model, onnx::folder_of_model(path)};
  ASSERT_TRUE(engine::inline_taken_branches(*engine::testing::runtime(), placed, given->tensors));
  options.local.model = folder_ / "golden.onnx";
  ASSERT_TRUE(onnx::write_model(options.local.model, placed.model));
  std::string damaged;
  for (std::uint64_t channel = 0; channel < 4; ++channel) {
    const auto damage =
        engine::damage_weight(placed.model, placed.folder,
                              {.node = GetParam().node, .channel = channel, .factor = 30.0F});
    ASSERT_TRUE(damage) << damage.error().to_string();
    damaged = damage->node;
  }
  options.local.target_model = folder_ / "target.onnx";
  ASSERT_TRUE(onnx::write_model(options.local.target_model, placed.model));
  options.local.rule = OutputRule::parse("rel_l2=1e-3").value();
  options.local.end = GetParam().end;
  const auto report = bisect_locally(options);
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_EQ(report->whole.outcome, Outcome::bad) << report->whole.reason;
  ASSERT_EQ(report->suspects.size(), 1U);
  EXPECT_EQ(report->suspects[0].dump_name, damaged);
}

INSTANTIATE_TEST_SUITE_P(
    Bisect, RealModels,
    ::testing::Values(
        RealModel{"ocr-models/ch_PP-OCRv4_det_infer.onnx",
                  "",
                  "p2o.ConvTranspose.2",
                  {{"x:2", 64}, {"x:3", 64}}},
        RealModel{"ocr-models/ch_PP-OCRv4_rec_infer.onnx", "", "", {{"x:3", 64}}},
        RealModel{
            "ocr-models/ch_ppocr_mobile_v2.0_cls_infer.onnx", "", "", {{"x:2", 48}, {"x:3", 64}}},
        RealModel{"vad-models/silero_vad_legacy.onnx", "", "", {{"sequence", 512}}},
        RealModel{"vad-models/silero_vad_v5.onnx", "", "", {{"input:1", 512}, {"state:1", 1}}},
        RealModel{"wakeword-models/embedding_model.onnx", "", "", {}},
        RealModel{"wakeword-models/alexa_v0.1.onnx", "Gemm_1", "", {}},
        RealModel{"wakeword-models/melspectrogram.onnx", "", "", {{"samples", 4000}}}));

}  // namespace
}  // namespace opdrift::diagnose
