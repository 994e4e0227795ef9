// The msprobe front end and native comparison of its dumps, through the real program.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "run_program.hpp"
#include "unit/pipeline/dump_testing.hpp"

namespace opdrift::cli {
namespace {

namespace fs = std::filesystem;

using testing::Outcome;

Outcome run(const std::string& command) {
  return testing::run_shell(command);
}

std::string tensor(const std::string& max, const std::string& more = "") {
  return R"({"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2, 2], "Max": )" + max +
         R"(, "Min": -1.0, "Mean": 0.25, "Norm": 2.5, "requires_grad": false)" + more + "}";
}

std::string run_of(const std::string& data, const std::string& task = "statistics") {
  return R"({"task": ")" + task +
         R"(", "level": "L1", "framework": "pytorch", "dump_data_dir": null, "data": {)" + data +
         "}}";
}

std::string call(const std::string& name, const std::string& input, const std::string& output) {
  return "\"" + name + R"(": {"input_args": [)" + input + R"(], "output": [)" + output + "]}";
}

class MsprobeCli : public testing::FolderTest {
 protected:
  void SetUp() override {
    FolderTest::SetUp();
    write("npu/dump.json", run_of(call("Torch.add.0.forward", tensor("2.0"), tensor("3.0"))));
    write("gpu/dump.json", run_of(call("Torch.add.0.forward", tensor("2.0"), tensor("3.1"))));
  }

  void write(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << text;
  }

  Outcome compare(const std::string& target, const std::string& golden,
                  const std::string& more = "") const {
    return run(std::string(OPDRIFT_BINARY) + " msprobe compare -tp '" + path(target) + "' -gp '" +
               path(golden) + "' -o '" + path("out") + "' " + more);
  }

  /// The only result table, without its name's time.
  std::string table() const {
    for (const auto& entry : fs::directory_iterator(path("out"))) {
      if (entry.path().extension() == ".csv") {
        std::stringstream text;
        text << std::ifstream(entry.path()).rdbuf();
        return text.str();
      }
    }
    return {};
  }
};

TEST_F(MsprobeCli, ASummaryNamesTheFirstErrorWithoutColourInAPipe) {
  write("gpu/dump.json", run_of(call("Torch.add.0.forward", tensor("2.0"),
                                     R"({"type": "torch.Tensor", "dtype": "torch.float32",
    "shape": [2, 3], "Max": 3.0, "Min": -1.0, "Mean": 0.25, "Norm": 2.5, "requires_grad": false})")));
  const Outcome outcome = compare("npu/dump.json", "gpu/dump.json");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.text.find("2 rows: 1 error, 0 warning, 1 pass"), std::string::npos)
      << outcome.text;
  EXPECT_NE(outcome.text.find("Torch.add.0.forward.output.0"), std::string::npos);
  EXPECT_EQ(outcome.text.find('\x1b'), std::string::npos);
}

