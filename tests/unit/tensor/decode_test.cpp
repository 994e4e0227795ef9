#include "opdrift/tensor/decode.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "unit/tensor/shared_npy.hpp"

#include "opdrift/tensor/bulk_convert.hpp"
#include "opdrift/tensor/encode.hpp"
#include "opdrift/tensor/float_bits.hpp"

namespace opdrift::tensor {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

std::vector<std::byte> bytes_of(std::initializer_list<unsigned> values) {
  std::vector<std::byte> bytes;
  for (const unsigned value : values) {
    bytes.push_back(static_cast<std::byte>(value));
  }
  return bytes;
}

std::vector<double> decoded(DType dtype, const std::vector<std::byte>& bytes, std::uint64_t first,
                            std::uint64_t count) {
  std::vector<double> out(count);
  decode_to_double(dtype, bytes.data(), first, count, out.data());
  std::vector<float> narrow(count);
  decode_to_float(dtype, bytes.data(), first, count, narrow.data());
  for (std::size_t i = 0; i < count; ++i) {
    if (!std::isnan(out[i])) {
      EXPECT_EQ(narrow[i], static_cast<float>(out[i]));
    } else {
      EXPECT_TRUE(std::isnan(narrow[i]));
    }
  }
  return out;
}

double code(DType dtype, unsigned value) {
  return decode_one(dtype, bytes_of({value}).data(), 0);
}

/// IEEE-like value by definition, with powers from ldexp.
double by_definition(unsigned bits, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const auto mantissa = static_cast<int>(bits & ((1U << mantissa_bits) - 1U));
  const auto exponent = static_cast<int>((bits >> mantissa_bits) & ((1U << exponent_bits) - 1U));
  const double sign = ((bits >> (exponent_bits + mantissa_bits)) & 1U) != 0 ? -1.0 : 1.0;
  if (exponent == (1 << exponent_bits) - 1) {
    return mantissa == 0 ? sign * kInf : std::nan("");
  }
  const int shown = exponent == 0 ? mantissa : mantissa + (1 << mantissa_bits);
  return sign * std::ldexp(shown, (exponent == 0 ? 1 : exponent) - bias - mantissa_bits);
}

TEST(Decode, AllHalvesFollowTheDefinitionAndComeBack) {
  std::vector<std::byte> bytes(2 * 65536);
  for (unsigned i = 0; i < 65536; ++i) {
    bytes[2 * i] = static_cast<std::byte>(i & 0xffU);
    bytes[2 * i + 1] = static_cast<std::byte>(i >> 8U);
  }
  const std::vector<double> values = decoded(DType::f16, bytes, 0, 65536);
  std::vector<float> narrow(65536);
  f16_to_f32(bytes.data(), 65536, narrow.data());
  std::vector<std::byte> back(bytes.size());
  f32_to_f16(narrow.data(), 65536, back.data());
  for (unsigned i = 0; i < 65536; ++i) {
    const double wanted = by_definition(i, 5, 10);
    std::uint16_t returned = 0;
    std::memcpy(&returned, &back[2 * i], 2);
    if (std::isnan(wanted)) {
      EXPECT_TRUE(std::isnan(values[i]));
      EXPECT_EQ(returned, i | 0x200U);  // quiet, same payload
      continue;
    }
    ASSERT_EQ(values[i], wanted) << i;
    ASSERT_EQ(std::signbit(values[i]), std::signbit(wanted)) << i;
    ASSERT_EQ(returned, i);
    ASSERT_EQ(f64_to_f16(wanted), i);
    ASSERT_EQ(std::bit_cast<std::uint32_t>(narrow[i]),
              std::bit_cast<std::uint32_t>(f16_to_f32(static_cast<std::uint16_t>(i))));
  }
}

TEST(Decode, AllBfloatsFollowTheDefinitionAndComeBack) {
  for (unsigned i = 0; i < 65536; ++i) {
    const double wanted = by_definition(i, 8, 7);
    const auto bits = static_cast<std::uint16_t>(i);
    if (std::isnan(wanted)) {
      EXPECT_TRUE(std::isnan(bf16_to_f32(bits)));
      continue;
    }
    ASSERT_EQ(static_cast<double>(bf16_to_f32(bits)), wanted) << i;
    ASSERT_EQ(f32_to_bf16(bf16_to_f32(bits)), bits);
    ASSERT_EQ(f64_to_bf16(wanted), bits);
  }
}

TEST(Decode, E5M2FollowsTheDefinition) {
  for (unsigned i = 0; i < 256; ++i) {
    const double wanted = by_definition(i, 5, 2);
    const double found = code(DType::e5m2, i);
    EXPECT_TRUE(found == wanted || (std::isnan(found) && std::isnan(wanted))) << i;
  }
  EXPECT_EQ(code(DType::e5m2, 0xfc), -kInf);
}

// OCP 8-bit floating point: largest 448 = 0x7e, NaN only at 0x7f and 0xff, smallest 2^-9.
TEST(Decode, E4M3FNHasTwoNansAndNoInfinity) {
  for (unsigned i = 0; i < 256; ++i) {
    EXPECT_EQ(std::isnan(code(DType::e4m3fn, i)), (i & 0x7fU) == 0x7fU) << i;
    EXPECT_FALSE(std::isinf(code(DType::e4m3fn, i)));
  }
  EXPECT_EQ(code(DType::e4m3fn, 0x7e), 448.0);
  EXPECT_EQ(code(DType::e4m3fn, 0x01), 0x1p-9);
  EXPECT_EQ(code(DType::e4m3fn, 0xb8), -1.0);
}

TEST(Decode, E8M0IsAPowerOfTwo) {
  EXPECT_EQ(code(DType::e8m0, 0), 0x1p-127);
  EXPECT_EQ(code(DType::e8m0, 127), 1.0);
  EXPECT_EQ(code(DType::e8m0, 254), 0x1p127);
  EXPECT_TRUE(std::isnan(code(DType::e8m0, 255)));
}

// Codes worked out by hand from the prefix table in small_float.hpp.
TEST(Decode, HiFloat8FollowsItsPrefixTable) {
  EXPECT_EQ(code(DType::hif8, 0x00), 0.0);
  EXPECT_EQ(code(DType::hif8, 0x01), 0x1p-22);
  EXPECT_EQ(code(DType::hif8, 0x87), -0x1p-16);
  EXPECT_EQ(code(DType::hif8, 0x08), 1.0);      // 0001 000
  EXPECT_EQ(code(DType::hif8, 0x0f), 1.875);    // 0001 111
  EXPECT_EQ(code(DType::hif8, 0x10), 2.0);      // 001 0 000
  EXPECT_EQ(code(DType::hif8, 0x1c), 0.75);     // 001 1 100
  EXPECT_EQ(code(DType::hif8, 0x2a), 10.0);     // 01 01 010: 2^3 * 1.25
  EXPECT_EQ(code(DType::hif8, 0x31), 0.28125);  // 01 10 001: 2^-2 * 1.125
  EXPECT_EQ(code(DType::hif8, 0x46), 48.0);     // 10 001 10: 2^5 * 1.5
  EXPECT_EQ(code(DType::hif8, 0x6e), 32768.0);  // 11 0111 0
  EXPECT_EQ(code(DType::hif8, 0x7f), 0x1.8p-15);
  EXPECT_EQ(code(DType::hif8, 0x6f), kInf);
  EXPECT_EQ(code(DType::hif8, 0xef), -kInf);
  EXPECT_TRUE(std::isnan(code(DType::hif8, 0x80)));
}

// The reference decodes these codes as the standard does; the others are its known defects.
TEST(Decode, AgreesWithTheReferenceWhereThatIsRight) {
  const std::string root = testing::shared_folder() + "/fixtures/ascend-dump/";
  const std::string tail = "/expected/npy/Op.op_a.1.2.1614717262233160.output.0.npy";
  const auto hif8 = testing::npy_payload(root + "d33_hifloat8" + tail);
  const auto e5m2 = testing::npy_payload(root + "d34_float8_e5m2" + tail);
  const auto e4m3 = testing::npy_payload(root + "d35_float8_e4m3fn" + tail);
  if (hif8.empty()) {
    GTEST_SKIP() << "no shared fixtures in " << root;
  }
  ASSERT_EQ(hif8.size(), 2048U);
  int differing = 0;
  const auto same = [&](DType dtype, unsigned i, const std::vector<std::byte>& reference) {
    const double wanted = decode_one(DType::f64, reference.data(), i);
    const double found = code(dtype, i);
    return found == wanted || (std::isnan(found) && std::isnan(wanted));
  };
  for (unsigned i = 0; i < 256; ++i) {
    const unsigned low = i & 0x7fU;
    EXPECT_TRUE(same(DType::hif8, i, hif8) || (low >= 8 && low < 0x20) || i == 0xef) << i;
    differing += same(DType::hif8, i, hif8) ? 0 : 1;
    EXPECT_EQ(same(DType::e5m2, i, e5m2), i != 0xfc) << i;
    EXPECT_EQ(same(DType::e4m3fn, i, e4m3), low != 0x7f) << i;
  }
  EXPECT_LE(differing, 49);
}

// OCP microscaling formats: largest values 28, 7.5 and 6; e1m2 counts in quarters.
TEST(Decode, SixAndFourBitFloatsAreAStreamOfBits) {
  // Elements 0b111111, 0b000001, 0b100000, 0b011111 at bits 0, 6, 12 and 18.
  const auto six = bytes_of({0x7f, 0x00, 0x7e});
  EXPECT_EQ(decoded(DType::e3m2, six, 0, 4), (std::vector<double>{-28.0, 0.0625, -0.0, 28.0}));
  EXPECT_EQ(decoded(DType::e2m3, six, 0, 4), (std::vector<double>{-7.5, 0.125, -0.0, 7.5}));
  const auto four = bytes_of({0x71, 0x9f});
  EXPECT_EQ(decoded(DType::e2m1, four, 0, 4), (std::vector<double>{0.5, 6.0, -6.0, -0.5}));
  EXPECT_EQ(decoded(DType::e1m2, four, 1, 3), (std::vector<double>{1.75, -1.75, -0.25}));
}

TEST(Decode, SmallIntegersTakeTheLowBitsFirst) {
  EXPECT_EQ(decoded(DType::i4, bytes_of({0x8f, 0x07}), 0, 3), (std::vector<double>{-1, -8, 7}));
  EXPECT_EQ(decoded(DType::u4, bytes_of({0x8f}), 1, 1), (std::vector<double>{8}));
  EXPECT_EQ(decoded(DType::i2, bytes_of({0xe4}), 0, 4), (std::vector<double>{0, 1, -2, -1}));
  EXPECT_EQ(decoded(DType::u2, bytes_of({0xe4}), 0, 4), (std::vector<double>{0, 1, 2, 3}));
}

TEST(Decode, SingleBitsComeMostSignificantFirst) {
  EXPECT_EQ(decoded(DType::u1, bytes_of({0xa0, 0x01}), 0, 16),
            (std::vector<double>{1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}));
  EXPECT_EQ(decoded(DType::u1, bytes_of({0xa0, 0x01}), 14, 2), (std::vector<double>{0, 1}));
}

TEST(Decode, AnyByteButZeroIsTrue) {
  EXPECT_EQ(decoded(DType::boolean, bytes_of({0, 1, 2, 255}), 0, 4),
            (std::vector<double>{0, 1, 1, 1}));
}

TEST(Decode, IntegersAndUnalignedPlaces) {
  const auto bytes = bytes_of({0xff, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff});
  EXPECT_EQ(code(DType::i8, 0x80), -128.0);
  EXPECT_EQ(code(DType::undefined, 0xff), -1.0);
  EXPECT_EQ(decode_one(DType::i64, bytes.data() + 1, 0), -2.0);
  EXPECT_EQ(decode_one(DType::resource, bytes.data() + 1, 0), -2.0);
  EXPECT_EQ(decode_one(DType::u64, bytes.data() + 1, 0), 0x1p64);
  EXPECT_EQ(decode_one(DType::u32, bytes.data() + 1, 0), 4294967294.0);
  EXPECT_EQ(decode_one(DType::i16, bytes.data(), 0), -257.0);
}

TEST(Decode, ComplexGivesTheRealPart) {
  const std::vector<float> values = {1.0F, 2.0F, 3.0F, 4.0F};
  std::vector<std::byte> bytes(16);
  std::memcpy(bytes.data(), values.data(), 16);
  EXPECT_EQ(decoded(DType::c64, bytes, 0, 2), (std::vector<double>{1.0, 3.0}));
  EXPECT_EQ(decoded(component_dtype(DType::c64), bytes, 0, 4), (std::vector<double>{1, 2, 3, 4}));
}

TEST(Encode, EveryCodeComesBack) {
  for (const DTypeInfo& row : all_dtypes()) {
    if (!row.decodable || row.bits > 8 || row.kind == DTypeKind::boolean) {
      continue;
    }
    for (unsigned i = 0; i < (1U << row.bits); ++i) {
      std::vector<std::byte> bytes(2);
      bytes[0] = static_cast<std::byte>(row.bits == 1 ? i << 7U : i);
      const double value = decode_one(row.dtype, bytes.data(), 0);
      std::vector<std::byte> back(2);
      encode(row.dtype, &value, 1, back.data());
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(decode_one(row.dtype, back.data(), 0))) << row.name << i;
      } else {
        EXPECT_EQ(back[0], bytes[0]) << row.name << " code " << i;
      }
    }
  }
}

