#include "opdrift/base/pattern.hpp"

#include <gtest/gtest.h>

#include <string>

namespace opdrift {
namespace {

TEST(Pattern, IsSearchedAnywhere) {
  const auto pattern = Pattern::compile("--only", "conv[0-9]+$");
  ASSERT_TRUE(pattern.has_value());
  EXPECT_TRUE(pattern->found_in("layer1/conv12"));
  EXPECT_FALSE(pattern->found_in("layer1/conv12/Cast"));
}

TEST(Pattern, MatchesChineseNames) {
  const auto pattern = Pattern::compile("--only", "卷积.层");
  ASSERT_TRUE(pattern.has_value());
  EXPECT_TRUE(pattern->found_in("网络/卷积一层"));
}

TEST(Pattern, BrokenOnesNameTheOption) {
  const auto pattern = Pattern::compile("--only", "conv(");
  ASSERT_FALSE(pattern.has_value());
  EXPECT_EQ(pattern.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(pattern.error().message.rfind("--only 'conv(': ", 0), 0U);
}

// A backtracking matcher would try 2^40 ways to split the text.
TEST(Pattern, NestedRepetitionTakesLinearTime) {
  const auto pattern = Pattern::compile("--only", "^(a+)+$");
  ASSERT_TRUE(pattern.has_value());
  EXPECT_FALSE(pattern->found_in(std::string(100'000, 'a') + "b"));
}

// (((x{100}){100}){100}) would need a million states.
TEST(Pattern, RepetitionBeyondTheMemoryLimitIsRefused) {
  const auto pattern = Pattern::compile("--only", "((([ab]c?){100}){100}){100}");
  ASSERT_FALSE(pattern.has_value());
  EXPECT_EQ(pattern.error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace opdrift
