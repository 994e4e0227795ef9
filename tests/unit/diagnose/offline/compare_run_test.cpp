#include "opdrift/diagnose/offline/compare_run.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "unit/diagnose/offline/offline_testing.hpp"
#include "unit/diagnose/offline/stand_ins.hpp"

#include "opdrift/diagnose/offline/device_dumps.hpp"
#include "opdrift/diagnose/offline/dump_run.hpp"
#include "opdrift/diagnose/offline/golden_run.hpp"
#include "opdrift/diagnose/offline/net_compare.hpp"
#include "opdrift/diagnose/offline/result_table.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/io/numpy/npy_writer.hpp"

namespace opdrift::diagnose::offline {
namespace {

using namespace opdrift::diagnose::testing;  // NOLINT
using tensor::DType;

/// A model, its inputs, and a device that never was.
struct Case {
  TempFolder folder;
  CompareOptions options;
  std::string printed;
  tensor::Shape shape;

  /// `graph_dims`: of the input as the offline model has it, the same unless told.
  Case(const std::string& model, tensor::Shape input_shape,
       const std::string& command = "atc --model=m.onnx", std::vector<std::int64_t> graph_dims = {})
      : shape(std::move(input_shape)) {
    ::setenv("PATH", "/nowhere", 1);  // no programs of a device
    options.golden_model = model;
    const auto opened = onnx::open_model(model);
    EXPECT_TRUE(opened);
    if (graph_dims.empty()) {
      graph_dims.assign(shape.begin(), shape.end());
    }
    const DeviceGraph graph(opened->graph, graph_dims, command);
    options.target_model = graph.write(folder / "m.json");
    options.output = folder / "out";
    options.again = "opdrift again";
    options.print = [this](const std::string& text) { printed += text; };
    std::vector<double> values;
    for (std::uint64_t i = 0; i < *tensor::element_count(shape); ++i) {
      values.push_back(static_cast<double>((i * 37) % 101) / 101.0);
    }
    auto writer = io::NpyWriter::create(folder / "x.npy", DType::f32, shape);
    EXPECT_TRUE(writer->write(bytes_of(DType::f32, values)));
    EXPECT_TRUE(writer->finish());
    options.inputs = {folder / "x.npy"};
  }

  /// Dumps of the device in `place`, made of a golden run of their own.
  void dump_device(const std::string& place, const Damage& damage = {},
                   std::vector<engine::InputFile> inputs = {}) const {
    GoldenRun run;
    run.model = options.golden_model;
    run.dump_folder = folder / "own/dump";
    run.model_folder = folder / "own/model";
    run.inputs = inputs.empty() ? std::vector<engine::InputFile>{{"", folder / "x.npy"}} : inputs;
    const auto golden = run_golden(run);
    ASSERT_TRUE(golden) << golden.error().error.to_string();
    dump_like_device(run.dump_folder, place, damage);
  }

  CompareEnd compare() const {
    const auto end = compare_offline(options);
    EXPECT_TRUE(end) << end.error().error.to_string();
    return end ? *end : CompareEnd{};
  }
};

std::string small_model_file() {
  static const TempFolder folder;
  const std::string path = folder / "small.onnx";
  EXPECT_TRUE(onnx::write_model(path, io::testing::small_model()));
  return path;
}

struct SmallCase : Case {
  SmallCase() : Case(small_model_file(), {2, 3}) {}
  SmallCase(const std::string& command, std::vector<std::int64_t> graph_dims)
      : Case(small_model_file(), {2, 3}, command, std::move(graph_dims)) {}
};

/// A column by TensorIndex; "NaN" is the row of the operator NetOutput, which no device dumps.
std::map<std::string, std::string> by_tensor(const std::string& csv,
                                             const std::string& column = "IsPrecisionError") {
  const auto table = read_result_table(csv);
  EXPECT_TRUE(table) << csv;
  const ResultRows rows(*table);
  std::map<std::string, std::string> found;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    found[rows.cell(i, "TensorIndex")] = rows.cell(i, column);
  }
  return found;
}

TEST(CompareOffline, ExistingDumpsAreComparedAtOnce) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  SmallCase small;
  small.options.target_dump = small.folder / "npu";
  small.dump_device(small.options.target_dump);
  const CompareEnd end = small.compare();
  ASSERT_EQ(end.results.size(), 1U);
  EXPECT_EQ(small.printed, "None operator with accuracy issue reported\n");
  const auto rows = by_tensor(end.results[0]);
  EXPECT_EQ(rows.size(), 5U);
  EXPECT_EQ(rows.at("Mul_2:output:0"), "NO");
  EXPECT_EQ(rows.at("x:output:0"), "NO");
  const auto outputs = by_tensor(end.results[0], "IsOutputNode");
  EXPECT_EQ(outputs.at("Mul_2:output:0"), "YES");
  EXPECT_EQ(outputs.at("first:output:0"), "NO");
}

