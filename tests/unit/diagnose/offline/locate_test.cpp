#include "opdrift/diagnose/offline/locate.hpp"

#include <gtest/gtest.h>

#include "unit/diagnose/offline/offline_testing.hpp"
#include "unit/diagnose/offline/stand_ins.hpp"

#include "opdrift/diagnose/offline/golden_run.hpp"
#include "opdrift/io/numpy/npy_writer.hpp"

namespace opdrift::diagnose::offline {
namespace {

using namespace opdrift::diagnose::testing;  // NOLINT
using tensor::DType;

/// x -> n0 -> ... -> n5 -> y, additions of a constant; with `side`, n3 also reads another chain,
/// z -> m0 -> m1.
onnx::Model chain_model(bool side) {
  onnx::Model model = io::testing::empty_model();
  model.graph.inputs = {io::testing::floats("x", {{4, ""}})};
  model.graph.initializers = {
      io::testing::constant("c", {4}, std::vector<float>{1.0F, 2.0F, 3.0F, 5.0F})};
  if (side) {
    model.graph.inputs.push_back(io::testing::floats("z", {{4, ""}}));
    model.graph.nodes.push_back(onnx::make_node("Add", "m0", {"z", "c"}, {"s0"}));
    model.graph.nodes.push_back(onnx::make_node("Add", "m1", {"s0", "c"}, {"s1"}));
  }
  for (int i = 0; i < 6; ++i) {
    const std::string from = i == 0 ? "x" : "v" + std::to_string(i - 1);
    const std::string other = side && i == 3 ? "s1" : "c";
    model.graph.nodes.push_back(
        onnx::make_node("Add", "n" + std::to_string(i), {from, other}, {"v" + std::to_string(i)}));
  }
  model.graph.outputs = {io::testing::floats("v5", {{4, ""}})};
  return model;
}

/// A golden run of a chain, and a device whose outputs are wrong when `culprit` is in the part.
struct Search {
  TempFolder folder;
  LocateJob job;

  explicit Search(bool side = false) {
    EXPECT_TRUE(onnx::write_model(folder / "m.onnx", chain_model(side)));
    GoldenRun run;
    run.model = folder / "m.onnx";
    run.dump_folder = folder / "golden";
    run.model_folder = folder / "model";
    const auto golden = run_golden(run);
    EXPECT_TRUE(golden) << golden.error().error.to_string();
    job.model = run.model;
    job.golden = run.dump_folder;
    job.folder = folder / "locat";
    job.file = folder / "error_interval_info.txt";
    job.build = {"atc", graph::parse_atc_command("atc --precision_mode=force_fp16"), "Ascend310P3"};
    write_program(folder / "bin/atc", std::string(kReadOptions) + "echo \"$opt_model\" >> " +
                                          (folder / "built") +
                                          "\n/bin/cp \"$opt_model\" \"$opt_output.om\"\n");
  }

  /// The output of operator `end` as the device has it.
  std::string answer(const std::string& end, bool good) const {
    const auto names = io::list_files(job.golden);
    std::vector<double> values;
    for (const std::string& name : *names) {
      if (name.starts_with(end + ".0.")) {
        values = values_of(job.golden + "/" + name);
      }
    }
    EXPECT_FALSE(values.empty());
    for (double& value : values) {
      value = good ? value : -7.0 * value;
    }
    const std::vector<std::byte> bytes = bytes_of(DType::f32, values);
    return folder.file(good ? "good.bin" : "bad.bin", as_text(bytes));
  }

  void device_with(const std::string& culprit, const std::string& end) {
    write_program(folder / "bin/python3",
                  std::string(kReadOptions) + "/bin/mkdir -p \"$opt_output/2024\"\nfrom=" +
                      answer(end, true) + "\n/bin/grep -q '" + culprit +
                      "' \"$opt_model\" && from=" + answer(end, false) +
                      "\n/bin/cp $from \"$opt_output/2024/part_output_0.bin\"\n");
  }

  Outcome<Located> locate(const std::string& search_path, const std::vector<std::string>& golden) {
    const SearchPath path(search_path);
    DeviceSession session(folder.path(), nullptr, [](const std::string&) {});
    std::vector<Alarm> alarms;
    for (const std::string& name : golden) {
      alarms.push_back({});
      alarms.back().golden = name;
    }
    Outcome<Located> located = locate_error(job, alarms, session);
    EXPECT_TRUE(located) << located.error().error.to_string();
    return located;
  }

