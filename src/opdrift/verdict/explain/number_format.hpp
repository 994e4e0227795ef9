#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

#include "opdrift/tensor/dtype.hpp"

// Rounding fast enough for whole tensors. For a float format with m explicit mantissa bits and
// smallest normal 2^e0:
//   ulp(x) = 2^(max(floor(log2 |x|), e0) - m)
//   nearest(x) = rint(x / ulp(x)) * ulp(x),   toward_zero(x) = trunc(x / ulp(x)) * ulp(x)
// Integers have ulp 1 everywhere.

namespace opdrift::verdict::refit {

struct NumberFormat {
  std::string name;
  int mantissa_bits = 0;
  int min_exponent = 0;     ///< of the smallest normal
  double max_finite = 0.0;  ///< 0: no limit worth a thought
  bool integer = false;
};

/// Tapered types (HiF8) count as having two mantissa bits everywhere.
NumberFormat format_of(tensor::DType dtype);

/// Eight exponent and ten mantissa bits, an operand format of matrix units; never stored.
NumberFormat tf32_format();

/// Distance of neighbours at |x|; x must be finite.
inline double ulp(double x, const NumberFormat& format) {
  if (format.integer) {
    return 1.0;
  }
  const auto field = static_cast<int>((std::bit_cast<std::uint64_t>(x) >> 52U) & 0x7ffU);
  const int least = format.min_exponent + 1023;
  const int exponent = (field > least ? field : least) - format.mantissa_bits;
  // Doubles themselves: steps below the smallest normal are given as that.
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent > 1 ? exponent : 1) << 52U);
}

/// 1 / ulp(x), without a division.
inline double inverse_ulp(double x, const NumberFormat& format) {
  constexpr std::uint64_t kOneTimesOne = std::uint64_t{2046} << 52U;
  return std::bit_cast<double>(kOneTimesOne - std::bit_cast<std::uint64_t>(ulp(x, format)));
}

/// Ties to even; no limit at the largest finite number.
inline double nearest(double x, const NumberFormat& format) {
  const double step = ulp(x, format);
  // Adding 1.5 * 2^52 leaves no room for a fraction; quicker than a call of rint.
  constexpr double kNoFraction = 6755399441055744.0;
  const double scaled = x / step;
  return std::abs(scaled) < 0x1p50 ? (scaled + kNoFraction - kNoFraction) * step : x;
}

inline double toward_zero(double x, const NumberFormat& format) {
  const double step = ulp(x, format);
  const double rounded = nearest(x, format);
  if (std::abs(rounded) <= std::abs(x)) {
    return rounded;
  }
  return rounded > 0.0 ? rounded - step : rounded + step;
}

}  // namespace opdrift::verdict::refit