TEST(CompareOffline, AWrongOperatorIsNamedAndAdvised) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  SmallCase small;
  small.options.target_dump = small.folder / "npu";
  small.options.advisor = true;
  small.dump_device(small.options.target_dump,
                    [](const std::string& name, std::vector<double>& values) {
                      if (name == "a_b_c") {
                        std::reverse(values.begin(), values.end());
                        values[0] += 5.0;
                      }
                    });
  const CompareEnd end = small.compare();
  EXPECT_NE(small.printed.find("a/b.c"), std::string::npos) << small.printed;
  EXPECT_EQ(by_tensor(end.results[0]).at("a/b.c:output:0"), "YES");
  EXPECT_EQ(content_of(end.folder + "/advisor_summary.txt").find("Detection Type: Global"), 0U);
}

TEST(CompareOffline, WithoutDumpsItWaitsAndGoesOnWhenTheyAppear) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  SmallCase small;
  small.options.inputs.clear();
  small.options.input_shape = "x:2,3";
  const CompareEnd waiting = small.compare();
  ASSERT_TRUE(waiting.waiting);
  EXPECT_TRUE(fs::exists(waiting.folder + "/run_on_device.sh"));
  EXPECT_TRUE(small.compare().waiting);
  small.dump_device(waiting.folder + "/dump_data/npu/2024/0/m/1/0", {},
                    {{"x", waiting.folder + "/golden_input/0.npy"}});
  const CompareEnd end = small.compare();
  EXPECT_FALSE(end.waiting);
  EXPECT_EQ(end.folder, waiting.folder);
  ASSERT_EQ(end.results.size(), 1U);
  EXPECT_EQ(by_tensor(end.results[0]).at("x:output:0"), "NO");
  EXPECT_NE(small.compare().folder, waiting.folder);
}

TEST(CompareOffline, OnlyOutputsOfTheNetWithoutDumps) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  SmallCase small;
  small.options.dump = false;
  small.options.target_dump = small.folder / "npu";
  fs::create_directories(small.folder / "npu");
  GoldenRun run;
  run.model = small.options.golden_model;
  run.dump_folder = small.folder / "own";
  run.model_folder = small.folder / "own-model";
  run.inputs = {{"", small.folder / "x.npy"}};
  const auto golden = run_golden(run);
  ASSERT_TRUE(golden);
  const std::vector<std::byte> bytes = bytes_of(DType::f32, values_of(golden->net_outputs[0]));
  ASSERT_TRUE(io::write_file(small.folder / "npu/output_0.bin", as_text(bytes)));
  const CompareEnd end = small.compare();
  const auto table = read_result_table(end.results.at(0));
  ASSERT_TRUE(table);
  const ResultRows rows(*table);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows.cell(0, "CosineSimilarity"), "1.000000");
  EXPECT_EQ(rows.cell(0, "CompareFailReason"), "");
  EXPECT_EQ(shape_of(end.folder + "/output_0.npy"), (tensor::Shape{2, 3}));
  ASSERT_TRUE(io::write_file(small.folder / "npu/output_0.bin", "short"));
  const auto again = read_result_table(small.compare().results.at(0));
  EXPECT_NE(ResultRows(*again).cell(0, "CompareFailReason").find("expected 24 bytes"),
            std::string::npos);
}

