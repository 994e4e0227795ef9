#include "opdrift/tensor/small_float.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "opdrift/base/check.hpp"

namespace opdrift::tensor {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

/// Sign, exponent and mantissa of the plain types; the specials are handled by the callers.
double decode_plain(unsigned code, int exponent_bits, int mantissa_bits, int bias) {
  const unsigned mantissa = code & ((1U << mantissa_bits) - 1U);
  const auto exponent = static_cast<int>((code >> mantissa_bits) & ((1U << exponent_bits) - 1U));
  const double fraction = std::ldexp(static_cast<double>(mantissa), -mantissa_bits);
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1.0 + fraction, exponent - bias);
  const bool negative = ((code >> (exponent_bits + mantissa_bits)) & 1U) != 0;
  return negative ? -magnitude : magnitude;
}

double decode_e5m2(unsigned code) {
  if ((code & 0x7cU) == 0x7cU) {
    const double infinity = (code & 0x80U) != 0 ? -kInf : kInf;
    return (code & 3U) != 0 ? kNan : infinity;
  }
  return decode_plain(code, 5, 2, 15);
}

double decode_e4m3fn(unsigned code) {
  return (code & 0x7fU) == 0x7fU ? kNan : decode_plain(code, 4, 3, 7);
}

double decode_e8m0(unsigned code) {
  return code == 0xffU ? kNan : std::ldexp(1.0, static_cast<int>(code) - 127);
}

/// The seven bits below the sign of a hif8 code, infinity included.
double decode_hif8_magnitude(unsigned low) {
  if (low == 0x6fU) {
    return kInf;
  }
  if (low < 0x08U) {
    return low == 0 ? 0.0 : std::ldexp(1.0, static_cast<int>(low) - 23);
  }
  int width = 0;  // of the exponent field
  int field_end = 3;
  if (low >= 0x20U) {
    width = low >= 0x60U ? 4 : (low >= 0x40U ? 3 : 2);
    field_end = 5 - width;
  } else if (low >= 0x10U) {
    width = 1;
  }
  const unsigned mantissa = low & ((1U << field_end) - 1U);
  int exponent = 0;
  if (width > 0) {
    const unsigned field = (low >> field_end) & ((1U << width) - 1U);
    const unsigned hidden = 1U << (width - 1);
    const auto size = static_cast<int>(hidden | (field & (hidden - 1U)));
    exponent = (field & hidden) != 0 ? -size : size;
  }
  return std::ldexp(1.0 + std::ldexp(static_cast<double>(mantissa), -field_end), exponent);
}

double decode_hif8(unsigned code) {
  if (code == 0x80U) {
    return kNan;
  }
  const double magnitude = decode_hif8_magnitude(code & 0x7fU);
  return (code & 0x80U) != 0 ? -magnitude : magnitude;
}

double decode_code(DType dtype, unsigned code) {
  switch (dtype) {
    case DType::e5m2: return decode_e5m2(code);
    case DType::e4m3fn: return decode_e4m3fn(code);
    case DType::e8m0: return decode_e8m0(code);
    case DType::hif8: return decode_hif8(code);
    case DType::e3m2: return decode_plain(code, 3, 2, 3);
    case DType::e2m3: return decode_plain(code, 2, 3, 1);
    case DType::e2m1: return decode_plain(code, 2, 1, 1);
    default: OPDRIFT_CHECK(dtype == DType::e1m2); return decode_plain(code, 1, 2, 1);
  }
}

/// What lies beyond the finite codes.
struct Specials {
  /// Value that would follow the largest finite one if the codes went on; overflow begins half way.
  double beyond = kInf;
  std::optional<std::uint8_t> nan = std::nullopt;
  std::optional<std::uint8_t> overflow = std::nullopt;  ///< infinity, or NaN where there is none
};

Specials specials_of(DType dtype) {
  constexpr auto kCode = [](unsigned bits) { return static_cast<std::uint8_t>(bits); };
  switch (dtype) {
    case DType::e5m2: return {65536.0, kCode(0x7e), kCode(0x7c)};
    case DType::e4m3fn: return {480.0, kCode(0x7f), kCode(0x7f)};
    case DType::e8m0: return {0x1p128, kCode(0xff), kCode(0xff)};
    case DType::hif8: return {49152.0, kCode(0x80), kCode(0x6f)};
    default: return {};
  }
}

