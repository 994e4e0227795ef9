#include "opdrift/compat/msaccucmp_compare.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "msaccucmp_case.hpp"
#include "unit/io/io_testing.hpp"

#include "opdrift/compat/compare_request.hpp"
#include "opdrift/compat/msaccucmp_convert.hpp"
#include "opdrift/io/ascend/mapping.hpp"

namespace opdrift::compat {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// Log lines are of no interest here.
struct QuietLog {
  std::ostringstream text;
  ReferenceLog log{text};
};

int quiet(int (*command)(std::span<const std::string>), const Words& args) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  const int status = command(args);
  testing::internal::GetCapturedStdout();
  testing::internal::GetCapturedStderr();
  return status;
}

TEST(ChooseAlgorithms, KeepsOrderDropsRepeatsAndUnknownOnes) {
  QuietLog quiet_log;
  const auto chosen = choose_algorithms("3, MaxAbsoluteError,0,3,Nope,77", quiet_log.log);
  ASSERT_TRUE(chosen.has_value());
  EXPECT_EQ(*chosen, (Words{"RelativeEuclideanDistance", "MaxAbsoluteError", "CosineSimilarity"}));
  EXPECT_EQ(quiet_log.log.warnings(), 2u);
  EXPECT_EQ(choose_algorithms("ALL", quiet_log.log)->size(), 10u);
  EXPECT_EQ(choose_algorithms("", quiet_log.log).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(choose_algorithms("77", quiet_log.log).error().code, ErrorCode::unsupported);
}

TEST(JoinAlgorithmNumbers, OnlyWhenTheSecondWordIsOneDigit) {
  EXPECT_EQ(join_algorithm_numbers(Words{"-alg", "9", "5", "0", "-m", "x"}),
            (Words{"-alg", "9,5,0", "-m", "x"}));
  EXPECT_EQ(join_algorithm_numbers(Words{"-alg", "9", "-m", "x"}), (Words{"-alg", "9", "-m", "x"}));
  EXPECT_EQ(join_algorithm_numbers(Words{"-alg"}), (Words{"-alg"}));
}

TEST(AlgorithmOptions, NameColonKeyEqualsValue) {
  EXPECT_TRUE(check_algorithm_options("0:p=1;Max:q=2,r=3").has_value());
  for (const char* text : {"Cosine:x", "Cosine", ":a=1", "A:=1", "A:a=1;B"}) {
    EXPECT_FALSE(check_algorithm_options(text).has_value()) << text;
  }
}

TEST(Advisor, ReadsATableAndWritesItsAdvice) {
  const io::testing::TempFolder temporary;
  const fs::path folder = temporary.path();
  const std::string table = (folder / "result.csv").string();
  std::ofstream(table) << "Index,NPUDump,CosineSimilarity\r\n0,data,0.5\r\n1,conv,1.0\r\n";
  EXPECT_EQ(quiet(run_advisor, {"-i", table, "-input_nodes", "data", "-o", folder.string()}), 0);
  EXPECT_NE(read_file(folder / "advisor_summary.txt").find("Operator Index: 0\n"),
            std::string::npos);
  std::ofstream(folder / "other.csv") << "a,b\n";
  EXPECT_EQ(quiet(run_advisor, {"-i", (folder / "other.csv").string()}), 33);
  std::ofstream(folder / "other.txt") << "a,b\n";
  EXPECT_EQ(quiet(run_advisor, {"-i", (folder / "other.txt").string()}), 24);
  EXPECT_EQ(quiet(run_advisor, {"-i", (folder / "none.csv").string()}), 3);
}

TEST(Compare, PythonPluginsAreRefusedAndEmptyFoldersAreNot) {
  const fs::path source = shared_folder() / "fixtures" / "msaccucmp" / "basic_nchw_fp16";
  if (!fs::exists(source)) {
    GTEST_SKIP() << "no folder " << source;
  }
  const WorkingCopy copy(source);
  fs::create_directories("plugins/algorithm");
  const Words args = {"-m",         "npu",  "-g",  "golden", "-f",
                      "graph.json", "-out", "out", "-c",     "plugins"};
  EXPECT_EQ(quiet(run_compare, args), 0);
  std::ofstream("plugins/algorithm/alg_Mine.py") << "def compare(x, y, args): pass\n";
  EXPECT_EQ(quiet(run_compare, args), 6);
}

TEST(Convert, PythonPluginsAreRefusedAndEmptyFoldersAreNot) {
  const fs::path source = shared_folder() / "fixtures" / "ascend-dump" / "t29_select_tensor";
  if (!fs::exists(source)) {
    GTEST_SKIP() << "no folder " << source;
  }
  const WorkingCopy copy(source);
  fs::create_directories("plugins/format_convert");
  const Words args = {
      "-d",     "in/Op.op_a.1.2.1614717262233160", "-o", "0", "-f", "NCHW", "-out", "out", "-c",
      "plugins"};
  EXPECT_EQ(quiet(run_convert, args), 0);
  std::ofstream("plugins/format_convert/convert_NHWC_to_NCHW.py") << "def convert(a, b, c): pass\n";
  EXPECT_EQ(quiet(run_convert, args), 6);
}

// The recorded run fails on data sets without Stride; they are read as stored here (Add/9).
TEST(Compare, TorchFilesOfTheOtherRecordedRun) {
  const fs::path source = shared_folder() / "fixtures" / "ascend-dump" / "h01_hdf5";
  if (!fs::exists(source)) {
    GTEST_SKIP() << "no folder " << source;
  }
  const WorkingCopy copy(source);
  EXPECT_EQ(quiet(run_compare, {"-m", "in/npu.h5", "-g", "in/gpu.h5", "-out", "out", "-p", "1"}),
            0);
  const auto made = copy.new_files();
  ASSERT_TRUE(made.contains("out/result_TIMESTAMP.csv"));
  ASSERT_TRUE(made.contains("out/result_TIMESTAMP_filtered/filtered_result.csv"));
  auto expected = io::parse_csv(read_file(source / "expected" / "compare" / "result_TIME.csv"));
  const auto actual = io::parse_csv(read_file(made.at("out/result_TIMESTAMP.csv")));
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t row = 0; row < actual.size(); ++row) {
    const bool mended = expected[row][2] == "/Add/9/output/result";
    for (std::size_t cell = 0; cell + 1 < actual[row].size() && !mended; ++cell) {
      EXPECT_EQ(actual[row][cell], expected[row][cell]) << row;
    }
    EXPECT_EQ(mended ? actual[row][6] : "1.000000", "1.000000");
  }
}

}  // namespace
}  // namespace opdrift::compat
