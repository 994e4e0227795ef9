#include "opdrift/io/msprobe/json_stream.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace opdrift::io {
namespace {

/// Writes down what it is told; expands "data".
class Recorder : public JsonVisitor {
 public:
  bool expands(std::string_view key) override {
    events.push_back("key " + std::string(key));
    return key == "data";
  }
  Status member(std::string_view section, std::string_view key, const JsonTree& value) override {
    events.push_back(std::string(section) + "/" + std::string(key) + " = " +
                     value.python_text(value.root()));
    return Unit{};
  }
  Status not_an_object(std::string_view key) override {
    return Error{ErrorCode::bad_json, "no object: " + std::string(key)};
  }
  std::vector<std::string> events;
};

struct Streamed {
  std::vector<std::string> events;
  std::optional<Error> error;
};

/// `largest` 0: as a file above 4 GiB is read, member by member.
Streamed stream(const std::string& text, std::uint64_t largest = kLargestIndexedJson) {
  graph::TextArena arena;
  Recorder recorder;
  const JsonFile file = json_from(text);
  const Status status = stream_json(file, arena, recorder, largest);
  return {recorder.events, status ? std::nullopt : std::optional(status.error())};
}

const std::vector<std::string>& good_texts() {
  static const std::vector<std::string> kTexts = {
      "{}",
      " {\"a\": 1}\n",
      R"({"task": "statistics", "level": null, "data": {}, "x": true})",
      R"({"data": {"a.0": {"b": [1, -2.5e3, NaN, Infinity, {"c": "}]{[,"}]}, "d": [], "e": "f"}})",
      R"({"esc\"aped\\": "x\ny\"", "data": {"k\u00e9y": "\"", "网络": ["层", {}]}})",
      "{\"a\" :\t[ ] , \"b\"\r\n: -Infinity }",
  };
  return kTexts;
}

TEST(JsonStream, MembersOfLargeFilesAreTheSame) {
  for (const std::string& text : good_texts()) {
    const Streamed whole = stream(text);
    const Streamed split = stream(text, 0);
    EXPECT_FALSE(whole.error) << text << ": " << whole.error->to_string();
    EXPECT_FALSE(split.error) << text << ": " << split.error->to_string();
    EXPECT_EQ(whole.events, split.events) << text;
  }
}

TEST(JsonStream, EveryPrefixIsRefusedEitherWay) {
  for (const std::string& text : good_texts()) {
    const std::size_t end = text.rfind('}');
    for (std::size_t length = 0; length <= end; ++length) {
      for (const std::uint64_t largest : {kLargestIndexedJson, std::uint64_t{0}}) {
        if (length == 0 && largest == 0) {
          continue;  // an empty file is never a large one
        }
        EXPECT_TRUE(stream(text.substr(0, length), largest).error)
            << text.substr(0, length) << " with " << largest;
      }
    }
  }
}

TEST(JsonStream, BrokenTextsAreRefusedEitherWayWithAPlace) {
  for (const std::string text : {"[]",
                                 "{\"a\": 1} x",
                                 "{\"a\" 1}",
                                 "{\"a\": }",
                                 "{a: 1}",
                                 "{\"a\": 1,}",
                                 "{\"a\": tru}",
                                 "{\"a\": [1, }",
                                 "{\"a\": {]}",
                                 "{\"a\": \"\x01\"}",
                                 "{\"a\": \"\xff\"}",
                                 "{\"a\": 01}",
                                 "{\"\xff\": 1}",
                                 "{\"data\": 3}",
                                 "{\"data\": {\"a\": [}}",
                                 "{\"a\": \"\\q\"}",
                                 "{\"a\": \"b\": {\"c\": 1}}",
                                 "{\"a\": [\"b\": 1]}",
                                 "{\"a\": 1: 2}",
                                 "{\"a\": {\"b\": \"c\": 1}}",
                                 "{\"a\": \"b\\n\": 1}",
                                 "{\"a\": true: 1}",
                                 "{\"data\": {\"a\": \"b\": 1}}"}) {
    for (const std::uint64_t largest : {kLargestIndexedJson, std::uint64_t{0}}) {
      const Streamed result = stream(text, largest);
      ASSERT_TRUE(result.error) << text << " with " << largest;
      EXPECT_EQ(result.error->code, ErrorCode::bad_json) << text;
      if (result.error->offset) {
        EXPECT_LE(*result.error->offset, text.size()) << text;
      }
    }
  }
}

// By counting: the bad word of the second member starts at byte 16.
TEST(JsonStream, OffsetsOfLargeFilesCountFromTheStartOfTheFile) {
  const Streamed result = stream("{\"a\": [1], \"b\": nope}", 0);
  ASSERT_TRUE(result.error);
  EXPECT_EQ(result.error->offset, 16U);
}

}  // namespace
}  // namespace opdrift::io
