#include "opdrift/engine/dump.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "unit/engine/model_testing.hpp"
#include <nlohmann/json.hpp>

#include "opdrift/io/numpy/npy_reader.hpp"

namespace opdrift::engine {
namespace {

namespace onnx = io::onnx;
using io::testing::content_of;
using testing::body;
using testing::constant;
using testing::empty_model;
using testing::floats;
using testing::TempFolder;
using Json = nlohmann::json;

std::string write(const TempFolder& folder, const onnx::Model& model) {
  const std::string path = folder / "model.onnx";
  const Status status = onnx::write_model(path, model);
  EXPECT_TRUE(status);
  return path;
}

DumpOptions options_for(const TempFolder& folder, const onnx::Model& model) {
  DumpOptions options;
  options.model = write(folder, model);
  options.output_folder = folder / "dump";
  options.time_us = 1234567890123456;
  options.inputs.dims = {};
  return options;
}

DumpReport dump(const DumpOptions& options) {
  Result<DumpReport> report = dump_model(options);
  EXPECT_TRUE(report) << report.error().to_string();
  return report ? std::move(report).value() : DumpReport{};
}

Json manifest_of(const DumpOptions& options) {
  return Json::parse(content_of(options.output_folder + "/manifest.json"), nullptr, false);
}

/// File content by file name, manifest and mapping left out.
std::map<std::string, std::string> files_of(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".npy")) {
      files[name] = content_of(entry.path().string());
    }
  }
  return files;
}

std::vector<float> floats_in(const std::string& path) {
  const auto file = io::open_npy(path);
  EXPECT_TRUE(file) << file.error().to_string();
  const std::string text = file ? io::testing::elements_of(file->tensors[0]) : "";
  std::vector<float> values(text.size() / sizeof(float));
  std::copy_n(text.data(), values.size() * sizeof(float), reinterpret_cast<char*>(values.data()));
  return values;
}

std::string give(const TempFolder& folder, const std::vector<float>& values) {
  return folder.file("x.bin", io::testing::text_of(values));
}

// x = (1, 5, -1), c = (0.1, -2, 0.25): s = x + c, r = max(s, 0), y = r * r, in float by hand.
TEST(DumpModel, WritesEveryOperatorAndTheInputs) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TempFolder folder;
  DumpOptions options = options_for(folder, testing::small_model());
  options.inputs.files = {{"x", give(folder, {1, 5, -1})}};
  const DumpReport report = dump(options);
  EXPECT_EQ(report.files, 4U);
  EXPECT_TRUE(report.complete);
  ASSERT_EQ(report.checks.size(), 1U);
  EXPECT_TRUE(report.checks[0].equal);
  const std::string base = options.output_folder + "/";
  const std::string time = ".0.1234567890123456.npy";
  EXPECT_EQ(floats_in(base + "x" + time), (std::vector<float>{1, 5, -1}));
  EXPECT_EQ(floats_in(base + "first" + time), (std::vector<float>{1 + 0.1F, 3, -0.75F}));
  EXPECT_EQ(floats_in(base + "a_b_c" + time), (std::vector<float>{1 + 0.1F, 3, 0}));
  EXPECT_EQ(floats_in(base + "Mul_2" + time), (std::vector<float>{(1 + 0.1F) * (1 + 0.1F), 9, 0}));
}

TEST(DumpModel, ManifestNamesOperatorsInOrderWithTheirFiles) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TempFolder folder;
  const DumpOptions options = options_for(folder, testing::small_model());
  dump(options);
  const Json manifest = manifest_of(options);
  ASSERT_FALSE(manifest.is_discarded());
  EXPECT_EQ(manifest["schema"], "opdrift.dump");
  const Json& middle = manifest["operators"][1];
  EXPECT_EQ(middle["order"], 2);
  EXPECT_EQ(middle["name"], "a/b.c");
  EXPECT_EQ(middle["inputs"], Json::array({"s"}));
  EXPECT_EQ(middle["outputs"][0]["tensor"], "r");
  EXPECT_EQ(middle["outputs"][0]["file"], "a_b_c.0.1234567890123456.npy");
  EXPECT_EQ(middle["outputs"][0]["shape"], Json::array({1, 3}));
  EXPECT_EQ(manifest["constants"][0]["name"], "c");
  EXPECT_EQ(manifest["outputs"], Json::array({"y"}));
  EXPECT_TRUE(manifest["observer"]["outputs_equal"].get<bool>());
}