TEST(CompareOffline, EveryShapeOfARangeHasItsFolderAndSheet) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  SmallCase small("atc --input_shape=x:1~8,3", {-1, 3});
  small.options.inputs.clear();
  small.options.shape_range = "x:1-2,3";
  const CompareEnd waiting = small.compare();
  ASSERT_TRUE(waiting.waiting);
  const std::string script = content_of(waiting.folder + "/run_on_device.sh");
  EXPECT_NE(script.find("--dymShape x:1,3"), std::string::npos) << script;
  EXPECT_NE(script.find("--dymShape x:2,3"), std::string::npos);
  for (const char* name : {"x-1_3", "x-2_3"}) {
    const std::string folder = waiting.folder + "/" + name;
    small.dump_device(folder + "/dump_data/npu", {}, {{"x", folder + "/golden_input/0.npy"}});
  }
  const CompareEnd end = small.compare();
  EXPECT_EQ(end.results.size(), 2U);
  EXPECT_TRUE(fs::exists(end.folder + "/result_summary.xlsx"));
}

TEST(CompareOffline, TwoOfflineModelsAreComparedByTheirDumps) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  SmallCase small;
  small.options.target_dump = small.folder / "npu";
  small.options.golden_dump = small.folder / "off";
  small.dump_device(small.options.target_dump);
  small.dump_device(small.options.golden_dump);
  small.options.golden_model = small.folder / "off.json";
  fs::copy_file(small.options.target_model, small.options.golden_model);
  small.options.convert = true;
  const CompareEnd end = small.compare();
  const auto rows = by_tensor(end.results.at(0));
  EXPECT_EQ(rows.at("Mul_2:output:0"), "NO");
  EXPECT_TRUE(fs::exists(small.folder / "npu_bin2npy"));
}

TEST(CompareOffline, TwoFoldersAndARuleNeedNoModel) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  SmallCase small;
  small.dump_device(small.folder / "npu");
  CompareOptions options;
  options.target_path = small.folder / "npu";
  options.golden_path = small.folder / "own/dump";
  options.rule = small.options.target_model;
  options.output = small.folder / "paths";
  const auto end = compare_offline(options);
  ASSERT_TRUE(end) << end.error().error.to_string();
  EXPECT_EQ(by_tensor(end->results.at(0)).size(), 5U);
}

TEST(CompareOffline, ARealModelIsComparedOperatorByOperator) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  if (classifier().empty()) {
    GTEST_SKIP() << "the models of the set-up are not installed";
  }
  Case real(classifier(), {1, 3, 48, 192});
  real.options.target_dump = real.folder / "npu";
  real.dump_device(real.options.target_dump);
  const CompareEnd end = real.compare();
  const auto rows = by_tensor(end.results.at(0));
  EXPECT_GT(rows.size(), 100U);
  const auto wrong = [](const auto& row) { return row.second == "YES"; };
  EXPECT_EQ(std::count_if(rows.begin(), rows.end(), wrong), 0) << real.printed;
}

TEST(CompareOffline, AFusionSwitchBuildsTheGoldenModelAnew) {
  SmallCase small("atc --model=m.onnx --soc_version=Ascend310P3 --input_shape=x:2,3", {2, 3});
  small.options.fusion_switch = small.folder.file("off.cfg", "{}");
  const CompareEnd waiting = small.compare();
  ASSERT_TRUE(waiting.waiting);
  const std::string script = content_of(waiting.folder + "/run_on_device.sh");
  EXPECT_NE(script.find("\natc --framework=5 --soc_version=Ascend310P3 --model="),
            std::string::npos)
      << script;
  EXPECT_NE(script.find("--output=close_fusion_om_model --fusion_switch_file="), std::string::npos);
  EXPECT_NE(script.find("off.cfg --input_shape=x:2,3\n"), std::string::npos) << script;
  EXPECT_NE(script.find("--model close_fusion_om_model.om "), std::string::npos) << script;
}

