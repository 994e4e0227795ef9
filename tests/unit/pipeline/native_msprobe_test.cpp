// msprobe's dumps through compare_dumps: the recorded cases of the front end.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "unit/pipeline/dump_testing.hpp"

#include "opdrift/pipeline/compare.hpp"
#include "opdrift/pipeline/msprobe/native_compare.hpp"

namespace opdrift::pipeline {
namespace {

namespace fs = std::filesystem;

std::string cases_folder() {
  const char* given = std::getenv("OPDRIFT_SHARED");
  const std::string shared = given != nullptr ? given : OPDRIFT_SOURCE_DIR "/../shared";
  return shared + "/fixtures/msprobe";
}

std::set<std::string> files_below(const std::string& path) {
  std::set<std::string> files;
  if (!fs::is_directory(path)) {
    return {path};
  }
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) {
      files.insert(entry.path().string());
    }
  }
  return files;
}

/// Files on the disk without a line in the ledger, and lines that are about no file; a file that is
/// missing must be told as unreadable.
std::set<std::string> unaccounted(const verdict::RunResult& result, verdict::RunSide side,
                                  const std::string& path) {
  std::set<std::string> files = files_below(path);
  std::set<std::string> wrong = files;
  for (const verdict::LedgerEntry& entry : result.ledger) {
    if (entry.side != side) {
      continue;
    }
    wrong.erase(entry.path);
    if (!files.contains(entry.path) && entry.state != verdict::LedgerState::unreadable) {
      wrong.insert(entry.path);
    }
  }
  return wrong;
}

struct NativeCase {
  const char* name;
  const char* target;
  const char* golden;
  MsprobeKind kind;
};

class NativeMsprobe : public ::testing::TestWithParam<NativeCase> {};

TEST_P(NativeMsprobe, EveryFileOfBothSidesIsInTheLedger) {
  const NativeCase& one = GetParam();
  const std::string input = cases_folder() + "/" + one.name + "/input/";
  if (!fs::exists(input)) {
    GTEST_SKIP() << "no recorded case " << one.name;
  }
  const std::string target = input + one.target;
  const std::string golden = input + one.golden;
  EXPECT_EQ(msprobe_kind(target, golden), one.kind);
  const auto result = compare_dumps(target, golden, {});
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_FALSE(result->tensors.empty());
  EXPECT_EQ(unaccounted(*result, verdict::RunSide::target, target), std::set<std::string>{});
  EXPECT_EQ(unaccounted(*result, verdict::RunSide::golden, golden), std::set<std::string>{});
  for (const verdict::TensorResult& tensor : result->tensors) {
    EXPECT_TRUE(tensor.passed || !tensor.reason.empty()) << tensor.label();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Recorded, NativeMsprobe,
    ::testing::Values(NativeCase{"ta_ge_fx_new", "ge", "golden", MsprobeKind::torchair},
                      NativeCase{"ta_ge_fx_old", "ge", "golden", MsprobeKind::torchair},
                      NativeCase{"ta_ge_fx_ranks", "ge", "golden", MsprobeKind::torchair},
                      NativeCase{"ta_ge_ge_fused", "ge", "golden", MsprobeKind::torchair},
                      NativeCase{"ta_minmax_info", "ge", "golden", MsprobeKind::torchair},
                      NativeCase{"dj_ranks_stat", "npu", "bench", MsprobeKind::api_run},
                      NativeCase{"dj_ranks_tensor", "npu", "bench", MsprobeKind::api_run},
                      NativeCase{"dj_stat_basic", "npu", "bench", MsprobeKind::api_run},
                      NativeCase{"dj_tensor", "npu", "bench", MsprobeKind::api_run},
                      NativeCase{"dj_md5", "npu", "bench", MsprobeKind::api_run}),
    [](const auto& tested) { return std::string(tested.param.name); });

class ApiDump : public testing::FolderTest {
 protected:
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(path(name)).parent_path());
    std::ofstream(path(name)) << text;
  }

  static std::string run_of(const std::string& max, const std::string& scalar) {
    return R"({"task": "statistics", "level": "L1", "framework": "pytorch", "data": {
      "Torch.add.0.forward": {"input_args": [)" +
           scalar + R"(], "output": [{"type": "torch.Tensor", "dtype": "torch.float32",
        "shape": [2, 2], "Max": )" +
           max + R"(, "Min": -1.0, "Mean": 0.5, "Norm": 3.0, "requires_grad": false}]}}})";
  }
};

TEST_F(ApiDump, StatisticsAndScalarsAreJudged) {
  write("a/dump.json", run_of("2.0", R"({"type": "int", "value": 3})"));
  write("b/dump.json", run_of("2.5", R"({"type": "int", "value": 4})"));
  const auto same = compare_dumps(path("a"), path("a"), {});
  ASSERT_TRUE(same);
  EXPECT_EQ(same->tensors.size(), 2U);
  EXPECT_EQ(same->failed(), 0U);
  const auto other = compare_dumps(path("a"), path("b/dump.json"), {});
  ASSERT_TRUE(other);
  EXPECT_EQ(other->failed(), 2U);
  EXPECT_FALSE(other->tensors[0].statistics_only);  // a number is known exactly
  EXPECT_TRUE(other->tensors[1].statistics_only);
}

TEST_F(ApiDump, ASideWithoutARunSaysWhatWasLookedFor) {
  write("a/step0/rank0/dump.json", run_of("2.0", "null"));
  fs::create_directories(path("empty"));
  const auto result = compare_dumps(path("a"), path("empty"), {});
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("dump.json"), std::string::npos);
  EXPECT_EQ(result.error().path, path("empty"));
}

TEST_F(ApiDump, RanksWithoutAPartnerAreToldApart) {
  write("a/rank0/dump.json", run_of("2.0", "null"));
  write("a/rank1/dump.json", run_of("2.0", "null"));
  write("b/rank0/dump.json", run_of("2.0", "null"));
  write("b/rank3/dump.json", run_of("2.0", "null"));
  const auto result = compare_dumps(path("a"), path("b"), {});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->tensors.size(), 1U);
  EXPECT_EQ(result->totals(verdict::RunSide::target).unmatched, 1U);
  EXPECT_EQ(result->totals(verdict::RunSide::golden).unmatched, 1U);
}

}  // namespace
}  // namespace opdrift::pipeline
