#include "opdrift/pipeline/compare.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "dump_testing.hpp"

namespace opdrift::pipeline {
namespace {

using tensor::DType;
using tensor::Format;
using testing::write_device_file;
using testing::write_npy_file;
using verdict::LedgerState;
using verdict::RunSide;

class Compare : public testing::FolderTest {
 protected:
  void golden(const std::string& name, const std::vector<double>& values) const {
    write_npy_file(path("golden/" + name + ".0.1700000000000001.npy"), DType::f32, {values.size()},
                   values);
  }
  void target(const std::string& name, const std::vector<double>& values) const {
    write_npy_file(path("target/" + name + ".0.1700000000000001.npy"), DType::f16, {values.size()},
                   values);
  }
  verdict::RunResult run(const CompareOptions& options = {}) const {
    auto result = compare_dumps(path("target"), path("golden"), options);
    EXPECT_TRUE(result) << result.error().to_string();
    return result ? std::move(*result) : verdict::RunResult{};
  }
};

/// Ledger lines of both sides must add up to the files in both folders, whatever happened.
void expect_complete(const verdict::RunResult& result, std::size_t golden, std::size_t target) {
  EXPECT_EQ(result.totals(RunSide::golden).all(), golden);
  EXPECT_EQ(result.totals(RunSide::target).all(), target);
}

TEST_F(Compare, EqualDumpsAgreeBitByBit) {
  golden("a", {1, 2, 3});
  target("a", {1, 2, 3});
  const auto result = run();
  ASSERT_EQ(result.tensors.size(), 1U);
  EXPECT_TRUE(result.tensors[0].passed);
  EXPECT_EQ(result.totals(RunSide::target).equal, 1U);
  expect_complete(result, 1, 1);
}

TEST_F(Compare, NamesTheFirstOffenderInExecutionOrder) {
  write_npy_file(path("golden/b.0.1700000000000009.npy"), DType::f32, {2}, {1, 2});
  write_npy_file(path("target/b.0.1700000000000009.npy"), DType::f32, {2}, {9, 2});
  write_npy_file(path("golden/c.0.1700000000000005.npy"), DType::f32, {2}, {1, 2});
  write_npy_file(path("target/c.0.1700000000000005.npy"), DType::f32, {2}, {1, 2.5});
  const auto result = run();
  ASSERT_NE(result.first_offender(), nullptr);
  EXPECT_EQ(result.first_offender()->operator_name, "c");
  EXPECT_EQ(result.failed(), 2U);
}

TEST_F(Compare, NanOnOneSideFailsEvenWithGenerousGates) {
  golden("a", {1, 2, 3});
  target("a", {1, std::numeric_limits<double>::quiet_NaN(), 3});
  CompareOptions options;
  options.gates = *verdict::parse_gates("rel_l2=100");
  const auto result = run(options);
  ASSERT_EQ(result.tensors.size(), 1U);
  EXPECT_FALSE(result.tensors[0].passed);
}

TEST_F(Compare, EveryFileEndsInTheLedger) {
  golden("a", {1});
  golden("only_golden", {1});
  target("a", {1});
  target("only_target", {1});
  std::ofstream(path("target/notes.log")) << "log";
  std::ofstream(path("target/broken.0.1700000000000001.npy")) << "\x93NUMPY";
  std::ofstream(path("target/Conv.x.1.1.1700000000000001")) << "short";
  const auto result = run();
  const auto totals = result.totals(RunSide::target);
  EXPECT_EQ(totals.equal, 1U);
  EXPECT_EQ(totals.unmatched, 1U);
  EXPECT_EQ(totals.unreadable, 2U);
  EXPECT_EQ(totals.ignored, 1U);
  expect_complete(result, 2, 5);
}

// No reader knows the bytes, but the name promises a tensor: that is damage, not a stray file.
TEST_F(Compare, JunkUnderATensorsNameIsUnreadableAndOtherJunkIgnored) {
  golden("a", {1});
  target("a", {1});
  for (const char* name : {"x.npy", "x.npz", "x.pt", "x.pth", "x.safetensors", "x.h5", "x.pb"}) {
    std::ofstream(path(std::string("target/") + name)) << "\x01 junk that is no tensor";
  }
  std::ofstream(path("target/readme.rst")) << "about this folder";
  const auto result = run();
  EXPECT_EQ(result.totals(RunSide::target).unreadable, 7U);
  EXPECT_EQ(result.totals(RunSide::target).ignored, 1U);
  expect_complete(result, 1, 9);
}

TEST_F(Compare, MisfittingShapesAreReportedAndOthersGoOn) {
  golden("a", {1, 2, 3});
  target("a", {1, 2});
  golden("b", {1});
  target("b", {1});
  const auto result = run();
  ASSERT_EQ(result.tensors.size(), 2U);
  EXPECT_EQ(result.failed(), 1U);
  EXPECT_EQ(result.totals(RunSide::golden).unreadable, 1U);
  expect_complete(result, 2, 2);
}

// NC1HWC0 with C0 = 2 of channels (0, 1, 2) and one padded channel.
TEST_F(Compare, BlockedDeviceLayoutsUnfoldToTheGolden) {
  write_npy_file(path("golden/conv.0.1700000000000001.npy"), DType::f32, {1, 3, 1, 2},
                 {0, 1, 10, 11, 20, 21});
  write_device_file(path("target/Conv2D.conv.1.1.1700000000000001"), "conv", DType::f16,
                    Format::nc1hwc0, {1, 2, 1, 2, 2}, {1, 3, 1, 2}, {0, 10, 1, 11, 20, 99, 21, 99});
  const auto result = run();
  ASSERT_EQ(result.tensors.size(), 1U);
  EXPECT_TRUE(result.tensors[0].passed) << result.tensors[0].reason;
  EXPECT_EQ(result.totals(RunSide::target).equal, 1U);
  EXPECT_EQ(result.tensors[0].operator_type, "Conv2D");
}

TEST_F(Compare, AxesMovedByAnOptimiserAreReordered) {
  write_npy_file(path("golden/t.npy"), DType::f32, {2, 1, 3}, {1, 2, 3, 4, 5, 6});
  write_npy_file(path("target/t.npy"), DType::f32, {3, 2}, {1, 4, 2, 5, 3, 6});
  const auto result = run();
  ASSERT_EQ(result.tensors.size(), 1U);
  EXPECT_TRUE(result.tensors[0].passed) << result.tensors[0].reason;
  EXPECT_NE(result.tensors[0].rule.find("reordered"), std::string::npos);
}

TEST_F(Compare, TheNewestFileOfAnOperatorCounts) {
  golden("a", {1});
  write_npy_file(path("target/a.0.1700000000000001.npy"), DType::f32, {1}, {5});
  write_npy_file(path("target/a.0.1700000000000002.npy"), DType::f32, {1}, {1});
  const auto result = run();
  ASSERT_EQ(result.tensors.size(), 1U);
  EXPECT_TRUE(result.tensors[0].passed);
  EXPECT_EQ(result.totals(RunSide::target).superseded, 1U);
  expect_complete(result, 1, 2);
}

TEST_F(Compare, StepsPairByFolder) {
  for (const char* step : {"0", "1"}) {
    write_npy_file(path(std::string("golden/") + step + "/a.npy"), DType::f32, {1}, {1});
    write_npy_file(path(std::string("target/") + step + "/a.npy"), DType::f32, {1},
                   {*step == '0' ? 1.0 : 2.0});
  }
  const auto result = run();
  ASSERT_EQ(result.tensors.size(), 2U);
  EXPECT_EQ(result.first_offender()->step, "1");
}

TEST_F(Compare, AnySelectionStillAddsUp) {
  for (const char* name : {"layer1/conv", "layer2/conv", "head"}) {
    write_npy_file(path("golden/" + std::string(name) + ".npy"), DType::f32, {1}, {1});
    write_npy_file(path("target/" + std::string(name) + ".npy"), DType::f32, {1}, {1});
  }
  CompareOptions options;
  options.only = "^con";
  const auto result = run(options);
  EXPECT_EQ(result.tensors.size(), 2U);
  EXPECT_EQ(result.totals(RunSide::golden).skipped, 1U);
  expect_complete(result, 3, 3);
  options.only = "(";
  EXPECT_FALSE(compare_dumps(path("target"), path("golden"), options));
}

TEST_F(Compare, AnInterruptedRunKeepsItsLedger) {
  golden("a", {1});
  target("a", {1});
  CancelFlag cancel;
  cancel.cancel();
  CompareOptions options;
  options.cancel = &cancel;
  const auto result = run(options);
  EXPECT_TRUE(result.interrupted);
  EXPECT_TRUE(result.tensors.empty());
  EXPECT_EQ(result.totals(RunSide::target).skipped, 1U);
}

TEST_F(Compare, ResultsDoNotDependOnTheNumberOfThreads) {
  std::vector<double> values(100000);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<double>((i * 7919) % 1000) / 37.0 - 13.0;
  }
  golden("a", values);
  target("a", values);
  CompareOptions options;
  options.kl_divergence = true;
  options.jobs = 1;
  const auto one = run(options);
  options.jobs = 4;
  const auto four = run(options);
  ASSERT_TRUE(one.tensors.at(0).measurement && four.tensors.at(0).measurement);
  EXPECT_EQ(one.tensors[0].measurement->sum_d2, four.tensors[0].measurement->sum_d2);
  EXPECT_EQ(one.tensors[0].measurement->kl_divergence, four.tensors[0].measurement->kl_divergence);
}

TEST_F(Compare, ChineseNamesAndSingleFilesWork) {
  write_npy_file(path("golden/卷积 一.npy"), DType::f32, {2}, {1, 2});
  write_npy_file(path("target/卷积 一.npy"), DType::f32, {2}, {1, 2});
  EXPECT_EQ(run().tensors.at(0).operator_name, "卷积 一");
  const auto result =
      compare_dumps(path("target/卷积 一.npy"), path("golden/卷积 一.npy"), CompareOptions{});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->tensors.size(), 1U);
}

TEST_F(Compare, AMissingSideIsAnErrorThatNamesIt) {
  golden("a", {1});
  const auto result = compare_dumps(path("nowhere"), path("golden"), CompareOptions{});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::not_found);
  EXPECT_NE(result.error().path.find("nowhere"), std::string::npos);
}

}  // namespace
}  // namespace opdrift::pipeline
