#include "opdrift/diagnose/offline/golden_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "unit/diagnose/offline/offline_testing.hpp"

#include "opdrift/diagnose/offline/custom_ops.hpp"
#include "opdrift/io/onnx/writer.hpp"

namespace opdrift::diagnose::offline {
namespace {

using namespace opdrift::diagnose::testing;  // NOLINT

/// `name.k` of `name.k.<time>.npy`.
std::set<std::string> keys_in(const std::string& folder) {
  std::set<std::string> keys;
  const auto names = io::list_files(folder);
  for (const std::string& name : *names) {
    keys.insert(name.substr(0, name.find('.', name.find('.') + 1)));
  }
  return keys;
}

struct SmallRun {
  TempFolder folder;
  GoldenRun run;

  explicit SmallRun(const onnx::Model& model = io::testing::small_model()) {
    run.model = folder / "m.onnx";
    EXPECT_TRUE(onnx::write_model(run.model, model));
    run.dump_folder = folder / "dump";
    run.model_folder = folder / "model";
  }
};

TEST(GoldenRun, WritesOutputsAndInputsOfEveryNode) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const SmallRun small;
  const auto golden = run_golden(small.run);
  ASSERT_TRUE(golden) << golden.error().error.to_string();
  EXPECT_EQ(
      keys_in(small.run.dump_folder),
      (std::set<std::string>{"x.0", "first.0", "a_b_c.0", "Mul_2.0", "input_first.0",
                             "input_first.1", "input_a_b_c.0", "input_Mul_2.0", "input_Mul_2.1"}));
  ASSERT_EQ(golden->net_outputs.size(), 1U);
  EXPECT_TRUE(io::base_name(golden->net_outputs[0]).starts_with("Mul_2.0."));
}

TEST(GoldenRun, InputsAreTheValuesOfTheirProducers) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const SmallRun small;
  ASSERT_TRUE(run_golden(small.run));
  std::map<std::string, std::string> files;
  const auto names = io::list_files(small.run.dump_folder);
  ASSERT_TRUE(names.has_value());
  for (const std::string& name : *names) {
    files[name.substr(0, name.find('.', name.find('.') + 1))] = small.run.dump_folder + "/" + name;
  }
  EXPECT_EQ(values_of(files["input_a_b_c.0"]), values_of(files["first.0"]));
  EXPECT_EQ(values_of(files["input_first.0"]), values_of(files["x.0"]));
  const std::vector<double> constant = values_of(files["input_first.1"]);
  ASSERT_EQ(constant.size(), 3U);
  EXPECT_FLOAT_EQ(static_cast<float>(constant[1]), -2.0F);
}

TEST(GoldenRun, TheNewModelShowsEveryNodeOutputAndNothingElse) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const SmallRun small;
  ASSERT_TRUE(run_golden(small.run));
  const auto model = onnx::open_model(small.run.model_folder + "/new_m.onnx");
  ASSERT_TRUE(model);
  ASSERT_EQ(model->graph.outputs.size(), 3U);
  EXPECT_EQ(model->graph.outputs[0].name, "s");
  EXPECT_EQ(model->graph.outputs[2].name, "y");
  EXPECT_EQ(model->graph.outputs[0].kind, onnx::ValueKind::unknown);
  EXPECT_EQ(model->graph.nodes[2].name, "Mul_2");
  EXPECT_TRUE(fs::exists(small.run.model_folder + "/manifest.json"));
}

TEST(GoldenRun, OnlyTheOutputsOfTheNetWhenAskedFor) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  SmallRun small;
  small.run.all_outputs = false;
  const auto golden = run_golden(small.run);
  ASSERT_TRUE(golden);
  EXPECT_EQ(keys_in(small.run.dump_folder), (std::set<std::string>{"x.0", "Mul_2.0"}));
  EXPECT_FALSE(fs::exists(small.run.model_folder + "/new_m.onnx"));
}

