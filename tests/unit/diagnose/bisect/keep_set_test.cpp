#include "opdrift/diagnose/bisect/keep_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace opdrift::diagnose {
namespace {

using Set = std::vector<std::size_t>;

MinimalSet minimised(std::size_t count, const Set& needed, std::size_t max_tests = 10000) {
  const auto found = minimise_set(
      count,
      [&](const Set& set) -> Result<bool> {
        return std::includes(set.begin(), set.end(), needed.begin(), needed.end());
      },
      max_tests);
  EXPECT_TRUE(found);
  return found.value();
}

TEST(MinimiseSet, LeavesWhatIsNeededAndNothingElse) {
  EXPECT_EQ(minimised(64, {17}).members, (Set{17}));
  EXPECT_EQ(minimised(64, {0, 63}).members, (Set{0, 63}));
  EXPECT_EQ(minimised(50, {3, 4, 5, 31, 49}).members, (Set{3, 4, 5, 31, 49}));
  EXPECT_EQ(minimised(1, {0}).members, (Set{0}));
  EXPECT_EQ(minimised(5, {0, 1, 2, 3, 4}).members, (Set{0, 1, 2, 3, 4}));
}

TEST(MinimiseSet, OneMemberTakesFewTests) {
  EXPECT_LE(minimised(1024, {700}).tests, 20U);
}

TEST(MinimiseSet, TheLimitEndsItWithASetThatPasses) {
  const MinimalSet found = minimised(64, {1, 20, 40}, 5);
  EXPECT_FALSE(found.minimal);
  EXPECT_LE(found.tests, 5U);
  const Set needed = {1, 20, 40};
  EXPECT_TRUE(
      std::includes(found.members.begin(), found.members.end(), needed.begin(), needed.end()));
}

}  // namespace
}  // namespace opdrift::diagnose
