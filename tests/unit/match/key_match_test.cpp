#include "opdrift/match/key_match.hpp"

#include <gtest/gtest.h>

#include "opdrift/match/model_match.hpp"

namespace opdrift::match {
namespace {

TEST(KeyMatch, TargetByTimeThenNameThenGoldenOnly) {
  const std::vector<KeyedDump> target = {{"z", 5}, {"b", 2}, {"a", 2}};
  const std::vector<KeyedDump> golden = {{"q", 9}, {"a", 1}, {"p", 3}, {"z", 1}};
  const auto pairs = pair_by_key(target, golden);
  ASSERT_EQ(pairs.size(), 5u);
  EXPECT_EQ(pairs[0].target, 2u);
  EXPECT_EQ(pairs[0].golden, 1u);
  EXPECT_EQ(pairs[1].target, 1u);
  EXPECT_FALSE(pairs[1].golden.has_value());
  EXPECT_EQ(pairs[2].golden, 3u);
  EXPECT_EQ(pairs[3].golden, 2u);
  EXPECT_EQ(pairs[4].golden, 0u);
}

TEST(KeyMatch, HalvesNeedEqualCountsAndShapes) {
  const std::vector<tensor::Shape> one = {{2, 3}};
  const std::vector<tensor::Shape> two = {{2, 3}, {4}};
  const std::vector<tensor::Shape> other = {{3, 2}};
  EXPECT_EQ(match_half("a", "input", one, one).problem, HalfProblem::none);
  EXPECT_EQ(match_half("a", "input", {}, {}).problem, HalfProblem::empty);
  EXPECT_EQ(match_half("a", "input", two, one).problem, HalfProblem::count_differs);
  EXPECT_EQ(match_half("a", "input", one, other).problem, HalfProblem::shape_differs);
  EXPECT_NE(match_half("a", "input", one, other).reason.find("(2, 3)"), std::string::npos);
}

TEST(ModelMatch, EqualNamesFirstThenSecondNumber) {
  const std::vector<std::string> graphs = {"ge_1_71", "ge_2_73", "plain"};
  const std::vector<std::string> folders = {"ge_1_71", "other_9_73", "ge_5_71", "x"};
  const auto pairs = match_models(graphs, folders);
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].folder, 0u);
  EXPECT_FALSE(pairs[0].by_number);
  EXPECT_EQ(pairs[1].folder, 1u);
  EXPECT_TRUE(pairs[1].by_number);
  EXPECT_FALSE(second_number("a1b2c3").has_value());
}

}  // namespace
}  // namespace opdrift::match