  std::size_t parts_built() const {
    const std::string lines = content_of(folder / "built");
    return static_cast<std::size_t>(std::count(lines.begin(), lines.end(), '\n'));
  }
};

std::string text_of(const Located& located) {
  std::string text;
  for (const Interval& interval : located.intervals) {
    text += interval.first + ":" + interval.last + "\n";
  }
  return text;
}

TEST(PartBuild, KeepsTheOptionsThatAreNotAboutTheWholeModel) {
  const TempFolder folder;
  const DeviceGraph graph(io::testing::small_model().graph, {2, 3},
                          "atc --model=m.onnx --out_nodes=y:0 --input_shape=x:2,3 "
                          "--insert_op_conf=a.cfg --precision_mode=force_fp16 --output=m");
  const auto model = open_device_model(graph.write(folder / "m.json"));
  ASSERT_TRUE(model) << model.error().error.to_string();
  const BuildStep step = build_step(part_build(*model, ""), "part.onnx", "out", "part");
  EXPECT_EQ(step.words,
            (std::vector<std::string>{"atc", "--framework=5", "--model=part.onnx",
                                      "--output=out/part", "--precision_mode=force_fp16"}));
  EXPECT_EQ(step.model(), "out/part.om");
}

TEST(LocateError, FindsTheLatestStartFromWhichTheErrorShows) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  Search search;
  search.device_with("n2", "n5");
  const auto located = search.locate(search.folder / "bin", {"n5", "n1"});
  EXPECT_EQ(text_of(*located), "n2:n5\n");
  EXPECT_EQ(content_of(search.job.file), "n2:n5\n");
  EXPECT_LE(search.parts_built(), 1U + 3U);  // E alone, then ceil(log2 6)
}

TEST(LocateError, AnOperatorThatIsBadAloneIsTheAnswerAfterOneProbe) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  Search search(true);
  search.device_with("n5", "n5");
  const auto located = search.locate(search.folder / "bin", {"n5,n4"});
  EXPECT_EQ(text_of(*located), "n5:n5\n");
  EXPECT_EQ(search.parts_built(), 1U);
}

TEST(LocateError, EveryBeginningOfTheNetworkIsSearched) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  Search search(true);
  search.device_with("m1", "n5");
  const auto located = search.locate(search.folder / "bin", {"n5"});
  // From x no part holds m1: that its largest is bad was taken from the whole network.
  EXPECT_EQ(text_of(*located), "m1:n5\nn0:n5\n");
  ASSERT_EQ(located->notes.size(), 1U);
  EXPECT_NE(located->notes[0].find("--cut n0"), std::string::npos) << located->notes[0];
}

TEST(LocateError, WithoutADeviceEachProbeIsAScriptAndTheSearchGoesOn) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  Search search;
  const std::string bad = search.answer("n5", false);
  EXPECT_TRUE(search.locate("/nowhere", {"n5"})->waiting);
  EXPECT_FALSE(fs::exists(search.job.file));
  const std::string probe = search.folder / "locat/0/probe_1";
  const std::string script = content_of(probe + "/run.sh");
  EXPECT_NE(script.find("atc --framework=5 --model=locat/0/probe_1/device.onnx "
                        "--output=locat/0/probe_1/device --soc_version=Ascend310P3 "
                        "--precision_mode=force_fp16\n"),
            std::string::npos)
      << script;
  EXPECT_NE(script.find("--model locat/0/probe_1/device.om --input locat/0/probe_1/inputs/"),
            std::string::npos)
      << script;
  EXPECT_TRUE(search.locate("/nowhere", {"n5"})->waiting);
  std::ofstream(probe + "/device.om") << "built";
  fs::create_directories(probe + "/result/2024");
  fs::copy_file(bad, probe + "/result/2024/device_output_0.bin");
  const auto located = search.locate("/nowhere", {"n5"});
  EXPECT_FALSE(located->waiting);
  EXPECT_EQ(text_of(*located), "n5:n5\n");
}

TEST(LocateError, APartThatCannotBeBuiltIsPassedOver) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  Search search;
  search.device_with("n1", "n5");
  write_program(search.folder / "bin/atc",
                std::string(kReadOptions) +
                    "/bin/grep -q n2 \"$opt_model\" && ! /bin/grep -q n1 \"$opt_model\" && exit 1\n"
                    "/bin/cp \"$opt_model\" \"$opt_output.om\"\n");
  const auto located = search.locate(search.folder / "bin", {"n5"});
  EXPECT_EQ(text_of(*located), "n1:n5\n");
  ASSERT_FALSE(located->notes.empty());
  EXPECT_NE(located->notes[0].find("'n2'"), std::string::npos) << located->notes[0];
}

TEST(LocateError, RowsOfNetworkInputsAreNoEnd) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  Search search;
  search.device_with("n4", "n4");
  const auto located = search.locate(search.folder / "bin", {"x", "n4"});
  EXPECT_EQ(text_of(*located), "n4:n4\n");
  ASSERT_EQ(located->notes.size(), 1U);
  EXPECT_TRUE(search.locate(search.folder / "bin", {})->intervals.empty());
}

}  // namespace
}  // namespace opdrift::diagnose::offline
