#include "opdrift/base/byte_cursor.hpp"

#include <gtest/gtest.h>

#include <string>

namespace opdrift {
namespace {

TEST(ByteCursor, ReadsLittleEndianFieldsInOrder) {
  const std::string text("\x01\x02\x03\x04\x05\x06\x07", 7);
  ByteCursor cursor(as_bytes(text));
  EXPECT_EQ(*cursor.u8("a"), 1);
  EXPECT_EQ(*cursor.u16("b"), 0x0302);
  EXPECT_EQ(*cursor.u32("c"), 0x07060504U);
  EXPECT_EQ(cursor.remaining(), 0U);
}

TEST(ByteCursor, ShortFieldNamesItselfAndItsOffsetAndDoesNotMove) {
  const std::string text("\x01\x02\x03", 3);
  ByteCursor cursor(as_bytes(text), 100);
  ASSERT_TRUE(cursor.u8("first"));
  const auto length = cursor.u64("header length");
  ASSERT_FALSE(length);
  EXPECT_EQ(length.error().code, ErrorCode::truncated);
  EXPECT_EQ(length.error().offset, 101U);
  EXPECT_NE(length.error().message.find("header length"), std::string::npos);
  EXPECT_EQ(cursor.position(), 1U);
}

TEST(ByteCursor, TakeRefusesLengthsNearTheLimitOfTheType) {
  const std::string text = "abc";
  ByteCursor cursor(as_bytes(text));
  EXPECT_FALSE(cursor.take(~std::uint64_t{0}, "data"));
  EXPECT_TRUE(cursor.take(3, "data"));
}

TEST(ByteCursor, VarintTakesAtMostTenBytes) {
  const std::string largest("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10);
  ByteCursor good(as_bytes(largest));
  EXPECT_EQ(*good.varint("n"), ~std::uint64_t{0});
  const std::string endless(11, '\xff');
  ByteCursor bad(as_bytes(endless));
  EXPECT_EQ(bad.varint("n").error().code, ErrorCode::malformed);
  const std::string cut("\xff", 1);
  ByteCursor shorter(as_bytes(cut));
  EXPECT_EQ(shorter.varint("n").error().code, ErrorCode::truncated);
}

}  // namespace
}  // namespace opdrift
