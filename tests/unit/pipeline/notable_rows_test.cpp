#include "opdrift/pipeline/msprobe/notable_rows.hpp"

#include <gtest/gtest.h>

namespace opdrift::pipeline {
namespace {

TEST(NotableRows, TheFirstWrongOnesComeBeforeSuspiciousOnes) {
  NotableRows later;
  later.add({30, true, "c", ""});
  later.add({20, false, "s", ""});
  NotableRows rows;
  rows.add({10, true, "a", ""});
  rows.merge(later);
  rows.add({15, true, "b", ""});
  std::string names;
  for (const NotableRow& row : rows.take()) {
    names += row.name;
  }
  EXPECT_EQ(names, "abcs");
}

TEST(NotableRows, OnlySoManyAreKept) {
  NotableRows rows;
  for (std::uint64_t i = 100; i > 0; --i) {
    rows.add({i, true, std::to_string(i), ""});
  }
  EXPECT_TRUE(rows.full(true));
  EXPECT_FALSE(rows.full(false));
  ASSERT_EQ(rows.take().size(), kNotableRows);
  EXPECT_EQ(rows.take().front().row, 1U);
}

}  // namespace
}  // namespace opdrift::pipeline