TEST(CompareOffline, AFusionSwitchIsComparedWithItsOwnDumps) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  SmallCase small("atc --model=m.onnx --soc_version=Ascend310P3 --input_shape=x:2,3", {2, 3});
  small.options.fusion_switch = small.folder.file("off.cfg", "{}");
  small.options.tool_kit = small.folder / "kit";
  small.options.target_dump = small.folder / "npu";
  small.options.golden_dump = small.folder / "off";
  small.dump_device(small.options.target_dump);
  small.dump_device(small.options.golden_dump);
  write_program(small.folder / "kit/compiler/bin/atc",
                std::string(kReadOptions) +
                    "echo built\n[ -e \"$opt_fusion_switch_file\" ] && /bin/cp " +
                    small.options.target_model + " \"$opt_output.om\"\n");
  const CompareEnd end = small.compare();
  ASSERT_EQ(end.results.size(), 1U);
  EXPECT_EQ(by_tensor(end.results[0]).at("Mul_2:output:0"), "NO");
  EXPECT_TRUE(fs::exists(end.folder + "/close_fusion_om_model.om"));
  EXPECT_EQ(content_of(end.folder + "/atc.log"), "built\n");
  write_program(small.folder / "kit/compiler/bin/atc", "exit 1\n");
  const auto failed = compare_offline(small.options);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().number, Number::atc_failed);
}

TEST(CompareOffline, AGoldenModelThatCannotBeRunTakesPartWithItsDumps) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  SmallCase small;
  small.options.target_dump = small.folder / "npu";
  small.dump_device(small.options.target_dump);
  small.options.golden_model = small.folder.file("frozen.pb", "x");
  const auto refused = compare_offline(small.options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().number, Number::not_supported);
  EXPECT_NE(refused.error().error.message.find("--golden-dump"), std::string::npos);
  EXPECT_NE(refused.error().error.message.find("tf2onnx.convert --graphdef"), std::string::npos);
  small.options.golden_dump = small.folder / "own/dump";
  EXPECT_EQ(by_tensor(small.compare().results.at(0)).size(), 5U);
}

// The error of the middle operator is its own: alone it is as bad as in the network.
TEST(CompareOffline, LocatGoesOnFromTheTableAndWaitsForItsProbes) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  SmallCase small;
  small.options.localise = true;
  small.options.target_dump = small.folder / "npu";
  small.dump_device(small.options.target_dump, [](const std::string& name, auto& values) {
    values[0] += name == "a_b_c" ? 50.0 : 0.0;
  });
  const CompareEnd waiting = small.compare();
  ASSERT_TRUE(waiting.waiting);
  EXPECT_EQ(waiting.results.size(), 1U);
  const std::string probe = waiting.folder + "/locat/0/probe_1";
  std::ofstream(probe + "/device.om") << "built";
  fs::create_directories(probe + "/result");
  const std::vector<std::byte> bytes = bytes_of(DType::f32, std::vector<double>{50, 0, 0, 0, 0, 0});
  ASSERT_TRUE(io::write_file(probe + "/result/out_0.bin", as_text(bytes)));
  const CompareEnd end = small.compare();
  EXPECT_FALSE(end.waiting);
  EXPECT_EQ(content_of(end.folder + "/error_interval_info.txt"), "a/b.c:a/b.c\n");
}

