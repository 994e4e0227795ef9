#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

#include "unit/io/io_testing.hpp"

#include "opdrift/io/safetensors/reader.hpp"

namespace opdrift::io {
namespace {

using tensor::DType;
using testing::bytes_of;
using testing::elements_of;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::little_endian;

Result<FileDump> parse(std::string_view json, std::string_view data = "",
                       std::optional<std::uint64_t> length = std::nullopt) {
  return parse_safetensors(bytes_of(little_endian(length.value_or(json.size()), 8) +
                                    std::string(json) + std::string(data)),
                           "a.safetensors");
}

std::string entry(std::string_view name, std::string_view dtype, std::string_view shape,
                  std::uint64_t begin, std::uint64_t end) {
  return "\"" + std::string(name) + R"(":{"dtype":")" + std::string(dtype) + R"(","shape":[)" +
         std::string(shape) + R"(],"data_offsets":[)" + std::to_string(begin) + "," +
         std::to_string(end) + "]}";
}

TEST(Safetensors, EveryTypeIsMapped) {
  const std::vector<std::pair<std::string, DType>> types = {
      {"F64", DType::f64},      {"F32", DType::f32},      {"F16", DType::f16},
      {"BF16", DType::bf16},    {"F8_E5M2", DType::e5m2}, {"F8_E4M3", DType::e4m3fn},
      {"F8_E8M0", DType::e8m0}, {"I64", DType::i64},      {"I32", DType::i32},
      {"I16", DType::i16},      {"I8", DType::i8},        {"U64", DType::u64},
      {"U32", DType::u32},      {"U16", DType::u16},      {"U8", DType::u8},
      {"BOOL", DType::boolean}, {"C64", DType::c64}};
  for (const auto& [name, dtype] : types) {
    const std::uint64_t size = 2 * tensor::info(dtype).bits / 8;
    const std::string data(size, 'x');
    const Result<FileDump> dump = parse("{" + entry("a", name, "2,1", 0, size) + "}", data);
    ASSERT_TRUE(dump) << name;
    EXPECT_EQ(dump->tensors[0].desc.dtype, dtype);
    EXPECT_EQ(dump->tensors[0].desc.shape, (tensor::Shape{2, 1}));
    EXPECT_EQ(elements_of(dump->tensors[0]), data);
    EXPECT_THAT(dump->warnings, IsEmpty());
  }
}

TEST(Safetensors, TensorsComeInTheOrderOfTheirData) {
  const Result<FileDump> dump =
      parse("{" + entry("二", "U8", "1", 2, 3) + "," + entry("b", "U8", "", 0, 1) + "," +
                R"("__metadata__":{"format":"pt"},)" + entry("c", "U8", "0,5", 1, 1) + "," +
                entry("d", "U8", "1", 1, 2) + "}   ",
            "xyz");
  ASSERT_TRUE(dump);
  ASSERT_EQ(dump->tensors.size(), 4U);
  EXPECT_EQ(dump->tensors[0].name, "b");
  EXPECT_EQ(dump->tensors[3].name, "二");
  EXPECT_EQ(elements_of(dump->tensors[3]), "z");
  EXPECT_EQ(dump->attributes.size(), 1U);
  EXPECT_EQ(dump->attributes[0].second, "pt");
}

TEST(Safetensors, RangesThatOverlapOrLeaveTheFileAreRefused) {
  EXPECT_EQ(
      parse("{" + entry("a", "U8", "2", 0, 2) + "," + entry("b", "U8", "2", 1, 3) + "}", "xyz")
          .error()
          .code,
      ErrorCode::malformed);
  for (const auto& [begin, end] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {0, 4}, {3, 2}, {std::uint64_t{1} << 60, (std::uint64_t{1} << 60) + 1}, {0, ~0ULL}}) {
    EXPECT_EQ(parse("{" + entry("a", "U8", "1", begin, end) + "}", "xyz").error().code,
              ErrorCode::malformed);
  }
}

TEST(Safetensors, RangeThatDoesNotFitTheShapeIsTheTensorsProblem) {
  const Result<FileDump> dump =
      parse("{" + entry("a", "F32", "1", 0, 3) + "," +
                entry("b", "F32", "4611686018427387904,4611686018427387904", 3, 4) + "," +
                entry("c", "F12", "1", 4, 5) + "}",
            "xxxxx");
  ASSERT_TRUE(dump);
  EXPECT_EQ(dump->tensors[0].problem->code, ErrorCode::data_mismatch);
  EXPECT_EQ(dump->tensors[1].problem->code, ErrorCode::data_mismatch);
  EXPECT_EQ(dump->tensors[2].problem->code, ErrorCode::unsupported_dtype);
  EXPECT_THAT(dump->tensors[2].problem->message, HasSubstr("F12"));
}

TEST(Safetensors, HolesAreAWarning) {
  const Result<FileDump> dump = parse("{" + entry("a", "U8", "1", 1, 2) + "}", "xyz");
  ASSERT_TRUE(dump);
  EXPECT_THAT(dump->warnings[0], HasSubstr("2 bytes"));
}

TEST(Safetensors, LyingHeaderLengthsAreRefused) {
  EXPECT_EQ(parse("{}", "", std::uint64_t{1} << 60).error().code, ErrorCode::limit);
  EXPECT_EQ(parse("{}", "", 3).error().code, ErrorCode::truncated);
  EXPECT_EQ(parse_safetensors(bytes_of("\1\0\0"), "a").error().code, ErrorCode::truncated);
}

TEST(Safetensors, BadHeadersAreNamedByTheirSin) {
  const std::string twice = entry("a", "U8", "", 0, 1);
  for (const std::string& json : std::vector<std::string>{
           "",
           "[]",
           "1",
           "{\"a\":1}",
           "{\"a\":[1]}",
           "{\"a\":{}}",
           "{\"a\":{\"dtype\":1}}",
           "{" + twice + "," + twice + "}",
           "{" + entry("a", "U8", "-1", 0, 1) + "}",
           "{" + entry("a", "U8", "1.5", 0, 1) + "}",
           "{" + entry("a", "U8", "[1]", 0, 1) + "}",
           "{" + entry("a", "U8", "99999999999999999999999", 0, 1) + "}",
           R"({"a":{"dtype":"U8","shape":[],"data_offsets":[0]}})",
           R"({"a":{"dtype":"U8","shape":[],"data_offsets":[0,1,2]}})",
           R"({"a":{"dtype":"U8","shape":[],"shape":[],"data_offsets":[0,1]}})",
           R"({"a":{"b":{}}})",
           R"({"__metadata__":{"a":[]}})",
           "{\"\xFF\":{}}",
           "{\"a\":null}",
           "{} x",
           "{\"a\":" + std::string(100000, '[')}) {
    const Result<FileDump> dump = parse(json, "x");
    ASSERT_FALSE(dump) << json;
    EXPECT_EQ(dump.error().code, ErrorCode::bad_json) << json;
    EXPECT_EQ(dump.error().path, "a.safetensors");
  }
}

TEST(Safetensors, HeaderCutAtEveryByteIsAnError) {
  const std::string json = "{" + entry("a", "U8", "1", 0, 1) + "}";
  for (std::size_t size = 0; size < json.size(); ++size) {
    EXPECT_FALSE(parse(json.substr(0, size), "")) << size;
    EXPECT_FALSE(parse(json.substr(0, size), "", json.size())) << size;
  }
}

}  // namespace
}  // namespace opdrift::io
