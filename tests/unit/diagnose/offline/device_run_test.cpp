#include "opdrift/diagnose/offline/device_run.hpp"

#include <gtest/gtest.h>

#include "unit/diagnose/offline/offline_testing.hpp"
#include "unit/diagnose/offline/stand_ins.hpp"

#include "opdrift/diagnose/offline/device_dumps.hpp"
#include "opdrift/diagnose/offline/device_model.hpp"
#include "opdrift/diagnose/offline/workspace.hpp"

namespace opdrift::diagnose::offline {
namespace {

using namespace opdrift::diagnose::testing;  // NOLINT
using Words = std::vector<std::string>;

/// small_model built with the options in `command`.
DeviceModel model_built_by(const TempFolder& folder, const std::string& command) {
  const DeviceGraph graph(io::testing::small_model().graph, {-1, 3}, command);
  auto model = open_device_model(graph.write(folder / "m.json"));
  EXPECT_TRUE(model) << model.error().error.to_string();
  return std::move(model).value();
}

TEST(DynamicWords, FollowTheCommandThatBuiltTheModel) {
  const TempFolder folder;
  const auto words = [&](const std::string& command, const std::string& shapes) {
    return *dynamic_words(model_built_by(folder, command).graph, shapes, "");
  };
  EXPECT_EQ(words("atc --input_shape=x:2,3", ""), Words{});
  EXPECT_EQ(words("atc --input_shape=x:-1,3 --dynamic_batch_size=2,4", "x:4,3"),
            (Words{"--dymBatch", "4", "--outputSize", "90000000"}));
  EXPECT_EQ(words("atc --input_shape=x:-1,-1 --dynamic_dims=2,3;4,5", "x:4,5"),
            (Words{"--dymDims", "x:4,5", "--outputSize", "90000000"}));
  EXPECT_EQ(words("atc --input_shape_range=x:[1~8,3]", "x:4,3"),
            (Words{"--dymShape", "x:4,3", "--outputSize", "90000000"}));
  EXPECT_EQ(words("atc --input_shape=x:1~8,3", "x:4,3")[0], "--dymShape");
}

TEST(DynamicWords, RefuseWhatTheModelCannotRun) {
  const TempFolder folder;
  const DeviceModel batch =
      model_built_by(folder, "atc --input_shape=x:-1,-1 --dynamic_batch_size=2,4");
  EXPECT_EQ(dynamic_words(batch.graph, "", "").error().number, Number::bad_parameter);
  EXPECT_EQ(dynamic_words(batch.graph, "x:2,4", "").error().number, Number::bad_parameter);
  EXPECT_EQ(dynamic_words(batch.graph, "y:2,2", "").error().number, Number::bad_parameter);
  EXPECT_TRUE(dynamic_words(batch.graph, "x:2,2", "100"));
  EXPECT_EQ(dynamic_words(batch.graph, "x:2,2", "100,200").error().number, Number::bad_parameter);
  EXPECT_EQ(dynamic_words(batch.graph, "x:2,2", "many").error().number, Number::bad_parameter);
}

DeviceStep step_in(const TempFolder& folder) {
  DeviceStep step;
  step.title = "dumps";
  step.model = folder / "m.om";
  step.model_names = {"m", "sub"};
  step.folder = folder / "dump_data/npu";
  step.inputs = {folder / "input/input_0.bin"};
  return step;
}

TEST(DeviceSession, WithoutProgramsTheCommandsGoToAScript) {
  const TempFolder folder;
  const SearchPath nothing(folder / "no-bin");
  DeviceSession session(folder.path(), nullptr, [](const std::string&) {});
  const auto dumps = session.dumps(step_in(folder));
  ASSERT_TRUE(dumps) << dumps.error().error.to_string();
  EXPECT_EQ(*dumps, "");
  const auto model =
      session.model({"build", {"atc", "--output=" + (folder / "new")}, folder / "built"});
  EXPECT_EQ(*model, "");
  EXPECT_TRUE(session.waiting());
  ASSERT_TRUE(session.write_script("opdrift msit debug compare"));
  const std::string script = content_of(folder / "run_on_device.sh");
  EXPECT_NE(script.find("#   opdrift msit debug compare\n"), std::string::npos);
  EXPECT_NE(script.find("\"dump_path\": \"$PWD/dump_data/npu\""), std::string::npos);
  EXPECT_NE(script.find("\npython3 -m ais_bench --model m.om --input input/input_0.bin "
                        "--output dump_data/npu --outfmt BIN --device 0 --acl_json_path "
                        "dump_data/npu.acl.json --warmup_count 0\n"),
            std::string::npos);
  EXPECT_NE(script.find("# or: msame --model m.om"), std::string::npos);
  EXPECT_NE(script.find("\natc --output=new\n"), std::string::npos);
}

/// The stand-in leaves a dump where acl.json says, and fails for an input it does not know.
constexpr const char* kStandIn =
    "[ \"$1\" = -c ] && exit 0\n"
    "while [ $# -gt 0 ]; do\n"
    "  case $1 in\n"
    "    --output) out=$2 ;;\n"
    "    --input) [ -e \"$2\" ] || { echo no input; exit 3; } ;;\n"
    "  esac\n"
    "  shift\n"
    "done\n"
    "/bin/mkdir -p $out/2024/0/m/1/0\n"
    ": > $out/2024/0/m/1/0/Add.a.1.2.1700000000000001\n";

TEST(DeviceSession, ProgramsThatAreThereAreRun) {
  const TempFolder folder;
  fs::create_directories(folder / "bin");
  write_program(folder / "bin/python3", kStandIn);
  const SearchPath path(folder / "bin");
  DeviceSession session(folder.path(), nullptr, [](const std::string&) {});
  DeviceStep step = step_in(folder);
  const auto refused = session.dumps(step);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().number, Number::program);
  EXPECT_EQ(content_of(step.folder + ".log"), "no input\n");
  fs::create_directories(folder / "input");
  std::ofstream(step.inputs[0]) << "x";
  const auto dumps = session.dumps(step);
  ASSERT_TRUE(dumps) << dumps.error().error.to_string();
  EXPECT_EQ(*dumps, step.folder + "/2024/0/m/1/0");
  EXPECT_FALSE(session.waiting());
  const auto acl = nlohmann::json::parse(content_of(step.folder + ".acl.json"));
  EXPECT_EQ(acl["dump"]["dump_list"][1]["model_name"], "sub");
  EXPECT_EQ(acl["dump"]["dump_path"], step.folder);
}

// Without the module the older program is taken; it makes its own acl.json.
TEST(DeviceSession, MsameRunsWhereTheModuleIsMissing) {
  const TempFolder folder;
  write_program(folder / "bin/msame",
                "echo \"$@\"\n" + std::string(kReadOptions) +
                    "[ \"$opt_dump\" = true ] || { : > \"$opt_output/m_output_0.bin\"; exit 0; }\n"
                    "/bin/mkdir -p \"$opt_output/20240101/0/m/1/0\"\n"
                    ": > \"$opt_output/20240101/0/m/1/0/Add.a.1.2.1700000000000001\"\n");
  const SearchPath path(folder / "bin");
  DeviceSession session(folder.path(), nullptr, [](const std::string&) {});
  DeviceStep step = step_in(folder);
  step.dynamic = {"--dymBatch", "4", "--outputSize", "100"};
  const auto dumps = session.dumps(step);
  ASSERT_TRUE(dumps) << dumps.error().error.to_string();
  EXPECT_EQ(*dumps, step.folder + "/20240101/0/m/1/0");
  EXPECT_EQ(content_of(step.folder + ".log"),
            "--model " + step.model + " --input " + step.inputs[0] + " --output " + step.folder +
                " --outfmt BIN --device 0 --dump true --dymBatch 4 --outputSize 100\n");
  step.folder = folder / "outputs";
  step.dump = false;
  const auto outputs = session.dumps(step);
  ASSERT_TRUE(outputs) << outputs.error().error.to_string();
  EXPECT_EQ(find_output_files(*outputs).size(), 1U);
  EXPECT_EQ(content_of(step.folder + ".log").find("--dump"), std::string::npos);
}

TEST(DeviceSession, ATrialThatFailedElsewhereIsOver) {
  const TempFolder folder;
  const SearchPath nothing(folder / "no-bin");
  DeviceSession session(folder.path(), nullptr, [](const std::string&) {});
  const BuildStep build{"part", {"atc", "--output=" + (folder / "p/part")}, folder / "p"};
  DeviceStep step = step_in(folder);
  step.folder = folder / "p/result";
  const auto waits = session.trial(build, step);
  ASSERT_TRUE(waits) << waits.error().error.to_string();
  EXPECT_EQ(waits->found + waits->problem, "");
  ASSERT_TRUE(session.write_script("again"));
  EXPECT_NE(content_of(folder / "run_on_device.sh").find("\nsh p/run.sh || : > p/failed\n"),
            std::string::npos);
  const std::string script = content_of(folder / "p/run.sh");
  EXPECT_NE(script.find("\natc --output=p/part\n"), std::string::npos) << script;
  EXPECT_NE(script.find("ais_bench --model p/part.om"), std::string::npos) << script;
  folder.file("p/failed", "");
  const auto failed = session.trial(build, step);
  EXPECT_NE(failed->problem.find("p/run.sh"), std::string::npos) << failed->problem;
}

TEST(DeviceSession, ABuildHasToLeaveOneModel) {
  const TempFolder folder;
  fs::create_directories(folder / "bin");
  fs::create_directories(folder / "built");
  write_program(folder / "bin/atc", "[ \"$1\" = bad ] && exit 7\n: > built/m.om\n");
  const SearchPath path(folder / "bin");
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  DeviceSession session(folder.path(), nullptr, [](const std::string&) {});
  EXPECT_EQ(session.model({"b", {"atc", "bad"}, folder / "built"}).error().number,
            Number::atc_failed);
  EXPECT_EQ(*session.model({"b", {"atc", "good"}, folder / "built"}), folder / "built/m.om");
  fs::current_path(before);
}

TEST(DeviceDumps, TheFolderWithTheMostDumpsIsFoundAtAnyDepth) {
  const TempFolder folder;
  const auto dump = [&](const std::string& path) {
    fs::create_directories(fs::path(folder / path).parent_path());
    std::ofstream(folder / path) << "x";
  };
  EXPECT_EQ(find_dump_folder(folder.path()), "");
  dump("a/1/Add.x.1.2.1700000000000001");
  dump("a/2/Add.x.1.2.1700000000000001");
  dump("a/2/Add.y.1.2.1700000000000001");
  dump("a/3/notes.1.2.3.txt");
  dump("b/output_0.bin");
  dump("b/output_10.bin");
  dump("b/output_2.bin");
  EXPECT_EQ(find_dump_folder(folder.path()), folder / "a/2");
  EXPECT_EQ(
      find_output_files(folder.path()),
      (Words{folder / "b/output_0.bin", folder / "b/output_2.bin", folder / "b/output_10.bin"}));
}

TEST(Workspace, TheCommandThatWaitsFindsItsFolderAgain) {
  const TempFolder folder;
  const std::string key = command_key({"a", "b"});
  EXPECT_NE(key, command_key({"ab"}));
  const auto first = open_workspace(folder / "out", key);
  ASSERT_TRUE(first) << first.error().error.to_string();
  EXPECT_FALSE(first->resumed);
  ASSERT_TRUE(mark_waiting(*first, key));
  const auto other = open_workspace(folder / "out", "another");
  EXPECT_NE(other->folder, first->folder);
  const auto again = open_workspace(folder / "out", key);
  EXPECT_TRUE(again->resumed);
  EXPECT_EQ(again->folder, first->folder);
  unmark_waiting(*again);
  EXPECT_FALSE(open_workspace(folder / "out", key)->resumed);
}

}  // namespace
}  // namespace opdrift::diagnose::offline