TEST(CompareOffline, SingleOpNeedsNoDumpsOfTheWholeNetwork) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  SmallCase small;
  small.options.single_op = true;
  const CompareEnd waiting = small.compare();
  ASSERT_TRUE(waiting.waiting);
  EXPECT_FALSE(fs::exists(waiting.folder + "/dump_data/npu"));
  const std::string part = waiting.folder + "/single_op/0_broken";
  fs::copy_file(small.options.target_model, part + "/0_broken.om");
  small.dump_device(part + "/dump_data/npu/1");
  const CompareEnd end = small.compare();
  EXPECT_EQ(end.results.at(0), end.folder + "/single_op/single_op_summary.csv");
  EXPECT_EQ(by_tensor(end.results[0]).at("first:output:0"), "NO");
}

TEST(CheckOptions, ContradictionsHaveTheirNumbers) {
  const auto number_of_check = [](const std::function<void(CompareOptions&)>& change) {
    CompareOptions options;
    change(options);
    const Done checked = check_options(options);
    return checked ? 0 : static_cast<int>(checked.error().number);
  };
  EXPECT_EQ(number_of_check([](auto&) {}), 0);
  EXPECT_EQ(number_of_check([](auto& o) { o.dump = false, o.convert = true; }), 4);
  EXPECT_EQ(number_of_check([](auto& o) { o.dump = false, o.custom_op = "RoiExtractor"; }), 4);
  EXPECT_EQ(number_of_check([](auto& o) { o.dump = false, o.localise = true; }), 4);
  EXPECT_EQ(number_of_check([](auto& o) { o.dump = false, o.single_op = true; }), 1);
  EXPECT_EQ(number_of_check([](auto& o) { o.single_op = true, o.localise = true; }), 1);
  EXPECT_EQ(number_of_check([](auto& o) { o.single_op = true, o.custom_op = "RoiExtractor"; }), 1);
  EXPECT_EQ(number_of_check(
                [](auto& o) { o.single_op = true, o.rule = o.target_path = o.golden_path = "x"; }),
            1);
  EXPECT_EQ(number_of_check([](auto& o) { o.device = "256"; }), 17);
  EXPECT_EQ(number_of_check([](auto& o) { o.max_elements = -1; }), 1);
  EXPECT_EQ(number_of_check([](auto& o) { o.rule = "g.json"; }), 1);
  EXPECT_EQ(number_of_check([](auto& o) { o.shape_range = "x:1~2~0"; }), 1);
  EXPECT_EQ(number_of_check([](auto& o) { o.fusion_switch = "off.json"; }), 1);
}

TEST(CompareOffline, PathsAndKindsOfModelsHaveTheirNumbers) {
  const TempFolder folder;
  const std::string model = small_model_file();
  CompareOptions options;
  options.output = folder / "out";
  const auto number = [&](const std::string& golden, const std::string& target) {
    options.golden_model = golden;
    options.target_model = target;
    return static_cast<int>(compare_offline(options).error().number);
  };
  EXPECT_EQ(number(folder / "none.onnx", model), 3);
  EXPECT_EQ(number(folder.file("m.tflite", "x"), model), 6);
  EXPECT_EQ(number(folder.path(), model), 6);
  EXPECT_FALSE(fs::exists(folder / "out"));
  EXPECT_EQ(number(model, model), 15);
  EXPECT_EQ(number(folder.file("m.pb", "x"), folder.file("ok.json", R"({"graph":[]})")), 15);
  EXPECT_EQ(number(model, folder.file("bad.json", "{")), 7);
}

TEST(DumpOffline, GivesTheGoldenDumpOfAModel) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const TempFolder folder;
  CompareOptions options;
  options.golden_model = small_model_file();
  options.input_shape = "x:1,3";
  options.output = folder / "out";
  const auto end = dump_offline(options);
  ASSERT_TRUE(end) << end.error().error.to_string();
  ASSERT_EQ(end->results.size(), 1U);
  EXPECT_EQ(io::list_files(end->results[0])->size(), 9U);
}

}  // namespace
}  // namespace opdrift::diagnose::offline
