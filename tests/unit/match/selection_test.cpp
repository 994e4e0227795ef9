#include "opdrift/match/selection.hpp"

#include <gtest/gtest.h>

#include "graph_builder.hpp"

namespace opdrift::match {
namespace {

/// Seven operators with ids 1 to 7.
Network seven() {
  GraphBuilder builder;
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g"}) {
    builder.plain(name, {});
  }
  return builder.network();
}

std::vector<std::size_t> chosen(const Result<Selection>& selection) {
  std::vector<std::size_t> groups;
  for (std::size_t i = 0; i < selection->groups.size(); ++i) {
    if (selection->groups[i]) {
      groups.push_back(i);
    }
  }
  return groups;
}

TEST(Selection, RangeTakesStartEndAndMultiples) {
  const Network network = seven();
  EXPECT_EQ(chosen(select_range(network, "1,-1,2", false)), (std::vector<std::size_t>{0, 2, 4, 6}));
  EXPECT_EQ(chosen(select_range(network, "3,6,4", false)), (std::vector<std::size_t>{2, 5}));
  EXPECT_EQ(chosen(select_range(network, ",,", false)).size(), 7u);
}

TEST(Selection, RangeBoundsAreChecked) {
  const Network network = seven();
  for (const char* range : {"0,-1,1", "1,99,1", "3,2,1", "1,-1,0", "1,-1,8", "1,-2,1"}) {
    const auto selection = select_range(network, range, false);
    ASSERT_FALSE(selection.has_value()) << range;
    EXPECT_EQ(selection.error().code, ErrorCode::out_of_range) << range;
  }
  for (const char* range : {"1,2", "a,b,c", "1,2,3,4", "", "1.5,,"}) {
    const auto selection = select_range(network, range, false);
    ASSERT_FALSE(selection.has_value()) << range;
    EXPECT_EQ(selection.error().code, ErrorCode::invalid_argument) << range;
  }
  EXPECT_TRUE(select_range(network, "1,-1,7", false).has_value());
  EXPECT_FALSE(select_range(network, "1,-1,7", true).has_value());
}

TEST(Selection, ListAllowsBlanksRepeatsAndWarnsBeyondTheLast) {
  const Network network = seven();
  const auto selection = select_list(network, " 2, 2,99 ,5");
  ASSERT_TRUE(selection.has_value());
  EXPECT_EQ(chosen(selection), (std::vector<std::size_t>{1, 4}));
  EXPECT_EQ(selection->warnings.size(), 1u);
  for (const char* list : {"99", "x", "-1", "1,", ""}) {
    EXPECT_FALSE(select_list(network, list).has_value()) << list;
  }
}

TEST(Selection, AChosenOperatorBringsItsGroup) {
  GraphBuilder builder;
  builder.op("s", "A", {"big"}, {}).output("");
  builder.plain("x", {});
  builder.op("j", "B", {"big"}, {}).output("big");
  EXPECT_EQ(chosen(select_list(builder.network(), "3")), (std::vector<std::size_t>{0}));
}

}  // namespace
}  // namespace opdrift::match
