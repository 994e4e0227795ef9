#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "unit/compat/fixture_case.hpp"
#include "unit/compat/result_table.hpp"
#include <nlohmann/json.hpp>

#include "opdrift/compat/msprobe.hpp"

// Recorded runs of the reference tool: `<case>/cmd.json` (arguments, exit status), `<case>/input`,
// `<case>/expected`. Tables are compared by the tolerances written down with them.
namespace opdrift::testing {

namespace {

fs::path msprobe_root() {
  return fixture_root().parent_path() / "msprobe";
}

struct MsprobeCase {
  std::string name;
  fs::path folder;
  std::vector<std::string> args;
  int exit_status = 0;
};

std::vector<MsprobeCase> load_cases() {
  std::vector<MsprobeCase> cases;
  std::error_code error;
  for (fs::directory_iterator entry(msprobe_root(), error), end; !error && entry != end;
       entry.increment(error)) {
    if (!fs::exists(entry->path() / "cmd.json")) {
      continue;
    }
    const auto json = nlohmann::json::parse(file_text(entry->path() / "cmd.json"));
    MsprobeCase one;
    one.name = entry->path().filename().string();
    one.folder = entry->path();
    one.args = json["args"].get<std::vector<std::string>>();
    one.exit_status = json["rc"];
    cases.push_back(std::move(one));
  }
  std::sort(cases.begin(), cases.end(),
            [](const MsprobeCase& a, const MsprobeCase& b) { return a.name < b.name; });
  return cases;
}

/// What the reference refuses or dies of although it makes sense; here it works.
bool works_here(const std::string& name) {
  static const std::set<std::string> kNames = {"dj_cross_apimap", "dj_err_equals_form",
                                               "dj_stat_fuzzy", "ta_err_rank_arg",
                                               "ta_minmax_info"};
  return kNames.contains(name);
}

/// Runs a case; results go to `out`.
int run_case(const MsprobeCase& one, const fs::path& out, bool reference_tables) {
  std::vector<std::string> args;
  for (const std::string& arg : one.args) {
    args.push_back(
        replace_all(replace_all(arg, "@CASE@", one.folder.string()), "@OUT@", out.string()));
  }
  if (reference_tables && args.front() == "compare") {
    args.emplace_back("--compat");
  }
  return compat::run_msprobe(args);
}

/// Result files by name without their time stamp.
std::map<std::string, fs::path> results(const fs::path& folder) {
  static const std::regex kStamp("_[0-9]{14,}(\\.[a-z]+)$");
  std::map<std::string, fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    files[std::regex_replace(entry.path().filename().string(), kStamp, "$1")] = entry.path();
  }
  return files;
}

/// The reference's golden paths of GE tensors grow with every output; only the file counts.
std::string file_of(const std::string& path) {
  static const std::regex kTensor("(,(in|out)puts,[0-9]+)+$");
  return std::regex_replace(path, kTensor, "");
}

TextTable load_table(const fs::path& file, const fs::path& case_folder) {
  const std::string text =
      replace_all(file_text(file), fs::canonical(case_folder).string(), "@CASE@");
  TextTable table = parse_csv(replace_all(text, case_folder.string(), "@CASE@"));
  if (!table.empty() && table.front().size() > 2 && table.front()[2] == "golden_data_path") {
    for (auto& row : table) {
      row[2] = file_of(row[2]);
    }
  }
  return table;
}

void expect_equal_json(const nlohmann::ordered_json& found, const nlohmann::ordered_json& expected,
                       const std::string& where) {
  if (expected.is_object() || expected.is_array()) {
    ASSERT_EQ(found.size(), expected.size()) << where;
    auto other = found.begin();
    for (auto entry = expected.begin(); entry != expected.end(); ++entry, ++other) {
      if (expected.is_object()) {
        ASSERT_EQ(other.key(), entry.key()) << where;
        expect_equal_json(other.value(), entry.value(), where + "/" + entry.key());
      } else {
        expect_equal_json(*other, *entry, where + "[]");
      }
    }
  } else if (expected.is_number()) {
    ASSERT_TRUE(found.is_number()) << where;
    const double want = expected.get<double>();
    EXPECT_NEAR(found.get<double>(), want, 1e-9 * std::abs(want)) << where;
  } else if (expected.is_string() && found.is_string()) {
    const std::vector<std::vector<std::string>> have = {{"MeanRelativeErr"},
                                                        {found.get<std::string>()}};
    const std::vector<std::vector<std::string>> want = {{"MeanRelativeErr"},
                                                        {expected.get<std::string>()}};
    EXPECT_TRUE(table_differences(have, want, Tolerance::recorded_run).empty())
        << where << ": " << have[1][0] << " instead of " << want[1][0];
  } else {
    EXPECT_EQ(found, expected) << where;
  }
}

Tolerance tolerance_of(const MsprobeCase& one) {
  return one.name.starts_with("ta_") ? Tolerance::torchair : Tolerance::recorded_run;
}

/// Rows by name: the order of merged rows is ours.
TextTable sorted_rows(TextTable table) {
  if (table.size() > 1) {
    std::sort(table.begin() + 1, table.end());
  }
  return table;
}

void expect_no_differences(const std::vector<std::string>& differences, const std::string& what) {
  EXPECT_TRUE(differences.empty()) << what << ": " << differences.size() << " cells differ";
  for (std::size_t i = 0; i < std::min<std::size_t>(differences.size(), 5); ++i) {
    ADD_FAILURE() << differences[i];
  }
}

class MsprobeFixture : public ::testing::TestWithParam<MsprobeCase> {};

void compare_expected_file(const fs::path& expected, const std::map<std::string, fs::path>& found,
                           const MsprobeCase& one, const std::vector<std::string>& skip) {
  const std::string name = expected.filename().string();
  if (name.find(".xlsx.") != std::string::npos) {
    return;  // a sheet of the workbook beside it, compared with that
  }
  const auto file = found.find(name);
  ASSERT_NE(file, found.end()) << "missing " << name;
  if (name.ends_with(".csv")) {
    expect_no_differences(
        table_differences(load_table(file->second, one.folder), load_table(expected, one.folder),
                          tolerance_of(one), skip),
        name);
  } else if (name.ends_with(".xlsx")) {
    const TextTable want = read_sheet(expected.string());
    ASSERT_FALSE(want.empty());
    const bool merged = one.name.starts_with("merge_");
    const TextTable have = read_sheet(file->second.string());
    expect_no_differences(
        table_differences(merged ? sorted_rows(have) : have, merged ? sorted_rows(want) : want,
                          Tolerance::recorded_run, skip),
        name);
  } else if (name.ends_with(".json")) {
    expect_equal_json(nlohmann::ordered_json::parse(file_text(file->second)),
                      nlohmann::ordered_json::parse(file_text(expected)), name);
  } else {
    EXPECT_EQ(file_text(file->second), file_text(expected)) << name;
  }
}

void compare_with_expected(const MsprobeCase& one, const fs::path& out,
                           const std::vector<std::string>& skip) {
  if (!fs::exists(one.folder / "expected")) {
    return;
  }
  const auto found = results(out);
  for (const fs::directory_entry& entry : fs::directory_iterator(one.folder / "expected")) {
    compare_expected_file(entry.path(), found, one, skip);
  }
}

}  // namespace