TEST(DumpModel, TwoRunsGiveTheSameFiles) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TempFolder folder;
  DumpOptions options = options_for(folder, testing::small_model());
  options.inputs.seed = 3;
  dump(options);
  const auto first = files_of(options.output_folder);
  options.output_folder = folder / "again";
  dump(options);
  EXPECT_EQ(first, files_of(options.output_folder));
  EXPECT_EQ(first.size(), 4U);
}

// Relu works in the memory of its input once nobody else reads that; the dump has to be sooner.
TEST(DumpModel, ValuesAreWrittenBeforeTheirMemoryIsUsedAgain) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TempFolder folder;
  onnx::Model model = empty_model();
  model.graph.inputs = {floats("x", {{4, ""}})};
  model.graph.nodes = {onnx::make_node("Neg", "neg", {"x"}, {"a"}),
                       onnx::make_node("Relu", "relu", {"a"}, {"b"}),
                       onnx::make_node("Neg", "back", {"b"}, {"y"})};
  model.graph.outputs = {floats("y", {{4, ""}})};
  DumpOptions options = options_for(folder, model);
  options.inputs.files = {{"x", give(folder, {1, -2, 3, -4})}};
  dump(options);
  const auto values = [&](const std::string& name) {
    return floats_in(options.output_folder + "/" + name + ".0.1234567890123456.npy");
  };
  EXPECT_EQ(values("neg"), (std::vector<float>{-1, 2, -3, 4}));
  EXPECT_EQ(values("relu"), (std::vector<float>{0, 2, 0, 4}));
  EXPECT_EQ(values("back"), (std::vector<float>{-0.0F, -2, -0.0F, -4}));
}

/// NonZero makes as many columns as its input has values that are not zero.
onnx::Model data_dependent_model() {
  onnx::Model model = empty_model();
  model.graph.inputs = {floats("x", {{4, ""}})};
  model.graph.nodes = {
      onnx::make_node("NonZero", "nz", {"x"}, {"i"}),
      onnx::make_node("Cast", "cast", {"i"}, {"y"}, {onnx::make_attribute("to", std::int64_t{1})})};
  model.graph.outputs = {floats("y", {{1, ""}, {std::nullopt, "k"}})};
  return model;
}

// Two of four values are not zero: 2 * 8 bytes of indexes and 2 * 4 bytes of floats.
TEST(DumpModel, SizesThatOnlyARunCanTellAreCounted) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TempFolder folder;
  DumpOptions options = options_for(folder, data_dependent_model());
  options.inputs.files = {{"x", give(folder, {0, 7, 0, 7})}};
  const DumpReport report = dump(options);
  EXPECT_EQ(report.estimated_bytes, 24U);
  EXPECT_EQ(floats_in(options.output_folder + "/cast.0.1234567890123456.npy"),
            (std::vector<float>{1, 3}));
}

// Two indexes do not fill seven places, which only the run can find out.
TEST(DumpModel, ARunThatFailsNamesTheModel) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TempFolder folder;
  onnx::Model model = data_dependent_model();
  model.graph.nodes[1] = onnx::make_node("Reshape", "shape", {"i", "seven"}, {"y"});
  model.graph.initializers = {constant("seven", {1}, std::vector<std::int64_t>{7})};
  model.graph.outputs = {onnx::make_value_info("y", 7)};
  for (const bool check : {true, false}) {
    DumpOptions options = options_for(folder, model);
    options.output_folder += check ? "1" : "2";
    options.check_outputs = check;
    options.inputs.files = {{"x", give(folder, {0, 7, 0, 7})}};
    const auto report = dump_model(options);
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().path, options.model);
  }
}