struct Positive {
  double value;
  std::uint8_t code;
};

struct SmallFloatTable {
  std::vector<double> values;
  std::vector<float> values_f32;
  std::vector<Positive> ascending;  // finite and not negative
  Specials specials;
  std::uint8_t sign_bit = 0;
};

SmallFloatTable build_table(DType dtype) {
  SmallFloatTable table;
  const unsigned bits = info(dtype).bits;
  for (unsigned code = 0; code < (1U << bits); ++code) {
    const double value = decode_code(dtype, code);
    table.values.push_back(value);
    table.values_f32.push_back(static_cast<float>(value));
    if (std::isfinite(value) && !std::signbit(value)) {
      table.ascending.push_back({value, static_cast<std::uint8_t>(code)});
    }
  }
  std::sort(table.ascending.begin(), table.ascending.end(),
            [](const Positive& x, const Positive& y) { return x.value < y.value; });
  table.specials = specials_of(dtype);
  table.sign_bit =
      dtype == DType::e8m0 ? std::uint8_t{0} : static_cast<std::uint8_t>(1U << (bits - 1U));
  return table;
}

constexpr std::array kSmallFloats = {DType::e5m2, DType::e4m3fn, DType::e8m0, DType::hif8,
                                     DType::e3m2, DType::e2m3,   DType::e2m1, DType::e1m2};

const SmallFloatTable& table_of(DType dtype) {
  static const std::array<SmallFloatTable, kSmallFloats.size()> kTables = [] {
    std::array<SmallFloatTable, kSmallFloats.size()> tables;
    for (std::size_t i = 0; i < kSmallFloats.size(); ++i) {
      tables[i] = build_table(kSmallFloats[i]);
    }
    return tables;
  }();
  const auto* found = std::find(kSmallFloats.begin(), kSmallFloats.end(), dtype);
  OPDRIFT_CHECK(found != kSmallFloats.end());
  return kTables[static_cast<std::size_t>(found - kSmallFloats.begin())];
}

std::uint8_t nearest(const SmallFloatTable& table, double magnitude) {
  const auto above =
      std::lower_bound(table.ascending.begin(), table.ascending.end(), magnitude,
                       [](const Positive& entry, double wanted) { return entry.value < wanted; });
  if (above == table.ascending.begin()) {
    return above->code;
  }
  if (above == table.ascending.end()) {
    return table.ascending.back().code;
  }
  const Positive below = *(above - 1);
  const double to_below = magnitude - below.value;
  const double to_above = above->value - magnitude;
  if (to_below == to_above) {
    return (below.code & 1U) == 0 ? below.code : above->code;
  }
  return to_below < to_above ? below.code : above->code;
}

/// True when `magnitude` rounds past the largest finite value.
bool overflows(const SmallFloatTable& table, double magnitude) {
  const Positive largest = table.ascending.back();
  const double tie = largest.value + (table.specials.beyond - largest.value) / 2.0;
  return magnitude > tie || (magnitude == tie && (largest.code & 1U) != 0) || magnitude == kInf;
}

}  // namespace

bool is_small_float(DType dtype) {
  return std::find(kSmallFloats.begin(), kSmallFloats.end(), dtype) != kSmallFloats.end();
}

std::span<const double> small_float_values(DType dtype) {
  return table_of(dtype).values;
}

std::span<const float> small_float_values_f32(DType dtype) {
  return table_of(dtype).values_f32;
}

std::uint8_t encode_small_float(DType dtype, double value, Overflow overflow) {
  const SmallFloatTable& table = table_of(dtype);
  const double magnitude = std::abs(value);
  const bool negative = std::signbit(value) && magnitude != 0.0;
  if (std::isnan(value) || (negative && table.sign_bit == 0)) {
    return table.specials.nan.value_or(0);
  }
  const std::uint8_t largest = table.ascending.back().code;
  std::uint8_t code = 0;
  if (!overflows(table, magnitude)) {
    code = nearest(table, magnitude);
  } else {
    code = overflow == Overflow::saturate ? largest : table.specials.overflow.value_or(largest);
  }
  const auto with_sign = static_cast<std::uint8_t>(code | table.sign_bit);
  // hif8 has one zero; its 0x80 is NaN.
  const bool sign_allowed = with_sign != table.specials.nan;
  return std::signbit(value) && sign_allowed ? with_sign : code;
}

}  // namespace opdrift::tensor
