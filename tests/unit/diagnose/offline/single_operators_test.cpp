#include "opdrift/diagnose/offline/single_operators.hpp"

#include <gtest/gtest.h>

#include "unit/diagnose/offline/offline_testing.hpp"
#include "unit/diagnose/offline/stand_ins.hpp"

#include "opdrift/diagnose/offline/device_memory.hpp"
#include "opdrift/diagnose/offline/golden_run.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"

namespace opdrift::diagnose::offline {
namespace {

using namespace opdrift::diagnose::testing;  // NOLINT
using tensor::DType;

/// A golden run of a model, and programs that build and run each part: the "offline model" of a
/// part is the graph of the whole, its dumps are those of `device`.
struct Single {
  TempFolder folder;
  SingleJob job;

  explicit Single(const onnx::Model& model, const Damage& damage = {}) {
    EXPECT_TRUE(onnx::write_model(folder / "m.onnx", model));
    GoldenRun run;
    run.model = folder / "m.onnx";
    run.dump_folder = folder / "golden";
    run.model_folder = folder / "model";
    const auto golden = run_golden(run);
    EXPECT_TRUE(golden) << golden.error().error.to_string();
    dump_like_device(run.dump_folder, folder / "device", damage);
    const DeviceGraph graph(model.graph, {1, 3});
    job.model = run.model;
    job.golden = run.dump_folder;
    job.folder = folder / "single_op";
    job.memory = kAssumedDeviceMemory;
    job.build = {"atc", {}, "Ascend310P3"};
    write_program(folder / "bin/atc", std::string(kReadOptions) + "/bin/cp " +
                                          graph.write(folder / "g.json") + " \"$opt_output.om\"\n");
    write_program(folder / "bin/python3", std::string(kReadOptions) +
                                              "/bin/mkdir -p \"$opt_output/1\"\n/bin/cp " +
                                              (folder / "device") + "/* \"$opt_output/1\"\n");
  }

  Outcome<SingleEnd> run(const std::string& search_path = "") {
    const SearchPath path(search_path.empty() ? folder / "bin" : search_path);
    DeviceSession session(folder.path(), nullptr, [](const std::string&) {});
    return compare_single_operators(job, session);
  }
};

std::vector<std::string> column(const ResultTable& table, const std::string& name) {
  const ResultRows rows(table);
  std::vector<std::string> cells;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    cells.push_back(rows.cell(i, name));
  }
  return cells;
}

std::size_t count(const std::vector<std::string>& cells, const std::string& cell) {
  return static_cast<std::size_t>(std::count(cells.begin(), cells.end(), cell));
}

TEST(SingleOperators, RowsOfAllPartsStandInOneTable) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  Single single(io::testing::small_model(), [](const std::string& name, auto& values) {
    values[0] += name == "a_b_c" ? 9.0 : 0.0;
  });
  const auto end = single.run();
  ASSERT_TRUE(end) << end.error().error.to_string();
  EXPECT_TRUE(fs::exists(single.job.folder + "/broken.onnx"));
  EXPECT_TRUE(fs::exists(single.job.folder + "/0_broken.onnx"));
  EXPECT_FALSE(fs::exists(single.job.folder + "/1_broken.onnx"));
  const auto table = read_result_table(single.job.folder + "/single_op_summary.csv");
  ASSERT_TRUE(table);
  const auto golden = column(*table, "GroundTruth");
  for (const char* name : {"first", "a/b.c", "Mul_2"}) {
    EXPECT_EQ(count(golden, name), 1U) << name;
  }
  ASSERT_FALSE(end->alarms.empty());
  EXPECT_EQ(end->alarms[0].golden, "a/b.c");
  for (const std::vector<std::string>& row : table->rows) {
    EXPECT_EQ(count(row, ""), 0U) << "blanks are NaN";
  }
}

// Every part brings the same rows here: each stands in the table once.
TEST(SingleOperators, AQuarterOfTheMemoryIsAPart) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  Single single(io::testing::small_model());
  const auto whole = single.run();
  ASSERT_TRUE(whole);
  single.job.folder = single.folder / "many";
  single.job.memory = 4;
  const auto end = single.run();
  ASSERT_TRUE(end) << end.error().error.to_string();
  for (const char* name : {"0_broken", "1_broken", "2_broken"}) {
    EXPECT_TRUE(fs::exists(single.job.folder + "/" + name + ".onnx")) << name;
    const auto model = onnx::open_model(single.job.folder + "/" + name + ".onnx");
    ASSERT_TRUE(model);
    EXPECT_EQ(model->graph.nodes.size(), 1U);
    EXPECT_EQ(model->graph.inputs.size(), 1U);
  }
  EXPECT_EQ(end->table.rows, whole->table.rows);
}