TEST(DumpModel, DynamicExtentsFollowTheOptions) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TempFolder folder;
  DumpOptions options = options_for(folder, testing::small_model());
  options.inputs.dims = {{"n", 6}};
  dump(options);
  EXPECT_EQ(manifest_of(options)["operators"][2]["outputs"][0]["shape"], Json::array({6, 3}));
}

onnx::Model branching_model() {
  const auto branch = [](const std::string& op) {
    onnx::Graph graph;
    graph.nodes = {onnx::make_node(op, "", {"x"}, {op + "_out"})};
    graph.outputs = {floats(op + "_out", {{2, ""}})};
    io::ProtobufField name;
    name.number = 2;
    name.type = io::WireType::bytes;
    name.bytes = as_bytes("branch");
    graph.unknown.push_back({name, nullptr});
    return graph;
  };
  onnx::Model model = empty_model();
  model.graph.inputs = {floats("x", {{2, ""}}), onnx::make_value_info("cond", testing::kBool, {})};
  model.graph.nodes = {
      onnx::make_node("If", "choice", {"cond"}, {"y"},
                      {body("then_branch", branch("Neg")), body("else_branch", branch("Relu"))})};
  model.graph.outputs = {floats("y", {{2, ""}})};
  return model;
}

// Made-up booleans are true, so the first branch runs.
TEST(DumpModel, BodiesAreListedAsNotDumped) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TempFolder folder;
  DumpOptions options = options_for(folder, branching_model());
  options.inputs.files = {{"x", give(folder, {1, -2})}};
  const DumpReport report = dump(options);
  EXPECT_EQ(floats_in(options.output_folder + "/choice.0.1234567890123456.npy"),
            (std::vector<float>{-1, 2}));
  ASSERT_EQ(report.skipped.size(), 2U);
  EXPECT_EQ(report.skipped[0].tensor, "Neg_out");
  EXPECT_EQ(report.skipped[0].reason, "inside a body of If 'choice'");
}

// The library saves constants of bodies twice and then refuses what it saved.
TEST(DumpModel, AnOptimisedModelMayHaveConstantsInBodies) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TempFolder folder;
  const auto branch = [](const std::string& op) {
    onnx::Graph graph;
    graph.initializers = {constant(op + "_by", {2}, std::vector<float>{3, 4})};
    graph.nodes = {onnx::make_node(op, "", {"x", op + "_by"}, {op + "_out"})};
    graph.outputs = {floats(op + "_out", {{2, ""}})};
    io::ProtobufField name;
    name.number = 2;
    name.type = io::WireType::bytes;
    name.bytes = as_bytes("branch");
    graph.unknown.push_back({name, nullptr});
    return graph;
  };
  onnx::Model model = branching_model();
  model.graph.nodes = {
      onnx::make_node("If", "choice", {"cond"}, {"y"},
                      {body("then_branch", branch("Mul")), body("else_branch", branch("Add"))})};
  DumpOptions options = options_for(folder, model);
  options.inputs.files = {{"x", give(folder, {1, -2})}};
  options.optimization = Optimization::extended;
  EXPECT_TRUE(dump(options).outputs_equal());
  EXPECT_EQ(floats_in(options.output_folder + "/choice.0.1234567890123456.npy"),
            (std::vector<float>{3, -8}));
}