TEST(Encode, TiesGoToTheEvenCode) {
  EXPECT_EQ(round_through(DType::f16, 2049.0), 2048.0);
  EXPECT_EQ(round_through(DType::f16, 2051.0), 2052.0);
  EXPECT_EQ(round_through(DType::f16, 0x1p-25), 0.0);
  EXPECT_EQ(round_through(DType::f16, 0x1.8p-24), 0x1p-23);
  EXPECT_EQ(round_through(DType::bf16, 1.00390625), 1.0);  // 1 + 2^-8
  EXPECT_EQ(round_through(DType::e4m3fn, 17.0), 16.0);     // codes 0x58 (16) and 0x59 (18)
  EXPECT_EQ(round_through(DType::e2m1, 2.5), 2.0);
  EXPECT_EQ(round_through(DType::e2m1, 5.0), 4.0);
  EXPECT_EQ(round_through(DType::i8, 2.5), 2.0);
}

// 1 + 2^-11 + 2^-40 lies above the tie; going through float first would round it down to even.
TEST(Encode, RoundsOnlyOnceFromDouble) {
  EXPECT_EQ(round_through(DType::f16, 1.0 + 0x1p-11 + 0x1p-40), 1.0 + 0x1p-10);
  EXPECT_EQ(round_through(DType::f16, 1.0 + 0x1p-11 - 0x1p-40), 1.0);
  EXPECT_EQ(round_through(DType::bf16, 1.0 + 0x1p-8 + 0x1p-40), 1.0 + 0x1p-7);
  EXPECT_EQ(round_through(DType::bf16, 1e300), kInf);
  EXPECT_EQ(round_through(DType::f16, 65519.999), 65504.0);
  EXPECT_EQ(round_through(DType::f16, 65520.0), kInf);
  EXPECT_EQ(round_through(DType::f16, -1e-300), 0.0);
}

