#include "opdrift/tensor/dtype.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "opdrift/tensor/decode.hpp"
#include "opdrift/tensor/encode.hpp"
#include "opdrift/tensor/format.hpp"

namespace opdrift::tensor {
namespace {

TEST(DType, EveryRowIsFoundByNameAndByNumber) {
  std::set<std::string_view> names;
  for (const DTypeInfo& row : all_dtypes()) {
    EXPECT_EQ(dtype_by_name(row.name), row.dtype);
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    if (row.ascend_number >= 0) {
      EXPECT_EQ(dtype_by_ascend_number(row.ascend_number), row.dtype);
    }
    EXPECT_EQ(&info(row.dtype), &row);
  }
}

// Numbers and names of docs/formats/dtypes.md.
TEST(DType, AscendNumbersMeanTheDocumentedTypes) {
  EXPECT_EQ(dtype_by_ascend_number(1), DType::f32);
  EXPECT_EQ(dtype_by_ascend_number(27), DType::bf16);
  EXPECT_EQ(dtype_by_ascend_number(33), DType::hif8);
  EXPECT_EQ(dtype_by_ascend_number(0), DType::undefined);
  EXPECT_EQ(name_of(DType::e4m3fn), "float8_e4m3fn");
  for (const int unknown : {-1, 14, 15, 18, 22, 24, 25, 26, 41, 42, 43, 99, 1 << 30}) {
    EXPECT_FALSE(dtype_by_ascend_number(unknown).has_value()) << unknown;
  }
}

TEST(DType, AliasesIgnoreCase) {
  EXPECT_EQ(dtype_by_name("FP16"), DType::f16);
  EXPECT_EQ(dtype_by_name("Half"), DType::f16);
  EXPECT_EQ(dtype_by_name("BF16"), DType::bf16);
  EXPECT_EQ(dtype_by_name("float"), DType::f32);
  EXPECT_EQ(dtype_by_name("i32"), DType::i32);
  EXPECT_FALSE(dtype_by_name("").has_value());
  EXPECT_FALSE(dtype_by_name("float17").has_value());
}

// A value of the type, the largest one, and the next value above 1 define these columns.
TEST(DType, LimitsOfFloatsAgreeWithTheirCodes) {
  for (const DTypeInfo& row : all_dtypes()) {
    if (row.kind != DTypeKind::floating) {
      continue;
    }
    EXPECT_EQ(round_through(row.dtype, row.max_finite), row.max_finite) << row.name;
    EXPECT_EQ(round_through(row.dtype, row.min_normal), row.min_normal) << row.name;
    const double next = 1.0 + 2.0 * row.unit_roundoff;
    EXPECT_EQ(round_through(row.dtype, next), next) << row.name;
    const double half_way = 1.0 + row.unit_roundoff;  // 1 itself for float64
    EXPECT_TRUE(half_way == 1.0 || round_through(row.dtype, half_way) != half_way) << row.name;
    EXPECT_EQ(row.unit_roundoff, std::ldexp(0.5, -static_cast<int>(row.mantissa_bits))) << row.name;
    EXPECT_FALSE(round_through(row.dtype, row.max_finite * 1.5) > row.max_finite &&
                 std::isfinite(round_through(row.dtype, row.max_finite * 1.5)))
        << row.name;
  }
}

TEST(DType, StorageIsRoundedUpToBytes) {
  EXPECT_EQ(storage_bytes(DType::f16, 3), 6U);
  EXPECT_EQ(storage_bytes(DType::u1, 9), 2U);
  EXPECT_EQ(storage_bytes(DType::i4, 3), 2U);
  EXPECT_EQ(storage_bytes(DType::e3m2, 4), 3U);
  EXPECT_EQ(storage_bytes(DType::e3m2, 5), 4U);
  EXPECT_EQ(storage_bytes(DType::f32, 0), 0U);
}

TEST(DType, StorageOfHostileCountsIsNothing) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  EXPECT_FALSE(storage_bytes(DType::f64, kMost / 4).has_value());
  EXPECT_FALSE(storage_bytes(DType::f16, kMost).has_value());
  EXPECT_EQ(storage_bytes(DType::u1, kMost), kMost / 8 + 1);
  EXPECT_FALSE(storage_bytes(DType::raw, 1).has_value());
  EXPECT_FALSE(storage_bytes(DType::string, 1).has_value());
}

TEST(Format, NamesAndNumbersGoBothWays) {
  int named = 0;
  for (int number = -2; number < 300; ++number) {
    const auto name = format_name(static_cast<Format>(number));
    if (name.has_value()) {
      ++named;
      EXPECT_EQ(format_by_name(*name), static_cast<Format>(number));
    }
  }
  EXPECT_EQ(named, 46);  // 0 to 46 without 28 and 35, and 255
}

TEST(Format, NamesAreCaseSensitiveAndSpelledAsInDumps) {
  EXPECT_EQ(format_by_name("DECONV_SP_STRIDE8_TRANS"), static_cast<Format>(15));
  EXPECT_EQ(format_by_name("C1HWNCoC0"), static_cast<Format>(25));
  EXPECT_FALSE(format_by_name("nchw").has_value());
  EXPECT_FALSE(format_by_name("").has_value());
  for (const int unnamed : {28, 35, 47, 48, 49, 254, 256}) {
    EXPECT_FALSE(format_name(static_cast<Format>(unnamed)).has_value()) << unnamed;
  }
}

}  // namespace
}  // namespace opdrift::tensor
