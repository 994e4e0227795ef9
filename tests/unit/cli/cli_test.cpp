// Runs the real program as a user would and looks at what comes out.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "run_program.hpp"
#include "unit/pipeline/dump_testing.hpp"

namespace opdrift::cli {
namespace {

using testing::Outcome;
using testing::quoted;
using testing::run_shell;

Outcome opdrift(const std::string& arguments) {
  return run_shell(quoted(OPDRIFT_BINARY) + " " + arguments);
}

class Cli : public testing::FolderTest {
 protected:
  void SetUp() override {
    FolderTest::SetUp();
    testing::write_npy_file(path("golden/a.npy"), tensor::DType::f32, {3}, {1, 2, 3});
    testing::write_npy_file(path("same/a.npy"), tensor::DType::f32, {3}, {1, 2, 3});
    testing::write_npy_file(path("other/a.npy"), tensor::DType::f32, {3}, {1, 2, 4});
  }
  std::string sides(const std::string& target) const {
    return quoted(path(target)) + " " + quoted(path("golden"));
  }
};

TEST_F(Cli, ExitCodesTellAgreementDifferenceAndTrouble) {
  EXPECT_EQ(opdrift("compare " + sides("same")).exit_code, 0);
  EXPECT_EQ(opdrift("compare " + sides("other")).exit_code, 1);
  EXPECT_EQ(opdrift("compare " + sides("other") + " --fail-on none").exit_code, 0);
  EXPECT_EQ(opdrift("compare " + sides("missing")).exit_code, 2);
  EXPECT_EQ(opdrift("compare --no-such-option").exit_code, 2);
  EXPECT_EQ(opdrift("").exit_code, 2);
  EXPECT_EQ(opdrift("no-such-command").exit_code, 2);
  EXPECT_EQ(opdrift("--version").exit_code, 0);
}

TEST_F(Cli, EveryCommandHasHelpWithExamples) {
  for (const char* command : {"compare", "dump", "info", "stats", "convert", "overflow"}) {
    const Outcome help = opdrift(std::string(command) + " --help");
    EXPECT_EQ(help.exit_code, 0) << command;
    EXPECT_NE(help.text.find("Examples:"), std::string::npos) << command;
  }
}

TEST_F(Cli, CompareWritesTheFormatsAskedForAndNamesThem) {
  const Outcome outcome =
      opdrift("compare " + sides("other") + " -o " + quoted(path("out")) + " --format json");
  EXPECT_NE(outcome.text.find("result.json"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(path("out/result.json")));
  EXPECT_FALSE(std::filesystem::exists(path("out/result.csv")));
  EXPECT_EQ(opdrift("compare " + sides("same") + " --format pdf").exit_code, 2);
}

TEST_F(Cli, BadOptionsAreOneClearLine) {
  const Outcome gate = opdrift("compare " + sides("same") + " --gate cosine=x");
  EXPECT_EQ(gate.exit_code, 2);
  EXPECT_NE(gate.text.find("cosine=x"), std::string::npos);
  EXPECT_EQ(opdrift("compare " + sides("same") + " --range 5:1").exit_code, 2);
  EXPECT_EQ(opdrift("compare " + sides("same") + " --fail-on sometimes").exit_code, 2);
  EXPECT_EQ(opdrift("compare " + sides("same") + " --select '('").exit_code, 2);
}

TEST_F(Cli, OutputWithoutATerminalHasNoColourAndNoProgressBar) {
  const Outcome outcome = opdrift("compare " + sides("other"));
  EXPECT_EQ(outcome.text.find('\x1b'), std::string::npos);
  EXPECT_EQ(outcome.text.find('\r'), std::string::npos);
}

TEST_F(Cli, StatsAnswersMaximumAndMinimumInOneLine) {
  const Outcome outcome = opdrift("stats " + quoted(path("golden")));
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.text.find("max 3  min 1"), std::string::npos) << outcome.text;
}

TEST_F(Cli, InfoDescribesFilesAndFolders) {
  EXPECT_NE(opdrift("info " + quoted(path("golden/a.npy"))).text.find("float32"),
            std::string::npos);
  EXPECT_EQ(opdrift("info " + quoted(path("golden")) + " --format json").exit_code, 0);
  std::ofstream(path("junk.npy")) << "no array";
  EXPECT_EQ(opdrift("info " + quoted(path("junk.npy"))).exit_code, 2);
}

TEST_F(Cli, ConvertPrintsWhatItWrote) {
  const Outcome outcome =
      opdrift("convert " + quoted(path("golden")) + " --to txt -o " + quoted(path("out")));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.text;
  EXPECT_TRUE(std::filesystem::exists(path("out/a.output.0.txt")));
}

TEST_F(Cli, ALinkNamedMsaccucmpIsTheFrontEnd) {
  for (const char* name : {"msaccucmp", "msaccucmp.py"}) {
    std::filesystem::create_symlink(OPDRIFT_BINARY, path(name));
    EXPECT_EQ(run_shell(quoted(path(name))).exit_code, 6);
    EXPECT_EQ(run_shell(quoted(path(name)) + " compare").exit_code, 2);
  }
}

TEST_F(Cli, AWaitThatIsNoNumberIsRefused) {
  for (const char* option : {"--settle nan", "--idle nan", "--settle -1", "--idle 1e300"}) {
    const Outcome outcome =
        opdrift("convert " + quoted(path("golden")) + " --to stats --watch " + option);
    EXPECT_EQ(outcome.exit_code, 2) << option;
  }
}

TEST_F(Cli, WhatCannotBeReadIsNamedWithTheReason) {
  std::ofstream(path("other/b.npy")) << "\x93NUMPY";
  const Outcome outcome =
      opdrift("compare " + quoted(path("other")) + " " + quoted(path("golden")));
  EXPECT_NE(outcome.text.find("b.npy"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("unread"), std::string::npos);
}

TEST_F(Cli, AFullDiskIsReportedAndNotIgnored) {
  if (!std::filesystem::exists("/dev/full")) {
    GTEST_SKIP() << "no /dev/full here";
  }
  const std::string compare =
      " compare " + quoted(path("golden")) + " " + quoted(path("golden"));  // they agree
  for (const std::string& command : {std::string(" list"), std::string(" --help"), compare}) {
    const Outcome outcome =
        run_shell("(" + quoted(OPDRIFT_BINARY) + command + " 2>&1 > /dev/full)");
    EXPECT_EQ(outcome.exit_code, 2) << command;
    EXPECT_EQ(outcome.text, "opdrift: the output could not be written\n") << command;
  }
}

TEST_F(Cli, APipeInPlaceOfAFileIsRefusedAndNotWaitedFor) {
  const std::string pipe = path("pipe.npy");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const char* command : {"info ", "stats ", "graph ", "om2json "}) {
    const Outcome outcome = opdrift(command + quoted(pipe));
    EXPECT_EQ(outcome.exit_code, 2) << command;
    EXPECT_NE(outcome.text.find("pipe.npy"), std::string::npos) << outcome.text;
  }
}

}  // namespace
}  // namespace opdrift::cli
