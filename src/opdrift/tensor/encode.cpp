#include "opdrift/tensor/encode.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "opdrift/base/check.hpp"
#include "opdrift/tensor/bit_pack.hpp"
#include "opdrift/tensor/decode.hpp"
#include "opdrift/tensor/float_bits.hpp"

namespace opdrift::tensor {

namespace {

template <typename Stored>
void store(Stored value, std::byte* out) {
  std::memcpy(out, &value, sizeof(Stored));
}

/// Rounds by the current mode of the processor, which is to nearest even.
template <typename Int>
Int round_to_int(double value) {
  if (std::isnan(value)) {
    return 0;
  }
  constexpr double kLowest = static_cast<double>(std::numeric_limits<Int>::min());
  // 2^digits is exact where max() itself would round up to it.
  const double beyond = std::ldexp(1.0, std::numeric_limits<Int>::digits);
  const double rounded = std::nearbyint(value);
  if (rounded >= beyond) {
    return std::numeric_limits<Int>::max();
  }
  return rounded <= kLowest ? std::numeric_limits<Int>::min() : static_cast<Int>(rounded);
}

double limit_to(DType dtype, double value, Overflow overflow) {
  if (overflow == Overflow::standard || std::isnan(value)) {
    return value;
  }
  const double largest = info(dtype).max_finite;
  return std::clamp(value, -largest, largest);
}

void encode_one(DType dtype, double value, std::byte* out, Overflow overflow) {
  switch (dtype) {
    case DType::f64: return store(limit_to(dtype, value, overflow), out);
    case DType::f32: return store(static_cast<float>(limit_to(dtype, value, overflow)), out);
    case DType::f16: return store(f64_to_f16(limit_to(dtype, value, overflow)), out);
    case DType::bf16: return store(f64_to_bf16(limit_to(dtype, value, overflow)), out);
    case DType::i64:
    case DType::resource: return store(round_to_int<std::int64_t>(value), out);
    case DType::i32: return store(round_to_int<std::int32_t>(value), out);
    case DType::i16: return store(round_to_int<std::int16_t>(value), out);
    case DType::i8:
    case DType::undefined: return store(round_to_int<std::int8_t>(value), out);
    case DType::u64: return store(round_to_int<std::uint64_t>(value), out);
    case DType::u32: return store(round_to_int<std::uint32_t>(value), out);
    case DType::u16: return store(round_to_int<std::uint16_t>(value), out);
    case DType::u8: return store(round_to_int<std::uint8_t>(value), out);
    case DType::boolean: return store(static_cast<std::uint8_t>(value != 0.0 ? 1 : 0), out);
    default:
      OPDRIFT_CHECK(is_small_float(dtype));
      return store(encode_small_float(dtype, value, overflow), out);
  }
}

unsigned packed_code(DType dtype, double value, Overflow overflow) {
  if (is_small_float(dtype)) {
    return encode_small_float(dtype, value, overflow);
  }
  const DTypeInfo& row = info(dtype);
  const int range = 1 << row.bits;
  const int lowest = row.kind == DTypeKind::signed_int ? -range / 2 : 0;
  const int wanted = std::clamp<int>(round_to_int<std::int8_t>(value), lowest, lowest + range - 1);
  return static_cast<unsigned>(wanted) & (static_cast<unsigned>(range) - 1U);
}

}  // namespace

void encode(DType dtype, const double* values, std::uint64_t count, std::byte* out,
            std::uint64_t first, Overflow overflow) {
  const DTypeInfo& row = info(dtype);
  OPDRIFT_CHECK(row.decodable);
  if (is_packed(dtype)) {
    for (std::uint64_t i = 0; i < count; ++i) {
      put_packed(out, first + i, row.bits, packed_code(dtype, values[i], overflow));
    }
    return;
  }
  const std::size_t step = row.bits / 8;
  const DType part = component_dtype(dtype);
  std::byte* place = out + first * step;
  for (std::uint64_t i = 0; i < count; ++i, place += step) {
    if (part != dtype) {
      std::memset(place + step / 2, 0, step / 2);
    }
    encode_one(part, values[i], place, overflow);
  }
}

double round_through(DType dtype, double value, Overflow overflow) {
  std::array<std::byte, 16> stored = {};
  encode(dtype, &value, 1, stored.data(), 0, overflow);
  return decode_one(dtype, stored.data(), 0);
}

}  // namespace opdrift::tensor
