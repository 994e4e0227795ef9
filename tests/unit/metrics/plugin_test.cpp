#include "opdrift/metrics/plugin.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "unit/metrics/oracle.hpp"

namespace opdrift::metrics {
namespace {

using tensor::DType;
using testing::view_of;

Result<Plugin> example() {
  return Plugin::load(OPDRIFT_EXAMPLE_PLUGIN);
}

TEST(Plugin, TellsItsNameAndSummary) {
  const auto plugin = example();
  ASSERT_TRUE(plugin.has_value()) << plugin.error().to_string();
  EXPECT_EQ(plugin->name(), "MeanLogRatio");
  EXPECT_FALSE(plugin->summary().empty());
}

// |log2| of the ratios 2, 1/4, 1: mean (1 + 2 + 0) / 3 = 1; the pair with a zero is left out.
TEST(Plugin, StreamsBothSidesOnce) {
  const auto plugin = example();
  ASSERT_TRUE(plugin.has_value());
  const auto value =
      plugin->run(view_of(DType::f32, {1, 4, -3, 0}), view_of(DType::f16, {2, 1, 3, 5}));
  ASSERT_TRUE(value.has_value());
  EXPECT_EQ(value->text, "1.000000");
  EXPECT_EQ(value->value, 1.0);
  EXPECT_EQ(value->note, AlgorithmNote::none);
}

TEST(Plugin, TakesTensorsOfManyBlocks) {
  const auto plugin = example();
  ASSERT_TRUE(plugin.has_value());
  const std::vector<double> golden(10001, 1.0);
  const std::vector<double> target(10001, 2.0);
  const auto value = plugin->run(view_of(DType::f32, golden), view_of(DType::f32, target));
  ASSERT_TRUE(value.has_value());
  EXPECT_EQ(value->text, "1.000000");
}

TEST(Plugin, GetsTheOptionsOfTheUser) {
  const auto plugin = example();
  ASSERT_TRUE(plugin.has_value());
  const auto value =
      plugin->run(view_of(DType::f32, {1}), view_of(DType::f32, {4}), {.options = "limit=1.5"});
  ASSERT_TRUE(value.has_value());
  EXPECT_EQ(value->text, "2.000000");
  EXPECT_EQ(value->note, AlgorithmNote::plugin);
  EXPECT_EQ(value->note_text, "above the limit of 1.5");
}

TEST(Plugin, FailuresOfTheAlgorithmAreValues) {
  const auto plugin = example();
  ASSERT_TRUE(plugin.has_value());
  const auto value = plugin->run(view_of(DType::f32, {0}), view_of(DType::f32, {4}));
  ASSERT_TRUE(value.has_value());
  EXPECT_EQ(value->text, "NaN");
  EXPECT_NE(value->note_text.find("no element"), std::string::npos);
}

TEST(Plugin, LengthsMustAgree) {
  const auto plugin = example();
  ASSERT_TRUE(plugin.has_value());
  const auto value = plugin->run(view_of(DType::f32, {1}), view_of(DType::f32, {4, 5}));
  ASSERT_FALSE(value.has_value());
  EXPECT_EQ(value.error().code, ErrorCode::mismatch);
}

TEST(Plugin, MissingFilesAreNotFound) {
  const auto plugin = Plugin::load("no-such-folder/plugin.so");
  ASSERT_FALSE(plugin.has_value());
  EXPECT_EQ(plugin.error().code, ErrorCode::not_found);
}

TEST(Plugin, OtherFilesAreRefused) {
  const std::string path = ::testing::TempDir() + "opdrift_not_a_plugin.so";
  std::ofstream(path) << "not a shared object";
  const auto plugin = Plugin::load(path);
  ASSERT_FALSE(plugin.has_value());
  EXPECT_EQ(plugin.error().code, ErrorCode::unsupported);
  EXPECT_EQ(plugin.error().path, path);
  std::remove(path.c_str());
}

}  // namespace
}  // namespace opdrift::metrics
