#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "msaccucmp_case.hpp"
#include <nlohmann/json.hpp>

#include "opdrift/compat/msaccucmp.hpp"
#include "opdrift/io/ascend/mapping.hpp"

namespace opdrift::compat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Where this tool is right on purpose and the recorded run is not.
struct Mended {
  int exit_code = -1;  ///< -1: as recorded
  std::vector<Deviation> deviations;
  std::vector<std::string> more_files;
};

const std::map<std::string, Mended>& mended_cases() {
  const std::string head = "Index,N C H W,NPUDump,GroundTruth,AbsoluteError,RelativeError\n";
  static const std::map<std::string, Mended> kCases = {
      // The lists of worst elements are complete when there are fewer elements than asked for.
      {"detail_ignore",
       {-1,
        {{"out/net_conv1_output_0_absolute_error_topn.csv", "",
          head + "0,0 0 0 0,-0.855957\t,-0.858549\t,0.002592\t,0.003019\t\n"
                 "3,0 1 0 0,0.663574\t,0.664697\t,0.001123\t,0.001689\t\n"
                 "4,0 1 0 1,-0.276855\t,-0.275911\t,0.000944\t,0.003422\t\n"
                 "1,0 0 0 1,-0.849121\t,-0.849962\t,0.000840\t,0.000989\t\n"
                 "5,0 1 0 2,0.000271\t,0.000000\t,0.000271\t,-\t\n"
                 "2,0 0 0 2,-0.307617\t,-0.307752\t,0.000135\t,0.000440\t\n"},
         {"out/net_conv1_output_0_relative_error_topn.csv", "",
          head + "4,0 1 0 1,-0.276855\t,-0.275911\t,0.000944\t,0.003422\t\n"
                 "0,0 0 0 0,-0.855957\t,-0.858549\t,0.002592\t,0.003019\t\n"
                 "3,0 1 0 0,0.663574\t,0.664697\t,0.001123\t,0.001689\t\n"
                 "1,0 0 0 1,-0.849121\t,-0.849962\t,0.000840\t,0.000989\t\n"
                 "2,0 0 0 2,-0.307617\t,-0.307752\t,0.000135\t,0.000440\t\n"
                 "5,0 1 0 2,0.000271\t,0.000000\t,0.000271\t,-\t\n"}},
        {}}},
      // Differences are taken in double: 60000 - (-60000) does not overflow.
      {"detail_npu_vs_npu",
       {-1,
        {{"out/a_output_0_absolute_error_topn.csv", "",
          head + "0,0 0 0 0,60000.000000\t,-60000.000000\t,120000.000000\t,2.000000\t\n"
                 "15,0 1 0 3,0.847656\t,0.853027\t,0.005371\t,0.006298\t\n"
                 "12,0 1 0 0,0.626953\t,0.624023\t,0.002930\t,0.004696\t\n"
                 "6,0 0 1 2,-0.858398\t,-0.855469\t,0.002930\t,0.003426\t\n"},
         {"out/a_output_0_relative_error_topn.csv", "",
          head + "0,0 0 0 0,60000.000000\t,-60000.000000\t,120000.000000\t,2.000000\t\n"
                 "15,0 1 0 3,0.847656\t,0.853027\t,0.005371\t,0.006298\t\n"
                 "12,0 1 0 0,0.626953\t,0.624023\t,0.002930\t,0.004696\t\n"
                 "11,0 0 2 3,-0.071838\t,-0.072144\t,0.000305\t,0.004230\t\n"},
         {"out/a_output_0_summary.txt", "",
          "TotalCount:24\nNPUDump:a\nGroundTruth:a\nFormat:N C H W\nMinAbsoluteError:0.000000\n"
          "MaxAbsoluteError:120000.000000\nMinRelativeError:0.000000\n"
          "MaxRelativeError:2.000000\n"},
         {"out/a_output_0_0.csv", "first row",
          "0,0 0 0 0,60000.000000\t,-60000.000000\t,120000.000000\t,2.000000\t"}},
        {}}},
      // FRACTAL_NZ keeps its leading dims, so the tensor is compared.
      {"fractal_nz",
       {-1,
        {{"mm2:output:0", "DataType", "*"},
         {"mm2:output:0", "Shape", "[2,3,16,32]"},
         {"mm2:output:0", "CosineSimilarity", "0.999998"},
         {"mm2:output:0", "MaxAbsoluteError", "*"},
         {"mm2:output:0", "AccumulatedRelativeError", "*"},
         {"mm2:output:0", "RelativeEuclideanDistance", "*"},
         {"mm2:output:0", "KullbackLeiblerDivergence", "*"},
         {"mm2:output:0", "StandardDeviation", "*"},
         {"mm2:output:0", "MeanAbsoluteError", "*"},
         {"mm2:output:0", "RootMeanSquareError", "*"},
         {"mm2:output:0", "MaxRelativeError", "*"},
         {"mm2:output:0", "MeanRelativeError", "*"},
         {"mm2:output:0", "CompareFailReason", ""}},
        {}}},
      // One tensor that does not fit, or one unreadable dump, is one row and not the end of the
      // run.
      {"npu_vs_npu_origin_differs",
       {0, {{"ok", "new row", ""}, {"diff", "new row", ""}, {"ok2", "new row", ""}}, {}}},
      {"odd_byte_count",
       {11, {{"ok", "new row", ""}, {"odd", "new row", ""}, {"ok2", "new row", ""}}, {}}},
      // A name that merely contains a mark of quantised models does not make one.
      {"quantize_substring", {0, {}, {"out/result_TIMESTAMP.csv"}}},
  };
  return kCases;
}