TEST(DumpModel, SequencesAreListedWithTheReason) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TempFolder folder;
  onnx::Model model = empty_model();
  model.graph.inputs = {floats("x", {{2, ""}})};
  model.graph.initializers = {constant("zero", {}, std::vector<std::int64_t>{0})};
  model.graph.nodes = {onnx::make_node("SequenceConstruct", "make", {"x", "x"}, {"list"}),
                       onnx::make_node("SequenceAt", "take", {"list", "zero"}, {"y"})};
  model.graph.outputs = {floats("y", {{2, ""}})};
  const DumpOptions options = options_for(folder, model);
  const DumpReport report = dump(options);
  EXPECT_EQ(report.files, 2U);
  ASSERT_EQ(report.skipped.size(), 1U);
  EXPECT_EQ(report.skipped[0].reason, "a sequence, not a tensor");
  EXPECT_EQ(manifest_of(options)["operators"][0]["outputs"][0]["skipped"],
            "a sequence, not a tensor");
}

// Clip without a lower limit: the empty name stands for the absent input.
TEST(DumpModel, AbsentOptionalInputsAreNotTensors) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TempFolder folder;
  onnx::Model model = empty_model();
  model.graph.inputs = {floats("x", {{2, ""}})};
  model.graph.initializers = {constant("high", {}, std::vector<float>{0.5F})};
  model.graph.nodes = {onnx::make_node("Clip", "clip", {"x", "", "high"}, {"y"})};
  model.graph.outputs = {floats("y", {{2, ""}})};
  const DumpOptions options = options_for(folder, model);
  EXPECT_EQ(dump(options).files, 2U);
  EXPECT_EQ(manifest_of(options)["operators"][0]["inputs"], Json::array({"x", "", "high"}));
}

TEST(DumpModel, LongChineseNamesAreMapped) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TempFolder folder;
  std::string name;
  for (int i = 0; i < 100; ++i) {
    name += "层";
  }
  const DumpOptions options = options_for(folder, testing::small_model(name));
  dump(options);
  const std::string file = manifest_of(options)["operators"][1]["outputs"][0]["file"];
  EXPECT_TRUE(std::filesystem::exists(options.output_folder + "/" + file));
  EXPECT_EQ(content_of(options.output_folder + "/mapping.csv"),
            file + "," + name + ".0.1234567890123456.npy\n");
}

onnx::Tensor outside_data(const std::string& name, std::uint64_t count,
                          const std::string& location) {
  io::ProtobufWriter writer;
  writer.varint(1, count);
  writer.varint(2, testing::kFloat);
  writer.text(8, name);
  io::ProtobufWriter entry;
  entry.text(1, "location");
  entry.text(2, location);
  writer.message(13, entry);
  writer.varint(14, 1);
  onnx::Tensor tensor;
  tensor.name = name;
  tensor.message = own_bytes(writer.take());
  return tensor;
}

onnx::Model model_with_external(const std::string& location) {
  onnx::Model model = testing::small_model();
  model.graph.initializers = {outside_data("c", 3, location)};
  return model;
}

// c = (1, 2, 3) from the file, x = 0: s = c. In bf16 the weights are rounded on the way.
TEST(DumpModel, ExternalDataBesideTheModelIsUsed) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TempFolder folder;
  (void)folder.file("weights.data", io::testing::text_of(std::vector<float>{1, 2, 257}));
  DumpOptions options = options_for(folder, model_with_external("weights.data"));
  options.inputs.files = {{"x", give(folder, {0, 0, 0})}};
  dump(options);
  EXPECT_EQ(floats_in(options.output_folder + "/first.0.1234567890123456.npy"),
            (std::vector<float>{1, 2, 257}));
  options.output_folder = folder / "narrow";
  options.precision = Precision::bf16;
  dump(options);
  const Json first = manifest_of(options)["operators"][0]["outputs"][0];
  EXPECT_EQ(first["dtype"], "bfloat16");
  // 1, 2 and 256 (257 rounded) as bf16 bit patterns.
  EXPECT_TRUE(content_of(options.output_folder + "/" + first["file"].get<std::string>())
                  .ends_with(std::string("\x80\x3f\x00\x40\x80\x43", 6)));
}

TEST(DumpModel, ExternalDataOutsideTheFolderIsRefused) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TempFolder folder;
  DumpOptions options = options_for(folder, model_with_external("../weights.data"));
  const auto report = dump_model(options);
  EXPECT_FALSE(report);
}

