#include "opdrift/pipeline/metric_columns.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "dump_testing.hpp"

#include "opdrift/pipeline/compare.hpp"

namespace opdrift::pipeline {
namespace {

using tensor::DType;
using testing::write_npy_file;

class MetricColumnsOfRun : public testing::FolderTest {
 protected:
  void SetUp() override {
    FolderTest::SetUp();
    write_npy_file(path("golden/a.npy"), DType::f32, {2}, {3, 4});
    write_npy_file(path("target/a.npy"), DType::f32, {2}, {6, 8});
    write_npy_file(path("golden/b.npy"), DType::f32, {2}, {1, 2});
    write_npy_file(path("target/b.npy"), DType::f32, {3}, {1, 2, 3});
  }
  verdict::RunResult compare(const std::string& list, const std::vector<std::string>& plugins) {
    CompareOptions options;
    options.metrics = choose_metrics(list, plugins).value();
    return compare_dumps(path("target"), path("golden"), options).value();
  }
};

TEST(ChooseMetrics, FollowsTheListWithoutRepeats) {
  const auto columns = choose_metrics("rel_l2, COSINE,CosineSimilarity,0", {});
  ASSERT_TRUE(columns);
  EXPECT_EQ(columns->names(), (std::vector<std::string>{"RelativeL2", "CosineSimilarity"}));
  EXPECT_FALSE(columns->usual);
}

TEST(ChooseMetrics, NothingLeavesTheUsualOnes) {
  const auto columns = choose_metrics("", {});
  ASSERT_TRUE(columns);
  EXPECT_TRUE(columns->usual);
  EXPECT_TRUE(columns->names().empty());
}

TEST(ChooseMetrics, AllIsEveryAlgorithmAndNeedsTheSecondPass) {
  const auto columns = choose_metrics("all", {});
  ASSERT_TRUE(columns);
  EXPECT_EQ(columns->names().size(), metrics::all_algorithms().size());
  EXPECT_TRUE(columns->needs_divergence());
}

TEST(ChooseMetrics, UnknownNamesAreOneErrorWithNearOnes) {
  for (const char* list : {"cosin", "rel_l2,cosin", "cosine,,rel_l2"}) {
    const auto columns = choose_metrics(list, {});
    ASSERT_FALSE(columns) << list;
    EXPECT_EQ(columns.error().code, ErrorCode::invalid_argument);
  }
  EXPECT_NE(choose_metrics("cosin", {}).error().message.find("did you mean 'CosineSimilarity'"),
            std::string::npos);
}

TEST(ChooseMetrics, APluginMayBeNamedInTheList) {
  const auto columns = choose_metrics("rel_l2,MeanLogRatio", {OPDRIFT_EXAMPLE_PLUGIN});
  ASSERT_TRUE(columns) << columns.error().to_string();
  EXPECT_EQ(columns->names(), (std::vector<std::string>{"RelativeL2", "MeanLogRatio"}));
}

TEST(ChooseMetrics, OneNameStandsForOneMetric) {
  const auto columns = choose_metrics("", {OPDRIFT_EXAMPLE_PLUGIN, OPDRIFT_EXAMPLE_PLUGIN});
  ASSERT_FALSE(columns);
  EXPECT_EQ(columns.error().code, ErrorCode::invalid_argument);
}

// Target = 2 * golden: relative L2 is 1, the mean of |log2 2| is 1.
TEST_F(MetricColumnsOfRun, ValuesStandInTheOrderOfTheNames) {
  const verdict::RunResult result = compare("rel_l2", {OPDRIFT_EXAMPLE_PLUGIN});
  EXPECT_EQ(result.metric_names, (std::vector<std::string>{"RelativeL2", "MeanLogRatio"}));
  EXPECT_FALSE(result.usual_metrics);
  for (const verdict::TensorResult& tensor : result.tensors) {
    if (tensor.operator_name != "a") {
      EXPECT_TRUE(tensor.metric_values.empty());
      continue;
    }
    ASSERT_EQ(tensor.metric_values.size(), 2U);
    EXPECT_EQ(tensor.metric_values[0].value, 1.0);
    EXPECT_EQ(tensor.metric_values[0].text, "1");
    EXPECT_EQ(tensor.metric_values[1].text, "1.000000");
  }
}

TEST_F(MetricColumnsOfRun, APluginAloneStandsBesideTheUsualOnes) {
  const verdict::RunResult result = compare("", {OPDRIFT_EXAMPLE_PLUGIN});
  EXPECT_TRUE(result.usual_metrics);
  EXPECT_EQ(result.metric_names, std::vector<std::string>{"MeanLogRatio"});
}

TEST_F(MetricColumnsOfRun, DivergenceIsMeasuredWhenItIsAskedFor) {
  const verdict::RunResult result = compare("kl", {});
  for (const verdict::TensorResult& tensor : result.tensors) {
    if (tensor.operator_name == "a") {
      EXPECT_FALSE(std::isnan(tensor.metric_values.at(0).value));
    }
  }
}

}  // namespace
}  // namespace opdrift::pipeline