// With --compat every table is the reference's. In dj_md5_fuzzy the reference shifts columns; only
// its pairs are right.
TEST_P(MsprobeFixture, IsReproducedWithReferenceTables) {
  const MsprobeCase& one = GetParam();
  const TemporaryFolder out;
  EXPECT_EQ(run_case(one, out.path(), true), works_here(one.name) ? 0 : one.exit_status);
  std::vector<std::string> skip;
  if (one.name == "dj_md5_fuzzy") {
    skip = {"NPU MD5", "BENCH MD5", "Result", "Err_message"};
  }
  compare_with_expected(one, out.path(), skip);
}

// Without --compat verdicts and their reasons differ, and torchair rows that the reference drops
// stay; names, pairs and numbers are the same.
TEST_P(MsprobeFixture, HasTheSameNumbersWithoutReferenceTables) {
  const MsprobeCase& one = GetParam();
  const TemporaryFolder out;
  EXPECT_EQ(run_case(one, out.path(), false), works_here(one.name) ? 0 : one.exit_status);
  if (one.name.starts_with("ta_") || one.name == "dj_md5_fuzzy") {
    return;
  }
  compare_with_expected(one, out.path(), {"Result", "Err_message"});
}

std::string case_name(const ::testing::TestParamInfo<MsprobeCase>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Recorded, MsprobeFixture, ::testing::ValuesIn(load_cases()), case_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(MsprobeFixture);

TEST(MsprobeFixtures, AreThere) {
  if (!fs::exists(msprobe_root())) {
    GTEST_SKIP() << "no recorded runs in " << msprobe_root();
  }
  EXPECT_GT(load_cases().size(), 20U);
}

namespace {

MsprobeCase case_named(const std::string& name) {
  for (MsprobeCase& one : load_cases()) {
    if (one.name == name) {
      return one;
    }
  }
  return {};
}

/// The one csv table a case makes, or nothing when the recorded runs are absent.
TextTable table_of(const std::string& name, const fs::path& out, bool reference_tables,
                   const std::vector<std::string>& more = {}) {
  MsprobeCase one = case_named(name);
  if (one.args.empty()) {
    return {};
  }
  one.args.insert(one.args.end(), more.begin(), more.end());
  EXPECT_EQ(run_case(one, out, reference_tables), 0);
  for (const auto& [file, path] : results(out)) {
    if (file.ends_with(".csv")) {
      return load_table(path, one.folder);
    }
  }
  ADD_FAILURE() << name << " made no table";
  return {};
}

std::string cell(const TextTable& table, const std::string& row, const std::string& column) {
  const auto place = std::find(table.front().begin(), table.front().end(), column);
  for (const auto& line : table) {
    if (line.front() == row && place != table.front().end()) {
      return line[static_cast<std::size_t>(place - table.front().begin())];
    }
  }
  return "no such cell";
}

}  // namespace

// The reference looks for a misspelled key and dies; with the documented one the table is that of
// the case in which both spellings are given.
TEST(MsprobeDecisions, ApiMappingAcceptsTheDocumentedKeys) {
  const TemporaryFolder out;
  const TextTable table = table_of("dj_cross_apimap", out.path(), true);
  if (table.empty()) {
    GTEST_SKIP() << "no recorded runs";
  }
  const MsprobeCase other = case_named("dj_cross_apimap_workaround");
  const TextTable expected =
      load_table(other.folder / "expected" / "compare_result.csv", other.folder);
  ASSERT_EQ(table.size(), expected.size());
  for (std::size_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(table[i][1], expected[i][1]);
  }
}

// The message the reference overwrites.
TEST(MsprobeDecisions, UnmatchedRowsAreWarningsWithTheirReason) {
  const TemporaryFolder out;
  const TextTable table = table_of("dj_tensor", out.path(), false);
  if (table.empty()) {
    GTEST_SKIP() << "no recorded runs";
  }
  EXPECT_EQ(cell(table, "NPU.only.0.forward.input.0", "Result"), "warning");
  EXPECT_NE(cell(table, "NPU.only.0.forward.input.0", "Err_message").find("No bench data matched."),
            std::string::npos);
  EXPECT_NE(
      cell(table, "Tensor.lost.0.forward.input.0", "Err_message").find("not found or read failed"),
      std::string::npos);
  EXPECT_EQ(cell(table, "Torch.matmul.0.forward.input.0", "Result"), "pass");
}

// Documents say 0.6 where the reference's code says 0.1.
TEST(MsprobeDecisions, TheLimitOfTheDocumentsCounts) {
  const TemporaryFolder out;
  const TextTable table = table_of("dj_tensor", out.path(), false);
  if (table.empty()) {
    GTEST_SKIP() << "no recorded runs";
  }
  EXPECT_EQ(cell(table, "Tensor.as_float64.0.forward.output.0", "Result"), "error");
}

// Statistics and check sums can be matched fuzzily too, with the same pairs.
TEST(MsprobeDecisions, FuzzyMatchingWorksForStatistics) {
  const TemporaryFolder out;
  const TextTable table = table_of("dj_stat_fuzzy", out.path(), true);
  if (table.empty()) {
    GTEST_SKIP() << "no recorded runs";
  }
  EXPECT_EQ(cell(table, "Functional.conv2d.0.forward.input.0", "Bench Name"),
            "Functional.conv2d.1.forward.input.0");
}

// S columns behind those of the reference; the rows it drops (a shape, an int8 side) stay.
TEST(MsprobeDecisions, TorchairKeepsDroppedRowsWithTheirReason) {
  const TemporaryFolder out;
  const TextTable table = table_of("ta_ge_fx_new", out.path(), false);
  if (table.empty()) {
    GTEST_SKIP() << "no recorded runs";
  }
  EXPECT_EQ(table.front().size(), 24U + 3U + 7U + 3U);
  const auto has = [&](const std::string& word) {
    return std::any_of(table.begin(), table.end(), [&](const std::vector<std::string>& row) {
      return row.back().find(word) != std::string::npos;
    });
  };
  EXPECT_TRUE(has("data shape doesn't match."));
  EXPECT_TRUE(has("only one side is quantised to int8"));
  EXPECT_TRUE(has("FX data missing"));
}

TEST(MsprobeDecisions, TorchairComparesReducedDumps) {
  const TemporaryFolder out;
  const TextTable table = table_of("ta_minmax_info", out.path(), false);
  if (table.empty()) {
    GTEST_SKIP() << "no recorded runs";
  }
  ASSERT_GT(table.size(), 1U);
  EXPECT_NE(std::find(table.front().begin(), table.front().end(), "Max diff"), table.front().end());
}

TEST(MsprobeDecisions, TorchairAcceptsARank) {
  const TemporaryFolder out;
  const MsprobeCase one = case_named("ta_ge_fx_ranks");
  if (one.args.empty()) {
    GTEST_SKIP() << "no recorded runs";
  }
  MsprobeCase with_rank = one;
  with_rank.args.insert(with_rank.args.end(), {"--rank", "1"});
  EXPECT_EQ(run_case(with_rank, out.path(), true), 0);
  const auto found = results(out.path());
  EXPECT_EQ(found.size(), 1U);
  EXPECT_TRUE(found.contains("msprobe_cmp_report_rank1.csv"));
  with_rank.args.back() = "7";
  EXPECT_EQ(run_case(with_rank, out.path(), true), 1);
}

TEST(MsprobeDecisions, GoldenOnlyLeavesAreListedOnRequest) {
  const TemporaryFolder out;
  const TextTable table = table_of("dj_xor", out.path(), false, {"--all"});
  if (table.empty()) {
    GTEST_SKIP() << "no recorded runs";
  }
  EXPECT_EQ(cell(table, "N/A", "Bench Name"), "Torch.only1.0.forward.input.0");
}

TEST(MsprobeCommandLine, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(compat::run_msprobe(std::vector<std::string>{"compare", "--nonsense", "1"}), 1);
  EXPECT_EQ(compat::run_msprobe(std::vector<std::string>{"compare", "-tp", "/does/not/exist", "-gp",
                                                         "/does/not/exist"}),
            1);
  EXPECT_EQ(compat::run_msprobe(std::vector<std::string>{"dance"}), 2);
}

}  // namespace opdrift::testing
