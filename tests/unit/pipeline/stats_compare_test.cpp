// Comparing dumps of which one side, or both, are only statistics.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "unit/pipeline/dump_testing.hpp"

#include "opdrift/pipeline/compare.hpp"
#include "opdrift/pipeline/convert/export.hpp"
#include "opdrift/pipeline/stats/watch_stats.hpp"

namespace opdrift::pipeline {
namespace {

class StatsCompare : public testing::FolderTest {
 protected:
  void SetUp() override {
    FolderTest::SetUp();
    for (std::size_t i = 0; i < 1000; ++i) {
      values_.push_back(std::sin(static_cast<double>(i)));
    }
    write("golden", 1.0);
    write("good", 1.0 + 1e-4);
    write("bad", 1.02);
  }

  void write(const std::string& folder, double factor) {
    std::vector<double> values = values_;
    for (double& value : values) {
      value *= factor;
    }
    testing::write_npy_file(path(folder + "/conv.0.1.npy"), tensor::DType::f32, {10, 100}, values);
    testing::write_npy_file(path(folder + "/relu.0.2.npy"), tensor::DType::f32, {10, 100}, values);
  }

  /// Turns a folder into records; the tensors go.
  void reduce(const std::string& folder) {
    WatchOptions options;
    options.folder = path(folder);
    options.follow = false;
    options.delete_source = true;
    const auto outcome = watch_stats(options);
    ASSERT_TRUE(outcome);
    ASSERT_EQ(outcome->deleted, 2U);
  }

  verdict::RunResult compare(const std::string& target, const std::string& golden) {
    auto result = compare_dumps(path(target), path(golden), {});
    EXPECT_TRUE(result) << result.error().to_string();
    return result ? std::move(*result) : verdict::RunResult{};
  }

  std::vector<double> values_;
};

std::vector<double> relative_errors(const verdict::RunResult& result) {
  std::vector<double> errors;
  for (const verdict::TensorResult& tensor : result.tensors) {
    errors.push_back(tensor.measurement ? tensor.measurement->relative_l2() : -1.0);
  }
  return errors;
}

TEST_F(StatsCompare, RecordsOfOneSideAreEnough) {
  reduce("golden");
  for (const auto& [target, passes] : {std::pair("good", true), std::pair("bad", false)}) {
    const verdict::RunResult result = compare(target, "golden");
    ASSERT_EQ(result.tensors.size(), 2U);
    for (const verdict::TensorResult& tensor : result.tensors) {
      EXPECT_TRUE(tensor.statistics_only);
      EXPECT_EQ(tensor.passed, passes) << target << ": " << tensor.reason;
    }
    EXPECT_EQ(result.totals(verdict::RunSide::golden).compared, 2U);
    EXPECT_EQ(result.totals(verdict::RunSide::golden).equal, 0U);
    EXPECT_TRUE(std::any_of(result.notes.begin(), result.notes.end(), [](const std::string& note) {
      return note.find("from statistics only") != std::string::npos;
    }));
  }
}

// The sketch estimates |1.02 x - x| / |x| = 0.02 with at most 9 % standard deviation.
TEST_F(StatsCompare, RecordsOfBothSidesEstimateTheError) {
  reduce("golden");
  reduce("bad");
  for (const double error : relative_errors(compare("bad", "golden"))) {
    EXPECT_NEAR(error, 0.02, 0.006);
  }
}

TEST_F(StatsCompare, ARecordBesideItsFileIsIgnored) {
  WatchOptions options;
  options.folder = path("golden");
  options.follow = false;
  ASSERT_TRUE(watch_stats(options));
  const verdict::RunResult result = compare("bad", "golden");
  ASSERT_EQ(result.tensors.size(), 2U);
  EXPECT_FALSE(result.tensors[0].statistics_only);
  EXPECT_EQ(result.totals(verdict::RunSide::golden).ignored, 2U);
}

TEST_F(StatsCompare, ATableStandsForADump) {
  const auto index = index_dump(path("golden"), verdict::RunSide::golden, 1);
  ASSERT_TRUE(index);
  ExportOptions options;
  options.type = ExportType::stats;
  options.output_folder = path("table");
  ASSERT_TRUE(export_dump(*index, options));
  EXPECT_EQ(compare("good", "table").failed(), 0U);
  EXPECT_EQ(compare("bad", "table/stats.json").failed(), 2U);
}

/// As `opdrift stats --format csv` writes it.
constexpr const char* kCsvHead =
    "tensor,dtype,shape,min,max,mean,rms,std,nan,positive_inf,negative_inf,zero,subnormal,"
    "saturated,problem\n";

void write_text(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << text;
}

TEST_F(StatsCompare, ACsvTableStandsForADump) {
  write_text(path("csv/table.csv"), std::string(kCsvHead) +
                                        "conv:output:0,float32,4,-1,2,0.25,1.5,1.4,0,0,0,0,0,0,\n"
                                        "gone:output:0,float32,4,,,,,,,,,,,,cannot be read\n");
  write_text(path("moved/table.csv"),
             "\xEF\xBB\xBF" + std::string(kCsvHead) +
                 "conv:output:0,float32,4,-1,2,0.25,1.6,1.4,0,0,0,0,0,0,\n");
  const verdict::RunResult same = compare("csv", "csv/table.csv");
  ASSERT_EQ(same.tensors.size(), 1U);
  EXPECT_TRUE(same.tensors[0].passed);
  EXPECT_TRUE(same.tensors[0].statistics_only);
  const verdict::RunResult moved = compare("moved", "csv");
  ASSERT_EQ(moved.tensors.size(), 1U);
  EXPECT_FALSE(moved.tensors[0].passed);
  // By hand: (1.6 - 1.5) / 1.5.
  EXPECT_NEAR(moved.tensors[0].measurement->relative_l2(), 0.0666667, 1e-6);
}

TEST_F(StatsCompare, ACsvTableWithABrokenLineIsUnreadableAndNamesIt) {
  write_text(path("csv/table.csv"),
             std::string(kCsvHead) + "conv:output:0,float32,4x?,-1,2,0.25,1.5,1.4,0,0,0,0,0,0,\n");
  const verdict::RunResult result = compare("csv", "good");
  const auto line = std::find_if(result.ledger.begin(), result.ledger.end(), [](const auto& entry) {
    return entry.state == verdict::LedgerState::unreadable;
  });
  ASSERT_NE(line, result.ledger.end());
  EXPECT_NE(line->reason.find("line 2 lacks a proper 'shape'"), std::string::npos) << line->reason;
}

TEST_F(StatsCompare, ADamagedRecordIsUnreadable) {
  reduce("golden");
  const std::string record = path("golden/relu.0.2.npy.stats.json");
  std::filesystem::resize_file(record, std::filesystem::file_size(record) / 2);
  const verdict::RunResult result = compare("good", "golden");
  EXPECT_EQ(result.tensors.size(), 1U);
  EXPECT_EQ(result.totals(verdict::RunSide::golden).unreadable, 1U);
}

}  // namespace
}  // namespace opdrift::pipeline
