#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "opdrift/io/ascend/debug.hpp"

namespace opdrift::io {
namespace {

std::vector<std::byte> tagged(std::uint32_t version, std::uint32_t type, std::size_t fields) {
  std::vector<std::byte> bytes(24 + 8 * fields);
  const std::uint32_t head[6] = {0x5A5A5A5A, version, 1,
                                 type,       0,       static_cast<std::uint32_t>(8 * fields)};
  std::memcpy(bytes.data(), head, sizeof(head));
  for (std::size_t i = 0; i < fields; ++i) {
    const std::uint64_t value = i + 1;
    std::memcpy(bytes.data() + 24 + 8 * i, &value, 8);
  }
  return bytes;
}

TEST(DebugRecord, KeepsFourStatusWordsInVersionOne) {
  const DebugRecord record = parse_debug_record(tagged(1, 0, 14)).value();
  ASSERT_EQ(record.units.size(), 1U);
  EXPECT_EQ(record.units[0].name, "AIC");
  EXPECT_EQ(record.units[0].status, (std::vector<std::uint64_t>{11, 12, 13, 14}));
  EXPECT_TRUE(record.warnings.empty());
}

TEST(DebugRecord, FindsFieldsByNameAndTellsMissingOnes) {
  const DebugUnit unit = parse_debug_record(tagged(0, 3, 10)).value().units[0];
  EXPECT_EQ(unit.name, "SDMA");
  EXPECT_EQ(unit.field_or_none("task_id"), 3U);
  EXPECT_EQ(unit.field_or_none("core_id"), kNoId);
  EXPECT_TRUE(unit.overflowed());
}

TEST(DebugRecord, FailsCleanlyWhereverItIsCut) {
  for (const std::uint32_t type : {0U, 1U, 2U, 3U}) {
    const std::vector<std::byte> whole = tagged(1, type, 14);
    const std::size_t needed = type < 2 ? 24 + 14 * 8 : type == 2 ? 24 + 8 * 8 : 24 + 10 * 8;
    for (std::size_t length = 0; length < needed; ++length) {
      EXPECT_FALSE(parse_debug_record(ByteSpan(whole).first(length))) << type << " " << length;
    }
  }
}

TEST(DebugRecord, RefusesUnknownUnitsAndOtherSizes) {
  EXPECT_EQ(parse_debug_record(tagged(0, 4, 14)).error().code, ErrorCode::out_of_range);
  EXPECT_EQ(parse_debug_record(std::vector<std::byte>(2047)).error().code, ErrorCode::malformed);
  EXPECT_TRUE(parse_debug_record(std::vector<std::byte>(2048)));
}

TEST(DebugRecord, NotesOddMarks) {
  std::vector<std::byte> odd = tagged(0, 2, 8);
  odd[8] = std::byte{0};
  odd[20] = std::byte{1};
  EXPECT_EQ(parse_debug_record(odd).value().warnings.size(), 2U);
}

TEST(DebugRecord, PrintsAddressesInHexadecimal) {
  const std::string json = to_json(parse_debug_record(tagged(0, 3, 10)).value());
  EXPECT_NE(json.find("\"src_addr\": \"0x7\""), std::string::npos);
  EXPECT_NE(json.find("\"channel_id\": 9"), std::string::npos);
}

}  // namespace
}  // namespace opdrift::io