fs::path cases_folder() {
  return shared_folder() / "fixtures" / "msaccucmp";
}

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(cases_folder(), error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (entry->is_directory() && name != "exit_codes") {
      names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  return names.empty() ? std::vector<std::string>{"none"} : names;
}

struct Outcome {
  int status = 0;
  std::string log;
};

Outcome run(const json& args) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  Outcome outcome;
  outcome.status = run_msaccucmp(args.get<std::vector<std::string>>());
  testing::internal::GetCapturedStdout();
  outcome.log = testing::internal::GetCapturedStderr();
  return outcome;
}

class MsaccucmpFixture : public testing::TestWithParam<std::string> {};

// Expected files and exit codes were recorded from the reference tool.
TEST_P(MsaccucmpFixture, MatchesTheRecordedRun) {
  const fs::path source = cases_folder() / GetParam();
  if (!fs::exists(source)) {
    GTEST_SKIP() << "no folder " << cases_folder();
  }
  const json description = json::parse(read_file(source / "case.json"));
  const auto found_case = mended_cases().find(GetParam());
  const Mended mended = found_case == mended_cases().end() ? Mended{} : found_case->second;
  const WorkingCopy copy(source);
  const Outcome outcome = run(description["args"]);
  EXPECT_EQ(outcome.status,
            mended.exit_code >= 0 ? mended.exit_code : description["exit_code"].get<int>())
      << outcome.log;
  const std::map<std::string, fs::path> made = copy.new_files();
  std::vector<std::string> names = mended.more_files;
  for (const auto& name : description["produced"]) {
    names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  std::vector<std::string> made_names;
  for (const auto& [name, path] : made) {
    made_names.push_back(name);
  }
  EXPECT_EQ(made_names, names) << outcome.log;
  const FileComparer comparer(description, mended.deviations, copy.path().string());
  for (const auto& [name, path] : made) {
    const fs::path expected = source / "expected" / name;
    if (!fs::exists(expected)) {
      continue;
    }
    for (const std::string& problem : comparer.compare(name, expected, path)) {
      ADD_FAILURE() << problem;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, MsaccucmpFixture, testing::ValuesIn(case_names()),
                         [](const auto& test) { return test.param; });

// Many commands on one small net; statuses, names of new files and row counts were recorded.
TEST(MsaccucmpExitCodes, EveryCommandEndsAsRecorded) {
  const fs::path source = cases_folder() / "exit_codes";
  if (!fs::exists(source)) {
    GTEST_SKIP() << "no folder " << source;
  }
  const json description = json::parse(read_file(source / "case.json"));
  for (const json& command : description["commands"]) {
    const WorkingCopy copy(source);
    const Outcome outcome = run(command["args"]);
    const std::string why = command["why"];
    EXPECT_EQ(outcome.status, command["exit_code"].get<int>()) << why << "\n" << outcome.log;
    std::vector<std::string> names;
    for (const auto& [name, path] : copy.new_files()) {
      names.push_back(name);
      if (!command["csv_rows"].is_null() && name.ends_with(".csv")) {
        EXPECT_EQ(io::parse_csv(read_file(path)).size(), command["csv_rows"].get<std::size_t>() + 1)
            << why;
      }
    }
    EXPECT_EQ(names, command["produced"].get<std::vector<std::string>>()) << why;
  }
}

}  // namespace
}  // namespace opdrift::compat
