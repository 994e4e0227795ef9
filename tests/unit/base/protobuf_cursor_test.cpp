#include "opdrift/base/protobuf_cursor.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace opdrift {
namespace {

std::vector<std::byte> bytes_of(std::initializer_list<unsigned> values) {
  std::vector<std::byte> bytes;
  for (const unsigned value : values) {
    bytes.push_back(static_cast<std::byte>(value));
  }
  return bytes;
}

/// Walks over everything, sub-messages included where they are groups.
Status walk(ByteSpan message) {
  return for_each_field(ProtobufCursor(message),
                        [](const ProtobufField&) -> Status { return Unit{}; });
}

TEST(ProtobufCursor, ReadsBackWhatTheWriterWrote) {
  ProtobufWriter inner;
  inner.text(1, "名");
  ProtobufWriter writer;
  writer.varint(1, 300);
  writer.signed_varint(2, -1);
  writer.fixed32(3, 7);
  writer.fixed64(4, 8);
  writer.real(5, 1.5F);
  writer.real(6, 2.5);
  writer.message(7, inner);
  std::vector<ProtobufField> fields;
  ASSERT_TRUE(for_each_field(ProtobufCursor(writer.view()), [&](const ProtobufField& field) {
    fields.push_back(field);
    return Status(Unit{});
  }));
  ASSERT_EQ(fields.size(), 7U);
  EXPECT_EQ(fields[0].value, 300U);
  EXPECT_EQ(fields[1].as_i32(), -1);
  EXPECT_EQ(fields[1].as_i64(), -1);
  EXPECT_EQ(fields[2].value, 7U);
  EXPECT_EQ(fields[3].value, 8U);
  EXPECT_EQ(fields[4].as_float(), 1.5F);
  EXPECT_EQ(fields[5].as_double(), 2.5);
  ProtobufCursor nested(fields[6]);
  ASSERT_TRUE(nested.next().value_or(false));
  EXPECT_EQ(nested.field().as_utf8("name").value_or(std::string_view()), "名");
}

// A negative int32 takes ten bytes: tag 08, then ff x9, 01.
TEST(ProtobufWriter, WritesNegativesInTenBytes) {
  ProtobufWriter writer;
  writer.signed_varint(1, -1);
  EXPECT_EQ(writer.view().size(), 11U);
}

TEST(ProtobufCursor, TakesPackedAndSingleNumbersOfOneField) {
  ProtobufWriter writer;
  writer.packed(1, std::vector<std::uint64_t>{1, 200});
  writer.varint(1, 3);
  writer.fixed32(1, 99);
  std::vector<std::uint64_t> numbers;
  ASSERT_TRUE(for_each_field(ProtobufCursor(writer.view()), [&](const ProtobufField& field) {
    return append_varints(field, numbers);
  }));
  EXPECT_EQ(numbers, (std::vector<std::uint64_t>{1, 200, 3}));
}

TEST(ProtobufCursor, RefusesMoreNumbersThanAllowed) {
  ProtobufWriter writer;
  writer.packed(1, std::vector<std::uint64_t>{1, 2, 3});
  std::vector<std::uint64_t> numbers;
  const Status status =
      for_each_field(ProtobufCursor(writer.view()),
                     [&](const ProtobufField& field) { return append_varints(field, numbers, 2); });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::limit);
}

// 0b = begin of group 1, 10 05 = field 2 varint 5, 0c = end of group 1, 18 01 = field 3.
TEST(ProtobufCursor, StepsOverGroupsAndOffersTheirContent) {
  const auto bytes = bytes_of({0x0B, 0x10, 0x05, 0x0C, 0x18, 0x01});
  ProtobufCursor cursor(bytes);
  ASSERT_TRUE(cursor.next().value_or(false));
  EXPECT_TRUE(cursor.field().is(1, WireType::group));
  EXPECT_EQ(cursor.field().bytes.size(), 2U);
  ASSERT_TRUE(cursor.next().value_or(false));
  EXPECT_TRUE(cursor.field().is(3, WireType::varint));
  EXPECT_FALSE(cursor.next().value_or(true));
}

TEST(ProtobufCursor, RefusesBrokenGroups) {
  EXPECT_FALSE(walk(bytes_of({0x0C})));                    // end without begin
  EXPECT_FALSE(walk(bytes_of({0x0B})));                    // begin without end
  EXPECT_FALSE(walk(bytes_of({0x0B, 0x14})));              // end of another field
  EXPECT_FALSE(walk(bytes_of({0x0B, 0x13, 0x0C, 0x14})));  // crossed
}

TEST(ProtobufCursor, RefusesGroupsThatNestTooDeep) {
  const std::vector<std::byte> deep(100'000, std::byte{0x0B});
  const Status status = walk(deep);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::malformed);
}

TEST(ProtobufCursor, RefusesBadTags) {
  EXPECT_FALSE(walk(bytes_of({0x00, 0x01})));                          // field 0
  EXPECT_FALSE(walk(bytes_of({0x0E, 0x01})));                          // wire type 6
  EXPECT_FALSE(walk(bytes_of({0x80, 0x80, 0x80, 0x80, 0x10, 0x00})));  // above 32 bits
}

TEST(ProtobufCursor, RefusesLengthsBeyondTheMessage) {
  ProtobufWriter writer;
  writer.varint(1, std::uint64_t{1} << 60);
  std::vector<std::byte> bytes = writer.take();
  bytes[0] = std::byte{0x0A};  // the same number as the length of a field
  EXPECT_FALSE(walk(bytes));
}

TEST(ProtobufCursor, RefusesTextThatIsNotUtf8) {
  ProtobufWriter writer;
  writer.text(1, "\xff");
  ProtobufCursor cursor(writer.view());
  ASSERT_TRUE(cursor.next().value_or(false));
  EXPECT_FALSE(cursor.field().as_utf8("name"));
}

}  // namespace
}  // namespace opdrift
