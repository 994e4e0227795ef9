#include "opdrift/metrics/kernels/levels.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace opdrift::metrics::kernels {
namespace {

TEST(Levels, ScalarIsAlwaysThereAndFirst) {
  ASSERT_FALSE(available_levels().empty());
  EXPECT_EQ(available_levels().front().name, "scalar");
  EXPECT_EQ(available_levels().front().table, nullptr);
}

TEST(Levels, NamesChooseWhateverTheirCase) {
  for (const Level& level : available_levels()) {
    EXPECT_EQ(&choose_level(level.name), &level);
  }
  EXPECT_EQ(choose_level("SCALAR").name, "scalar");
}

TEST(Levels, UnknownNamesMeanTheBest) {
  EXPECT_EQ(&choose_level("mmx"), &available_levels().back());
  EXPECT_EQ(&choose_level(""), &available_levels().back());
}

}  // namespace
}  // namespace opdrift::metrics::kernels
