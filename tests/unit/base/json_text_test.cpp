#include "opdrift/base/json_text.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace opdrift {
namespace {

using Json = nlohmann::json;

std::string nested(std::size_t levels) {
  return std::string(levels, '[') + std::string(levels, ']');
}

TEST(JsonText, ErrorsTellTheOffsetOfTheByteThatDoesNotBelong) {
  const struct {
    const char* text;
    std::uint64_t offset;
  } bad[] = {{"", 0}, {"{", 1}, {"{\n \"a\": x}", 8}, {"[1,2", 4}, {"[1] 2", 4}, {"\"\xff\"", 1}};
  for (const auto& [text, offset] : bad) {
    const auto json = parse_json<Json>(text, "a.json");
    ASSERT_FALSE(json.has_value()) << text;
    EXPECT_EQ(json.error().code, ErrorCode::bad_json) << text;
    EXPECT_EQ(json.error().offset, offset) << text << ": " << json.error().message;
    EXPECT_EQ(json.error().path, "a.json");
    EXPECT_EQ(json.error().message.find("json.exception"), std::string::npos);
  }
}

TEST(JsonText, NumbersBeyondDoubleAreRefusedWithoutAnException) {
  const auto json = parse_json<Json>("[1e999]");
  ASSERT_FALSE(json.has_value());
  EXPECT_EQ(json.error().code, ErrorCode::bad_json);
  EXPECT_EQ(json.error().message, "expected JSON, found number overflow parsing '1e999'");
}

TEST(JsonText, NestingIsLimited) {
  EXPECT_TRUE(parse_json<Json>(nested(kMaxJsonDepth)).has_value());
  const auto deep = parse_json<Json>(nested(kMaxJsonDepth + 1));
  ASSERT_FALSE(deep.has_value());
  EXPECT_EQ(deep.error().code, ErrorCode::limit);
  EXPECT_FALSE(parse_json<Json>(std::string(1'000'000, '[')).has_value());
}

TEST(JsonText, BracketsWithinTextsAreNoNesting) {
  const std::string text = "[\"\\\"" + std::string(1000, '[') + "\"]";
  const auto json = parse_json<Json>(text);
  ASSERT_TRUE(json.has_value()) << json.error().message;
  EXPECT_EQ(json->at(0).get_ref<const std::string&>().size(), 1001u);
}

TEST(JsonText, MembersOfAnotherKindAreLikeAbsentOnes) {
  const Json object = {{"name", "a"}, {"size", 3}, {"list", {1, 2}}};
  EXPECT_EQ(json_text(object, "name"), "a");
  EXPECT_EQ(json_text(object, "size"), "");
  EXPECT_EQ(json_text(Json(3), "name"), "");
  EXPECT_EQ(json_list(object, "list").size(), 2u);
  EXPECT_TRUE(json_list(object, "name").empty());
}

}  // namespace
}  // namespace opdrift