TEST(Encode, OverflowIsInfinityOrNanOrTheLargestValue) {
  EXPECT_EQ(round_through(DType::e5m2, 61439.0), 57344.0);
  EXPECT_EQ(round_through(DType::e5m2, -61440.0), -kInf);
  EXPECT_EQ(round_through(DType::e4m3fn, 464.0), 448.0);
  EXPECT_TRUE(std::isnan(round_through(DType::e4m3fn, 465.0)));
  EXPECT_EQ(round_through(DType::e4m3fn, 1e9, Overflow::saturate), 448.0);
  EXPECT_EQ(round_through(DType::e4m3fn, -kInf, Overflow::saturate), -448.0);
  EXPECT_EQ(round_through(DType::hif8, 1e9), kInf);
  EXPECT_EQ(round_through(DType::hif8, -1e-30), 0.0);
  EXPECT_EQ(round_through(DType::e2m1, -1e9), -6.0);
  EXPECT_EQ(round_through(DType::f16, 1e9, Overflow::saturate), 65504.0);
  EXPECT_TRUE(std::isnan(round_through(DType::e8m0, -2.0)));
}

TEST(Encode, IntegersStopAtTheEndsOfTheirRange) {
  EXPECT_EQ(round_through(DType::i8, 1e9), 127.0);
  EXPECT_EQ(round_through(DType::u8, -3.0), 0.0);
  EXPECT_EQ(round_through(DType::i64, 1e30), 0x1p63);  // 2^63 - 1 seen through a double
  EXPECT_EQ(round_through(DType::i64, -1e30), -0x1p63);
  EXPECT_EQ(round_through(DType::u64, 1e30), 0x1p64);
  EXPECT_EQ(round_through(DType::i4, 100.0), 7.0);
  EXPECT_EQ(round_through(DType::i4, -100.0), -8.0);
  EXPECT_EQ(round_through(DType::u2, 9.0), 3.0);
  EXPECT_EQ(round_through(DType::i32, std::nan("")), 0.0);
}

// Neighbours of every tie of every eight-bit float: nearest by exhaustive search.
TEST(Encode, NearestValueByExhaustiveSearch) {
  for (const DType dtype : {DType::e5m2, DType::e4m3fn, DType::hif8, DType::e3m2, DType::e2m3}) {
    const auto values = small_float_values(dtype);
    for (double x = -300.0; x < 300.0; x += 0.37) {
      double best = kInf;
      for (const double value : values) {
        if (std::isfinite(value)) {
          best = std::min(best, std::abs(value - x));
        }
      }
      EXPECT_EQ(std::abs(round_through(dtype, x) - x), best) << name_of(dtype) << " " << x;
    }
  }
}

}  // namespace
}  // namespace opdrift::tensor
