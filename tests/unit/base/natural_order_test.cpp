#include "opdrift/base/natural_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace opdrift {
namespace {

TEST(NaturalOrder, NumbersInNamesCountAsNumbers) {
  std::vector<std::string> names = {"step10", "step9", "step", "step09", "rank2/a", "rank10/a"};
  std::sort(names.begin(), names.end(), natural_less);
  EXPECT_EQ(names,
            (std::vector<std::string>{"rank2/a", "rank10/a", "step", "step09", "step9", "step10"}));
}

TEST(NaturalOrder, NumbersOfAnyLengthAreNoOverflow) {
  EXPECT_TRUE(natural_less("a99999999999999999999999998", "a99999999999999999999999999"));
  EXPECT_FALSE(natural_less("a100000000000000000000000000", "a99999999999999999999999999"));
}

TEST(NaturalOrder, NothingIsLessThanItself) {
  for (const char* name : {"", "0", "00", "步10", "a1b"}) {
    EXPECT_FALSE(natural_less(name, name)) << name;
  }
}

}  // namespace
}  // namespace opdrift
