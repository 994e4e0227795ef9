#include "opdrift/metrics/kernels/ulp_format.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace opdrift::metrics::kernels {
namespace {

using tensor::DType;

// Bit patterns of f16: 1.0 = 0x3c00, 65504 = 0x7bff, the smallest subnormal 2^-24 = 1.
TEST(UlpFormat, HalfIndicesAreBitPatterns) {
  const UlpFormat half(DType::f16);
  EXPECT_EQ(half.index(0.0), 0);
  EXPECT_EQ(half.index(-0.0), 0);
  EXPECT_EQ(half.index(0x1p-24), 1);
  EXPECT_EQ(half.index(1.0), 0x3c00);
  EXPECT_EQ(half.index(-1.0), -0x3c00);
  EXPECT_EQ(half.index(65504.0), 0x7bff);
}

// 65519.99 rounds to 65504; 65520 is half way to 65536 and rounds to even, which is beyond.
TEST(UlpFormat, OverflowIsOnePastTheLargest) {
  const UlpFormat half(DType::f16);
  EXPECT_EQ(half.index(65519.99), 0x7bff);
  EXPECT_EQ(half.index(65520.0), 0x7c00);
  EXPECT_EQ(half.index(1e300), 0x7c00);
  EXPECT_EQ(half.index(std::numeric_limits<double>::infinity()), 0x7c00);
}

TEST(UlpFormat, TiesGoToEven) {
  const UlpFormat half(DType::f16);
  EXPECT_EQ(half.index(1.0 + 0x1p-11), 0x3c00);
  EXPECT_EQ(half.index(1.0 + 3 * 0x1p-11), 0x3c02);
  EXPECT_EQ(half.index(0x1p-25), 0);
  EXPECT_EQ(half.index(3 * 0x1p-25), 2);
}

// e2m1: 0 0.5 1 1.5 2 3 4 6, no infinity: larger values saturate.
TEST(UlpFormat, FormatsWithoutInfinitySaturate) {
  const UlpFormat four(DType::e2m1);
  EXPECT_EQ(four.index(6.0), 7);
  EXPECT_EQ(four.index(100.0), 7);
  EXPECT_EQ(four.distance(-0.5, 0.5), 2U);
}

TEST(UlpFormat, DoublesAcrossZeroDoNotOverflow) {
  const UlpFormat wide(DType::f64);
  const double largest = std::numeric_limits<double>::max();
  EXPECT_EQ(wide.distance(-largest, largest), 2 * std::uint64_t{0x7fefffffffffffff});
}

TEST(UlpFormat, CoarserTypeGivesTheUnit) {
  EXPECT_EQ(ulp_dtype(DType::f32, DType::f16), DType::f16);
  EXPECT_EQ(ulp_dtype(DType::bf16, DType::f16), DType::bf16);
  EXPECT_EQ(ulp_dtype(DType::i32, DType::f32), DType::f32);
  EXPECT_EQ(ulp_dtype(DType::c64, DType::c64), DType::f32);
  EXPECT_EQ(ulp_dtype(DType::i32, DType::u8), DType::raw);
}

}  // namespace
}  // namespace opdrift::metrics::kernels
