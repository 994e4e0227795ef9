#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "unit/io/io_testing.hpp"

#include "opdrift/compat/arguments.hpp"
#include "opdrift/compat/exit_codes.hpp"
#include "opdrift/compat/msaccucmp.hpp"
#include "opdrift/compat/msprobe_parse.hpp"
#include "opdrift/compat/path_check.hpp"
#include "opdrift/compat/reference_log.hpp"

namespace opdrift::compat {
namespace {

namespace fs = std::filesystem;

const CommandSpec& command() {
  static const CommandSpec spec = {
      .program = "tool",
      .summary = "A tool.",
      .options = {
          {.key = "path",
           .flags = {"-d", "--dump_file"},
           .help = "path",
           .required = true,
           .rule = ValueRule::safe_path},
          {.key = "output", .flags = {"-out", "--output"}, .help = "folder"},
          {.key = "one", .flags = {"-o", "--one"}, .help = "one", .exclusive_group = 1},
          {.key = "two", .flags = {"-i", "--two"}, .help = "two", .exclusive_group = 1},
          {.key = "n", .flags = {"-n"}, .help = "n", .rule = ValueRule::integer},
          {.key = "flag", .flags = {"--flag"}, .help = "flag", .takes_value = false},
          {.key = "type", .flags = {"-t"}, .help = "type", .choices = {"npy", "bin"}},
      }};
  return spec;
}

ParsedArguments parsed(const std::vector<std::string>& args) {
  ::testing::internal::CaptureStderr();
  ::testing::internal::CaptureStdout();
  ParsedArguments result = parse_arguments(command(), args);
  ::testing::internal::GetCapturedStderr();
  ::testing::internal::GetCapturedStdout();
  return result;
}

// What argparse of Python 3.11 does with the same command lines.
TEST(Arguments, AcceptsEverySpellingOfAnOption) {
  const std::vector<std::vector<std::string>> lines = {
      {"-d", "x", "-out", "y"},  {"--dump_file", "x", "--output", "y"},
      {"--dump=x", "-out=y"},    {"-dx", "-out", "y"},
      {"--output=y", "-d", "x"}, {"-d", "z", "-d", "x", "-out", "y"}};
  for (const std::vector<std::string>& line : lines) {
    const ParsedArguments result = parsed(line);
    EXPECT_FALSE(result.exit_status) << line.front();
    EXPECT_EQ(result.arguments.text("path"), "x") << line.front();
    EXPECT_EQ(result.arguments.text("output"), "y") << line.front();
  }
}

TEST(Arguments, RefusesWhatArgparseRefuses) {
  const std::vector<std::vector<std::string>> lines = {
      {},                                 // -d is missing
      {"-d"},                             // value is missing
      {"-d", "-out"},                     // a flag is no value
      {"-d", "a b"},                      // forbidden character
      {"-d", "x", "rest"},                // unrecognised
      {"-d", "x", "--unknown"},           // unrecognised
      {"-d", "x", "-o", "1", "-i", "2"},  // exclusive
      {"-d", "x", "-n", "1.5"},           // no integer
      {"-d", "x", "-t", "pt"},            // no choice
      {"-d", "x", "-ou", "y"},            // -out, or -o with the value "u"
      {"-d", "x", "--flag=1"}};           // takes no value
  for (const std::vector<std::string>& line : lines) {
    EXPECT_EQ(parsed(line).exit_status, 2) << (line.empty() ? "" : line.back());
  }
}

TEST(Arguments, TakesNegativeNumbersForValues) {
  EXPECT_EQ(parsed({"-d", "x", "-n", "-3"}).arguments.integer("n", 0), -3);
}

TEST(Arguments, ExitsWithZeroAfterHelp) {
  EXPECT_EQ(parsed({"--help"}).exit_status, 0);
}

TEST(ReferenceLog, MakesOneLineOfEveryMessage) {
  std::ostringstream sink;
  ReferenceLog log(sink);
  log.error("a\nb\tc%0ad");
  EXPECT_NE(sink.str().find("- [ERROR] a_b_c_d\n"), std::string::npos) << sink.str();
  EXPECT_EQ(log.errors(), 1U);
  EXPECT_EQ(log.warnings(), 0U);
}

/// A folder for one test.
class FrontEnd : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return (path_ / name).string();
  }

  io::testing::TempFolder folder_;
  fs::path path_ = folder_.path();
};

TEST_F(FrontEnd, ChecksPathsInTheOrderOfTheReference) {
  const auto code = [](const std::string& path, PathKind kind) {
    const Status status = check_path(path, kind);
    return status ? 0 : exit_code(status.error().code);
  };
  const std::string plain = file("plain", "x");
  EXPECT_EQ(code("", PathKind::any), 6);
  EXPECT_EQ(code("no such * file", PathKind::any), 6);
  EXPECT_EQ(code("/" + std::string(255, 'x'), PathKind::any), 3);
  EXPECT_EQ(code("/none/there", PathKind::any), 3);
  EXPECT_EQ(code(plain, PathKind::folder), 3);
  EXPECT_EQ(code(path_.string(), PathKind::file), 3);
  EXPECT_EQ(code(plain, PathKind::file), 0);
}

TEST_F(FrontEnd, MakesOutputFoldersForTheUserAlone) {
  const std::string folder = (path_ / "a/b").string();
  ASSERT_TRUE(prepare_output_folder(folder));
  struct stat info {};
  ASSERT_EQ(::stat(folder.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0700U);
  EXPECT_FALSE(prepare_output_folder(file("plain", "x")));
}

int parse_status(const std::vector<std::string>& args) {
  ::testing::internal::CaptureStderr();
  const int status = run_parse(args);
  ::testing::internal::GetCapturedStderr();
  return status;
}

TEST_F(FrontEnd, ParsesTextHeaderDumpsByTheFirstNameOfAFolder) {
  file("a.BIN", "dtype=2\ndims=2\n$End=1\nxy");
  file("b.bin", "dtype=2\ndims=3\n$End=1\nxy");
  const std::string out = (path_ / "out").string();
  EXPECT_EQ(parse_status({"-d", path_.string(), "-t", "npy", "-o", out}), 0);
  EXPECT_TRUE(fs::exists(out + "/a.npy"));
  EXPECT_FALSE(fs::exists(out + "/b.npy"));
}

TEST_F(FrontEnd, FailsToParseWhatIsMissingOrBroken) {
  const std::string out = (path_ / "out").string();
  EXPECT_EQ(parse_status({"-d", (path_ / "none").string(), "-o", out}), 1);
  EXPECT_EQ(parse_status({"-d", file("x.bin", "a=\xff\n$End=1\n"), "-o", out}), 1);
  EXPECT_EQ(parse_status({"-d", file("A.b.1.2.3", ""), "-o", out}), 1);
  EXPECT_EQ(parse_status({"-t", "npy"}), 2);
}

TEST(Msaccucmp, NeedsACommand) {
  ::testing::internal::CaptureStderr();
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(run_msaccucmp({}), 6);
  EXPECT_EQ(run_msaccucmp(std::vector<std::string>{"convert"}), 6);
  EXPECT_EQ(run_msaccucmp(std::vector<std::string>{"unknown"}), 2);
  EXPECT_EQ(run_msaccucmp(std::vector<std::string>{"--help"}), 0);
  ::testing::internal::GetCapturedStdout();
  ::testing::internal::GetCapturedStderr();
}

}  // namespace
}  // namespace opdrift::compat
