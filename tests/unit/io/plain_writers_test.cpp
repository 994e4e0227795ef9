#include "opdrift/io/plain_writers.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "unit/io/io_testing.hpp"

#include "opdrift/io/raw_reader.hpp"
#include "opdrift/io/text_reader.hpp"

namespace opdrift::io {
namespace {

using tensor::DType;
using testing::content_of;
using testing::elements_of;
using testing::TempFolder;
using testing::text_of;
using testing::view_of;

std::string text_file(DType dtype, const tensor::Shape& shape, std::string_view elements) {
  const TempFolder folder;
  const Status status = write_text(folder / "a.txt", view_of(dtype, shape, elements));
  return status ? content_of(folder / "a.txt") : status.error().to_string();
}

TEST(WriteBin, WritesElementsOnly) {
  const TempFolder folder;
  ASSERT_TRUE(write_bin(folder / "a.bin", view_of(DType::i16, {2}, "abcd")));
  EXPECT_EQ(content_of(folder / "a.bin"), "abcd");
}

TEST(WriteText, OneLinePerRowOfTheLastAxis) {
  const std::string numbers = text_of<std::int32_t>({1, -2, 3, 4, 5, 6});
  EXPECT_EQ(text_file(DType::i32, {2, 3}, numbers), "1 -2 3\n4 5 6\n");
  EXPECT_EQ(text_file(DType::i32, {6}, numbers), "1\n-2\n3\n4\n5\n6\n");
  EXPECT_EQ(text_file(DType::i32, {}, numbers), "1\n");
  EXPECT_EQ(text_file(DType::i32, {2, 0}, numbers), "");
}

// The fewest digits that give the same float, by Python's repr of numpy.float32.
TEST(WriteText, FloatsHaveTheDigitsOfTheirType) {
  EXPECT_EQ(text_file(DType::f32, {1}, text_of<float>({0.1F})), "0.1\n");
  EXPECT_EQ(text_file(DType::f64, {1}, text_of<double>({0.1})), "0.1\n");
  EXPECT_EQ(text_file(DType::f64, {1}, text_of<double>({static_cast<double>(0.1F)})),
            "0.10000000149011612\n");
  EXPECT_EQ(text_file(DType::f16, {1}, text_of<std::uint16_t>({0x3C00})), "1\n");
}

TEST(WriteText, NotANumberAndInfinity) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(text_file(DType::f32, {3}, text_of<float>({nan, inf, -inf})), "nan\ninf\n-inf\n");
}

TEST(WriteText, LargeIntegersKeepAllDigits) {
  EXPECT_EQ(text_file(DType::u64, {1}, text_of<std::uint64_t>({18446744073709551615U})),
            "18446744073709551615\n");
  EXPECT_EQ(text_file(DType::i64, {1}, text_of<std::int64_t>({-9007199254740993})),
            "-9007199254740993\n");
}

TEST(WriteText, ReadsBackTheSameDoubles) {
  const TempFolder folder;
  const std::string data = text_of<double>({1e-308, -0.0, 1.7976931348623157e308, 5e-324});
  ASSERT_TRUE(write_text(folder / "a.txt", view_of(DType::f64, {4}, data)));
  EXPECT_EQ(elements_of(open_text(folder / "a.txt")->tensors[0]), data);
}

TEST(WriteText, ComplexNumbersAreRefused) {
  EXPECT_NE(text_file(DType::c64, {1}, "12345678").find("complex64"), std::string::npos);
}

}  // namespace
}  // namespace opdrift::io