TEST_F(MsprobeCli, ALinkNamedMsprobeIsTheFrontEnd) {
  fs::create_symlink(OPDRIFT_BINARY, path("msprobe"));
  const Outcome outcome = run(path("msprobe") + " compare --target_path=" + path("npu/dump.json") +
                              " --golden_path=" + path("gpu/dump.json") + " -o " + path("out"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.text;
  EXPECT_FALSE(table().empty());
}

TEST_F(MsprobeCli, CompatWritesTheReferencesTableAlsoFromTheNativeCommand) {
  ASSERT_EQ(compare("npu/dump.json", "gpu/dump.json", "--compat").exit_code, 0);
  const std::string expected = table();
  ASSERT_FALSE(expected.empty());
  fs::remove_all(path("out"));
  const Outcome native = run(std::string(OPDRIFT_BINARY) + " compare " + path("npu/dump.json") +
                             " " + path("gpu/dump.json") + " --compat -o " + path("out"));
  EXPECT_EQ(native.exit_code, 0) << native.text;
  EXPECT_EQ(table(), expected);
}

TEST_F(MsprobeCli, TheNativeCommandJudgesRunsAndWritesItsReports) {
  const Outcome outcome = run(std::string(OPDRIFT_BINARY) + " compare " + path("npu") + " " +
                              path("gpu") + " -o " + path("out"));
  EXPECT_EQ(outcome.exit_code, 1) << outcome.text;
  EXPECT_NE(outcome.text.find("FAIL (stat)"), std::string::npos) << outcome.text;
  EXPECT_TRUE(fs::exists(path("out/result.json")));
}

TEST_F(MsprobeCli, ParseIsReachable) {
  testing::write_device_file(path("dump/Add.add.1.2.1700000000000000"), "add", tensor::DType::f32,
                             tensor::Format::nd, {2}, {2}, {1, 2});
  const Outcome outcome = run(std::string(OPDRIFT_BINARY) + " msprobe parse -d " + path("dump") +
                              " -t npy -o " + path("out"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.text;
  EXPECT_FALSE(fs::is_empty(path("out")));
}

TEST_F(MsprobeCli, TruncatedJsonIsOneErrorWithItsPlace) {
  const std::string good = run_of(call("Torch.add.0.forward", tensor("2.0"), tensor("3.0")));
  write("cut/dump.json", good.substr(0, good.size() / 2));
  const Outcome outcome = compare("cut/dump.json", "gpu/dump.json");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.text.find("cut/dump.json: offset "), std::string::npos) << outcome.text;
}

TEST_F(MsprobeCli, MegabytesOnOneLineRepeatedKeysAndPythonsNumbersAreRead) {
  std::string data = call("Torch.add.0.forward", tensor("1.0"), tensor("1.0")) + ", ";
  data +=
      call("Torch.big.0.forward",
           tensor("NaN", ", \"note\": \"" + std::string(8 << 20, 'x') + "\""), tensor("-Infinity"));
  data += ", " + call("Torch.add.0.forward", tensor("2.0"), tensor("3.0"));
  write("odd/dump.json", run_of(data));
  const Outcome outcome = compare("odd/dump.json", "gpu/dump.json");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.text;
  EXPECT_NE(table().find("Torch.add.0.forward.input.0,Torch.add.0.forward.input.0"),
            std::string::npos);
  EXPECT_NE(table().find("Nan"), std::string::npos);
}

TEST_F(MsprobeCli, MissingTensorFilesAreRowsWithTheReason) {
  const std::string leaf = tensor("1.0", R"(, "data_name": "gone.pt")");
  for (const char* side : {"a/dump.json", "b/dump.json"}) {
    write(side, run_of(call("Torch.add.0.forward", leaf, leaf), "tensor"));
  }
  const Outcome outcome = compare("a/dump.json", "b/dump.json");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(table().find("not found or read failed"), std::string::npos) << table();
  EXPECT_NE(table().find("warning"), std::string::npos);
}

// A pickle that would run a command, by the opcodes of pickle protocol 2.
TEST_F(MsprobeCli, CodeInATensorFileIsNeverRun) {
  const std::string leaf = tensor("1.0", R"(, "data_name": "evil.pt")");
  const std::string command = "touch " + path("ran");
  const std::string size{static_cast<char>(command.size()), '\0', '\0', '\0'};
  const std::string pickle =
      "\x80\x02"
      "cposix\nsystem\nX" +
      size + command + "\x85R.";
  for (const char* side : {"a/", "b/"}) {
    write(side + std::string("dump.json"),
          run_of(call("Torch.add.0.forward", leaf, leaf), "tensor"));
    write(side + std::string("dump_tensor_data/evil.pt"), pickle);
  }
  EXPECT_EQ(compare("a/dump.json", "b/dump.json").exit_code, 0);
  EXPECT_NE(table().find("read failed"), std::string::npos);
  EXPECT_FALSE(fs::exists(path("ran")));
}

TEST_F(MsprobeCli, DifferentStepsAndRanksSayWhatIsThere) {
  const std::string good = run_of(call("Torch.add.0.forward", tensor("2.0"), tensor("3.0")));
  write("a/step0/rank0/dump.json", good);
  write("b/step1/rank0/dump.json", good);
  const Outcome steps = compare("a", "b");
  EXPECT_EQ(steps.exit_code, 1);
  EXPECT_NE(steps.text.find("step0"), std::string::npos) << steps.text;
  EXPECT_NE(steps.text.find("step1"), std::string::npos) << steps.text;
  write("c/rank0/dump.json", good);
  write("c/rank1/dump.json", good);
  write("d/rank0/dump.json", good);
  EXPECT_EQ(compare("c", "d").exit_code, 1);
}

TEST_F(MsprobeCli, NothingInCommonIsSaid) {
  write("x/dump.json", run_of(call("Torch.mul.0.forward", tensor("2.0"), tensor("3.0"))));
  const Outcome names = compare("x/dump.json", "gpu/dump.json");
  EXPECT_EQ(names.exit_code, 0);
  EXPECT_NE(names.text.find("Nothing matched"), std::string::npos) << names.text;
  write("empty/readme.txt", "hello");
  const Outcome folder = compare("empty", "empty", "--mode torchair");
  EXPECT_EQ(folder.exit_code, 1);
  EXPECT_NE(folder.text.find("dynamo_original_graph_"), std::string::npos) << folder.text;
  EXPECT_NE(folder.text.find("readme.txt"), std::string::npos) << folder.text;
}

TEST_F(MsprobeCli, OptionsOfTheOtherModeAreRefused) {
  EXPECT_EQ(compare("npu/dump.json", "gpu/dump.json", "--cos-min 0.9").exit_code, 1);
  EXPECT_EQ(compare("npu/dump.json", "gpu/dump.json", "--mode torchair -fm").exit_code, 1);
  EXPECT_EQ(compare("npu/dump.json", "gpu/dump.json", "--no-such").exit_code, 1);
}

}  // namespace
}  // namespace opdrift::cli
