#include "opdrift/base/wrap.hpp"

#include <gtest/gtest.h>

namespace opdrift {
namespace {

TEST(Wrapped, BreaksBetweenWordsBehindTheMargin) {
  EXPECT_EQ(wrapped("one two three four five six", 24, 3), "one two three four\n   five six");
  EXPECT_EQ(wrapped("卷积 卷积 卷积 卷积 卷积", 20, 0), "卷积 卷积 卷积 卷积\n卷积");
  EXPECT_EQ(wrapped("", 20, 3), "");
  const std::string word(40, 'x');
  EXPECT_EQ(wrapped("a " + word + " b", 20, 1), "a\n " + word + "\n b");
}

}  // namespace
}  // namespace opdrift