TEST(SingleOperators, ComputedShapesBecomeConstants) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  onnx::Model model = io::testing::small_model();
  model.graph.inputs = {io::testing::floats("x", {{1, ""}, {3, ""}})};
  model.graph.outputs = {onnx::make_value_info("z", io::testing::kFloat)};
  model.graph.nodes.push_back(onnx::make_node("Shape", "shape", {"x"}, {"sh"}));
  model.graph.nodes.push_back(onnx::make_node("Reshape", "reshape", {"y", "sh"}, {"z"}));
  Single single(model);
  const auto end = single.run();
  ASSERT_TRUE(end) << end.error().error.to_string();
  const auto part = onnx::open_model(single.job.folder + "/0_broken.onnx");
  ASSERT_TRUE(part);
  std::vector<std::string> inputs;
  for (const onnx::ValueInfo& input : part->graph.inputs) {
    inputs.push_back(input.name);
  }
  EXPECT_EQ(count(inputs, "y"), 1U);
  EXPECT_EQ(count(inputs, "sh"), 0U);
  const auto constant =
      std::find_if(part->graph.initializers.begin(), part->graph.initializers.end(),
                   [](const onnx::Tensor& tensor) { return tensor.name == "sh"; });
  ASSERT_NE(constant, part->graph.initializers.end());
  const auto loaded = onnx::load(*constant, ".");
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->bytes.size(), 16U);
  const auto runtime = engine::testing::runtime();
  EXPECT_TRUE(runtime->open_file(single.job.folder + "/0_broken.onnx", {}));
}

TEST(SingleOperators, WithoutADeviceAScriptWaitsAndTheTableComesLater) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  Single single(io::testing::small_model());
  const auto waiting = single.run("/nowhere");
  ASSERT_TRUE(waiting) << waiting.error().error.to_string();
  EXPECT_TRUE(waiting->waiting);
  const std::string part = single.job.folder + "/0_broken";
  const std::string script = content_of(part + "/run.sh");
  EXPECT_NE(script.find("--model=single_op/0_broken.onnx --output=single_op/0_broken/0_broken"),
            std::string::npos)
      << script;
  EXPECT_NE(script.find("\"model_name\": \"0_broken\""), std::string::npos) << script;
  fs::copy_file(single.folder / "g.json", part + "/0_broken.om");
  fs::create_directories(part + "/dump_data/npu");
  fs::copy(single.folder / "device", part + "/dump_data/npu/1");
  const auto end = single.run("/nowhere");
  ASSERT_TRUE(end) << end.error().error.to_string();
  EXPECT_FALSE(end->waiting);
  EXPECT_EQ(count(column(end->table, "GroundTruth"), "first"), 1U);
}

TEST(SingleOperators, APartThatFailsCostsItsRowsOnly) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  Single single(io::testing::small_model());
  single.job.memory = 4;
  write_program(single.folder / "bin/atc",
                std::string(kReadOptions) +
                    "case $opt_model in *1_broken.onnx) echo no; exit 3 ;; esac\n/bin/cp " +
                    (single.folder / "g.json") + " \"$opt_output.om\"\n");
  const auto end = single.run();
  ASSERT_TRUE(end) << end.error().error.to_string();
  ASSERT_EQ(end->notes.size(), 1U);
  EXPECT_NE(end->notes[0].find("a/b.c"), std::string::npos) << end->notes[0];
  const std::vector<std::string> reasons = column(end->table, "CompareFailReason");
  EXPECT_NE(reasons.back().find("status 3"), std::string::npos) << reasons.back();
  EXPECT_EQ(content_of(single.job.folder + "/1_broken/atc.log"), "no\n");
}

// 15171 MB with 16 of 100 in use: 15171 * 2^20 / 100 * 84.
TEST(DeviceMemory, IsReadFromTheUsageOfTheDevice) {
  EXPECT_EQ(free_memory_in("\tNPU ID              : 0\n\tDDR Capacity(MB)    : 15171\n"
                           "\tDDR Usage Rate(%)   : 16\n"),
            (std::uint64_t{15171} << 20) / 100 * 84);
  EXPECT_EQ(free_memory_in("HBM Capacity(MB) : 200\nHBM Usage Rate(%) : 100\n"), 0U);
  for (const char* odd : {"", "DDR Capacity(MB) : many\nDDR Usage Rate(%) : 1\n",
                          "DDR Capacity(MB) : 1\nDDR Usage Rate(%) : 101\n",
                          "DDR Capacity(MB) : 99999999999\nDDR Usage Rate(%) : 1\n"}) {
    EXPECT_EQ(free_memory_in(odd), kAssumedDeviceMemory) << odd;
  }
}

}  // namespace
}  // namespace opdrift::diagnose::offline
