#include "opdrift/base/result.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace opdrift {
namespace {

Result<int> half_of(int number) {
  if (number % 2 != 0) {
    return Error{ErrorCode::invalid_argument, "expected an even number", "file", 7};
  }
  return number / 2;
}

Result<int> quarter_of(int number) {
  OPDRIFT_TRY(const int half, half_of(number));
  OPDRIFT_CHECK_OK(half_of(half));
  return half / 2;
}

TEST(Result, CarriesAValue) {
  const Result<int> result = half_of(6);
  ASSERT_TRUE(result);
  EXPECT_EQ(*result, 3);
}

TEST(Result, TryReturnsTheFirstError) {
  EXPECT_EQ(*quarter_of(8), 2);
  EXPECT_FALSE(quarter_of(6));
  EXPECT_EQ(quarter_of(5).error().code, ErrorCode::invalid_argument);
}

TEST(Result, MovesOutValuesThatCannotBeCopied) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(5);
  const std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 5);
}

TEST(Error, PrintsFileOffsetAndMessageOnOneLine) {
  EXPECT_EQ(half_of(3).error().to_string(), "file: offset 7: expected an even number");
  const Error odd{ErrorCode::io, "line\nbreak", "a\tb"};
  EXPECT_EQ(odd.to_string(), "a\\x09b: line\\x0abreak");
}

TEST(ResultDeathTest, ReadingTheValueOfAnErrorIsABrokenPromise) {
  EXPECT_DEATH({ (void)half_of(3).value(); }, "has_value");
}

}  // namespace
}  // namespace opdrift