TEST(GoldenRun, AnOlderDumpIsReplaced) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const SmallRun small;
  fs::create_directories(small.run.dump_folder);
  std::ofstream(small.run.dump_folder + "/old.0.1.npy") << "old";
  ASSERT_TRUE(run_golden(small.run));
  EXPECT_FALSE(keys_in(small.run.dump_folder).contains("old.0"));
}

TEST(OutputNodes, AreNamedAsTheyAreDumped) {
  const SmallRun small;
  const auto nodes = output_nodes_of(small.run.model);
  ASSERT_TRUE(nodes);
  EXPECT_EQ(*nodes, std::set<std::string>{"Mul_2"});
}

TEST(Gears, GoldenFilesGetTheMarkOfTheGearThatRan) {
  const TempFolder folder;
  fs::create_directories(folder / "npu");
  fs::create_directories(folder / "onnx");
  std::ofstream(folder / "npu/Conv2D.conv_ascend_mbatch_batch_12.1.2.1700000000000001") << "x";
  std::ofstream(folder / "onnx/conv.0.1700000000000001.npy") << "x";
  const auto gear = gear_of_dump(folder / "npu");
  ASSERT_TRUE(gear.has_value());
  EXPECT_EQ(*gear, 12U);
  ASSERT_TRUE(name_for_gear(folder / "onnx", *gear));
  ASSERT_TRUE(name_for_gear(folder / "onnx", *gear));
  EXPECT_EQ(keys_in(folder / "onnx"),
            (std::set<std::string>{"conv.0", "conv_ascend_mbatch_batch_12.0"}));
  EXPECT_FALSE(gear_of_dump(folder / "onnx2").has_value());
}

/// x -> DeformableConv2D d -> Relu r -> y; the device computed the first as Conv2D d_conv2d.
onnx::Model deformable_model() {
  onnx::Model model = io::testing::empty_model();
  model.graph.inputs = {io::testing::floats("x", {{1, ""}})};
  model.graph.nodes = {onnx::make_node("DeformableConv2D", "d", {"x"}, {"v"}),
                       onnx::make_node("Relu", "r", {"v"}, {"y"})};
  model.graph.outputs = {io::testing::floats("y", {})};
  return model;
}

TEST(CustomOps, AreFedFromTheDeviceDump) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  SmallRun small(deformable_model());
  fs::create_directories(small.folder / "npu");
  write_device_file(small.folder / "npu/Conv2D.d_conv2d.1.2.1700000000000001", tensor::DType::f16,
                    tensor::Format::nc1hwc0, {1, 1, 1, 2, 16}, [] {
                      std::vector<double> values(32, 9.0);
                      values[0] = -1.0;
                      values[16] = 2.0;
                      return values;
                    }());
  const auto without = take_out_custom_ops(small.run.model, {"DeformableConv2D"},
                                           small.folder / "npu", small.folder / "model");
  ASSERT_TRUE(without) << without.error().error.to_string();
  small.run.model = without->model;
  small.run.inputs = without->inputs;
  const auto golden = run_golden(small.run);
  ASSERT_TRUE(golden) << golden.error().error.to_string();
  const std::vector<double> values = values_of(golden->net_outputs.front());
  ASSERT_GE(values.size(), 2U);
  EXPECT_EQ(values[0], 0.0);
  EXPECT_EQ(values[1], 2.0);
}

TEST(CustomOps, WithoutADumpOfTheirsThereIsAnError) {
  const SmallRun small(deformable_model());
  fs::create_directories(small.folder / "npu");
  write_device_file(small.folder / "npu/Relu.other.1.2.1700000000000001", tensor::DType::f16,
                    tensor::Format::nd, {1}, {1.0});
  const auto without = take_out_custom_ops(small.run.model, {"DeformableConv2D"},
                                           small.folder / "npu", small.folder / "model");
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().number, Number::no_dump_file);
  EXPECT_FALSE(parse_custom_ops("Softmax"));
  EXPECT_EQ(parse_custom_ops(" RoiExtractor ,BatchMultiClassNMS")->size(), 2U);
}

}  // namespace
}  // namespace opdrift::diagnose::offline