// 2049 = 2048 + 1 needs 12 significant bits; f16 has 11, and the tie goes to the even 2048. Without
// rounding between them the two Adds would give 2050.
TEST(DumpModel, ReducedPrecisionRoundsBetweenOperators) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TempFolder folder;
  onnx::Model model = empty_model();
  model.graph.inputs = {floats("x", {{1, ""}})};
  model.graph.initializers = {constant("one", {1}, std::vector<float>{1})};
  model.graph.nodes = {onnx::make_node("Add", "a", {"x", "one"}, {"s"}),
                       onnx::make_node("Add", "b", {"s", "one"}, {"y"})};
  model.graph.outputs = {floats("y", {{1, ""}})};
  DumpOptions options = options_for(folder, model);
  options.inputs.files = {{"x", give(folder, {2048})}};
  options.precision = Precision::fp16;
  const DumpReport report = dump(options);
  EXPECT_TRUE(report.outputs_equal());
  const Json last = manifest_of(options)["operators"][1]["outputs"][0];
  EXPECT_EQ(last["dtype"], "float16");
  // 2048 as f16 is 0x6800.
  EXPECT_TRUE(content_of(options.output_folder + "/" + last["file"].get<std::string>())
                  .ends_with(std::string("\x00\x68", 2)));
}

// Operator set 9 has no Cast to bfloat16, so opdrift's own operator rounds: 257 is 256 in bf16.
TEST(DumpModel, OldModelsRunInBfloat16) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TempFolder folder;
  onnx::Model model = empty_model(9);
  model.graph.inputs = {floats("x", {{1, ""}})};
  model.graph.nodes = {onnx::make_node("Add", "a", {"x", "x"}, {"s"}),
                       onnx::make_node("Relu", "b", {"s"}, {"y"})};
  model.graph.outputs = {floats("y", {{1, ""}})};
  DumpOptions options = options_for(folder, model);
  options.inputs.files = {{"x", give(folder, {129})}};
  options.precision = Precision::bf16;
  dump(options);
  const Json sum = manifest_of(options)["operators"][0]["outputs"][0];
  // 129 is a bf16 number; 258 = 256 + 2 is one too: 0x4381.
  EXPECT_TRUE(content_of(options.output_folder + "/" + sum["file"].get<std::string>())
                  .ends_with(std::string("\x81\x43", 2)));
  EXPECT_EQ(content_of(options.output_folder + "/" + sum["file"].get<std::string>() + ".json"),
            "{\"dtype\":\"bfloat16\",\"shape\":[1]}\n");
}

// Conv + Relu is fused into one operator of the library's from level `extended` on.
TEST(DumpModel, FusedOperatorsNameTheirOriginals) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TempFolder folder;
  onnx::Model model = empty_model();
  model.graph.inputs = {floats("x", {{1, ""}, {1, ""}, {2, ""}, {2, ""}})};
  model.graph.initializers = {constant("w", {1, 1, 1, 1}, std::vector<float>{2})};
  model.graph.nodes = {onnx::make_node("Conv", "conv", {"x", "w"}, {"c"}),
                       onnx::make_node("Relu", "relu", {"c"}, {"y"})};
  model.graph.outputs = {floats("y", {{1, ""}, {1, ""}, {2, ""}, {2, ""}})};
  DumpOptions options = options_for(folder, model);
  options.optimization = Optimization::extended;
  const DumpReport report = dump(options);
  EXPECT_TRUE(report.outputs_equal());
  const Json manifest = manifest_of(options);
  ASSERT_EQ(manifest["operators"].size(), 1U);
  EXPECT_EQ(manifest["operators"][0]["type"], "FusedConv");
  EXPECT_EQ(manifest["operators"][0]["originals"], Json::array({"conv", "relu"}));
  EXPECT_EQ(manifest["operators"][0]["outputs"][0]["tensor"], "y");
}

