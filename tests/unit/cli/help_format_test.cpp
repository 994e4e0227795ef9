#include "opdrift/cli/help_format.hpp"

#include <gtest/gtest.h>

namespace opdrift::cli {
namespace {

TEST(Reflow, JoinsAndBreaksParagraphs) {
  EXPECT_EQ(reflow("one two three\nfour five six\n\nseven", 20),
            "one two three four\nfive six\n\nseven\n");
}

TEST(Reflow, LeavesExamplesAndHeadingsAlone) {
  EXPECT_EQ(reflow("Examples:\n  a command longer than a line\n  another\n", 20),
            "Examples:\n  a command longer than a line\n  another\n");
}

TEST(Reflow, NothingStaysNothing) {
  EXPECT_EQ(reflow("", 10), "\n");
}

}  // namespace
}  // namespace opdrift::cli
