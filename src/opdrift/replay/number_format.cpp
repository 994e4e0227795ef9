#include "opdrift/replay/number_format.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace opdrift::replay {

namespace {

using tensor::DType;

// HiF8 spends its dot field on the exponent: fewer mantissa bits further from 1, and powers of two
// only from 2^-22 to 2^-16.
int hif8_mantissa_bits(int exponent) {
  const int magnitude = std::abs(exponent);
  return exponent < -15 ? 0 : magnitude < 4 ? 3 : magnitude < 8 ? 2 : 1;
}

constexpr int kHif8Smallest = -22;

int mantissa_bits(DType dtype, int exponent) {
  return dtype == DType::hif8 ? hif8_mantissa_bits(exponent)
                              : static_cast<int>(tensor::info(dtype).mantissa_bits);
}

int smallest_exponent(DType dtype) {
  if (dtype == DType::hif8) {
    return kHif8Smallest;
  }
  const double normal = tensor::info(dtype).min_normal;
  return normal > 0.0 ? std::ilogb(normal) : std::numeric_limits<int>::min() / 4;
}

// Float formats that spend no code on infinity.
bool has_infinity(DType dtype) {
  switch (dtype) {
    case DType::f64:
    case DType::f32:
    case DType::f16:
    case DType::bf16:
    case DType::e5m2:
    case DType::hif8: return true;
    default: return false;
  }
}

/// What ulp() needs of a format, worked out once.
struct Spacing {
  bool floating = false;
  bool even = true;  ///< the same number of mantissa bits in every binade
  int least = 0;     ///< exponent of the smallest normal number
  int mantissa = 0;
};

constexpr std::size_t kDTypes = static_cast<std::size_t>(DType::raw) + 1;

const Spacing& spacing_of(DType dtype) {
  static const std::array<Spacing, kDTypes> kTable = [] {
    std::array<Spacing, kDTypes> table{};
    for (const tensor::DTypeInfo& info : tensor::all_dtypes()) {
      const int least = smallest_exponent(info.dtype);
      table[static_cast<std::size_t>(info.dtype)] = {tensor::is_floating(info.dtype),
                                                     info.dtype != DType::hif8, least,
                                                     static_cast<int>(info.mantissa_bits)};
    }
    return table;
  }();
  return kTable[static_cast<std::size_t>(dtype)];
}

double round_integer(double x, DType dtype) {
  const tensor::DTypeInfo& info = tensor::info(dtype);
  if (info.kind == tensor::DTypeKind::boolean) {
    return x != 0.0 ? 1.0 : 0.0;
  }
  const double span = std::exp2(static_cast<double>(info.bits));
  const bool is_signed = info.kind == tensor::DTypeKind::signed_int;
  return std::clamp(std::nearbyint(x), is_signed ? -span / 2.0 : 0.0,
                    (is_signed ? span / 2.0 : span) - 1.0);
}

}  // namespace

double ulp(double x, DType dtype) {
  const Spacing& spacing = spacing_of(dtype);
  if (!spacing.floating) {
    return 1.0;
  }
  // Exponent bits of the double; all ones for NaN and infinities, 0 for 0 and subnormals.
  const auto bits = static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 52U & 0x7FFU);
  if (bits == 0x7FF) {
    return std::abs(x);
  }
  if (!spacing.even) {
    const int exponent = std::max(bits - 1023, spacing.least);
    return std::ldexp(1.0, exponent - mantissa_bits(dtype, exponent));
  }
  const int biased = std::max(bits - 1023, spacing.least) - spacing.mantissa + 1023;
  return biased > 0 ? std::bit_cast<double>(static_cast<std::uint64_t>(biased) << 52U)
                    : std::ldexp(1.0, biased - 1023);
}

double round_to(double x, DType dtype, Overflow overflow) {
  if (dtype == DType::f64 || std::isnan(x)) {
    return x;
  }
  if (!tensor::is_floating(dtype)) {
    return round_integer(x, dtype);
  }
  const double largest = largest_finite(dtype);
  if (std::isinf(x)) {
    const bool kept = overflow == Overflow::natural && has_infinity(dtype);
    return kept ? x : std::copysign(largest, x);
  }
  // Dividing by a power of two is exact, so the one rounding is that of nearbyint.
  const double step = ulp(x, dtype);
  const double rounded = std::nearbyint(x / step) * step;
  if (std::abs(rounded) <= largest) {
    return std::copysign(rounded, x);
  }
  const bool infinite = overflow == Overflow::natural && has_infinity(dtype);
  return std::copysign(infinite ? HUGE_VAL : largest, x);
}

std::vector<double> rounding_errors(std::span<const double> values, DType dtype) {
  std::vector<double> errors;
  errors.reserve(values.size());
  for (const double value : values) {
    const double error = round_to(value, dtype) - value;
    errors.push_back(std::isfinite(error) ? error : 0.0);
  }
  return errors;
}

double smallest_normal(DType dtype) {
  return tensor::is_floating(dtype) ? tensor::info(dtype).min_normal : 0.0;
}

double largest_finite(DType dtype) {
  return tensor::is_floating(dtype) ? tensor::info(dtype).max_finite : 0.0;
}

double unit_roundoff(DType dtype) {
  return tensor::is_floating(dtype) ? tensor::info(dtype).unit_roundoff : 0.0;
}

DType coarser(DType one, DType other) {
  return unit_roundoff(one) >= unit_roundoff(other) ? one : other;
}

std::optional<DType> onnx_dtype(std::int64_t number) {
  constexpr DType kNone = DType::raw;
  constexpr std::array<DType, 24> kTypes = {
      kNone,      DType::f32,  DType::u8,     DType::i8,      DType::u16,  DType::i16,
      DType::i32, DType::i64,  DType::string, DType::boolean, DType::f16,  DType::f64,
      DType::u32, DType::u64,  DType::c64,    DType::c128,    DType::bf16, DType::e4m3fn,
      kNone,      DType::e5m2, kNone,         DType::u4,      DType::i4,   DType::e2m1};
  if (number < 0 || number >= static_cast<std::int64_t>(kTypes.size()) ||
      kTypes[static_cast<std::size_t>(number)] == kNone) {
    return std::nullopt;
  }
  return kTypes[static_cast<std::size_t>(number)];
}

}  // namespace opdrift::replay