// The optimiser pushes the first Transpose behind Relu, where both cancel: Relu now makes y.
TEST(DumpModel, OperatorsThatTransposesWereMovedPastKeepTheValueNames) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TempFolder folder;
  onnx::Model model = empty_model();
  const std::vector<std::int64_t> swap{0, 2, 1};
  model.graph.inputs = {floats("x", {{1, ""}, {2, ""}, {3, ""}})};
  model.graph.nodes = {
      onnx::make_node("Transpose", "t1", {"x"}, {"t"}, {onnx::make_attribute("perm", swap)}),
      onnx::make_node("Relu", "relu", {"t"}, {"r"}),
      onnx::make_node("Transpose", "t2", {"r"}, {"y"}, {onnx::make_attribute("perm", swap)})};
  model.graph.outputs = {floats("y", {{1, ""}, {2, ""}, {3, ""}})};
  DumpOptions options = options_for(folder, model);
  options.optimization = Optimization::extended;
  EXPECT_TRUE(dump(options).outputs_equal());
  const Json operators = manifest_of(options)["operators"];
  ASSERT_EQ(operators.size(), 1U);
  EXPECT_EQ(operators[0]["outputs"][0]["tensor"], "y");
  EXPECT_EQ(operators[0]["originals"], Json::array({"t1", "relu", "t2"}));
}

TEST(DumpModel, OnlyLimitsWhatIsWritten) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TempFolder folder;
  DumpOptions options = options_for(folder, testing::small_model());
  options.only = "^fir";
  const DumpReport report = dump(options);
  EXPECT_EQ(report.files, 2U);
  EXPECT_EQ(report.checks.size(), 1U);
  EXPECT_EQ(manifest_of(options)["operators"][2]["outputs"][0]["skipped"],
            "not asked for (--only)");
}

TEST(DumpModel, AnExpressionThatMatchesNothingIsAnError) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TempFolder folder;
  DumpOptions options = options_for(folder, testing::small_model());
  options.only = "nothing like that";
  EXPECT_FALSE(dump_model(options));
  options.only = "(";
  EXPECT_FALSE(dump_model(options));
}

TEST(DumpModel, AFolderWithADumpIsOnlyReplacedWhenAsked) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TempFolder folder;
  DumpOptions options = options_for(folder, testing::small_model());
  dump(options);
  options.only = "first";
  EXPECT_FALSE(dump_model(options));
  options.overwrite = true;
  dump(options);
  EXPECT_EQ(files_of(options.output_folder).size(), 2U);
}

TEST(DumpModel, ACancelledDumpIsMarked) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TempFolder folder;
  DumpOptions options = options_for(folder, testing::small_model());
  CancelFlag cancel;
  options.cancel = &cancel;
  options.progress = [&](const DumpProgress& progress) {
    if (progress.done == 1) {
      cancel.cancel();
    }
  };
  const DumpReport report = dump(options);
  EXPECT_FALSE(report.complete);
  const Json manifest = manifest_of(options);
  EXPECT_FALSE(manifest["complete"].get<bool>());
  EXPECT_EQ(manifest["operators"][2]["outputs"][0]["skipped"], "the run was interrupted");
}

TEST(DumpModel, NothingButTheDumpIsLeftBehind) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TempFolder folder;
  DumpOptions options = options_for(folder, testing::small_model());
  options.optimization = Optimization::extended;
  options.precision = Precision::fp16;
  dump(options);
  for (const auto& entry : std::filesystem::directory_iterator(options.output_folder)) {
    EXPECT_FALSE(entry.is_directory()) << entry.path();
  }
}

TEST(DumpModel, AModelThatIsNoneIsNamed) {
  const TempFolder folder;
  DumpOptions options;
  options.model = folder.file("text.onnx", "not a model at all");
  options.output_folder = folder / "dump";
  const auto report = dump_model(options);
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().to_string().find("text.onnx"), std::string::npos);
}

}  // namespace
}  // namespace opdrift::engine
