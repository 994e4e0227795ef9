#pragma once

#include <bit>
#include <cstdint>

/// Single values between bit patterns and IEEE floats. Bulk versions: bulk_convert.hpp.
///
///   f16   s eeeee mmmmmmmmmm      bias 15, subnormals, inf, NaN
///   bf16  s eeeeeeee mmmmmmm      the upper half of an f32
///
/// Narrowing rounds to nearest, ties to even; beyond the largest finite value it gives infinity.
/// NaN stays NaN (quiet, upper payload bits kept), signed zeros keep their sign.
namespace opdrift::tensor {

/// `condition ? yes : no` by masks: both sides are computed, so that a loop becomes vector code
/// (compilers do not move float operations across a branch on their own).
inline std::uint32_t choose(bool condition, std::uint32_t yes, std::uint32_t no) {
  const std::uint32_t mask = 0U - static_cast<std::uint32_t>(condition);
  return (yes & mask) | (no & ~mask);
}

/// Exact.
inline float f16_to_f32(std::uint16_t bits) {
  const std::uint32_t sign = (std::uint32_t{bits} & 0x8000U) << 16;
  const std::uint32_t magnitude = std::uint32_t{bits} & 0x7fffU;
  const std::uint32_t normal = (magnitude << 13) + (112U << 23);
  const std::uint32_t special = (magnitude << 13) | 0x7f800000U;
  const auto subnormal = std::bit_cast<std::uint32_t>(
      static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24F);
  const std::uint32_t finite = choose(magnitude < 0x400U, subnormal, normal);
  return std::bit_cast<float>(sign | choose(magnitude >= 0x7c00U, special, finite));
}

inline float bf16_to_f32(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

inline std::uint16_t f32_to_f16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  // Adding 0.5 makes the float adder round at 2^-24, the spacing of f16 subnormals.
  const std::uint32_t subnormal =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - 0x3f000000U;
  const std::uint32_t odd = (magnitude >> 13) & 1U;
  const std::uint32_t normal = (magnitude - (112U << 23) + 0xfffU + odd) >> 13;
  const std::uint32_t nan = 0x7e00U | ((magnitude >> 13) & 0x3ffU);
  std::uint32_t result = choose(magnitude < 0x38800000U, subnormal, normal);
  result = choose(magnitude >= 0x47800000U, 0x7c00U, result);
  result = choose(magnitude > 0x7f800000U, nan, result);
  return static_cast<std::uint16_t>(sign | result);
}

inline std::uint16_t f32_to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  const std::uint32_t nan = (bits >> 16) | 0x40U;
  return static_cast<std::uint16_t>((bits & 0x7fffffffU) > 0x7f800000U ? nan : rounded);
}

/// Rounds to odd: truncates and sets the last bit when something was lost. A second rounding to at
/// most 22 bits then gives what one rounding of the double would have given.
inline float f64_to_f32_odd(double value) {
  const auto nearest = static_cast<float>(value);
  const auto back = static_cast<double>(nearest);
  if (back == value || value != value) {
    return nearest;
  }
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  const double magnitude = value < 0 ? -value : value;
  const double back_magnitude = back < 0 ? -back : back;
  bits -= back_magnitude > magnitude ? 1U : 0U;
  return std::bit_cast<float>(bits | 1U);
}

inline std::uint16_t f64_to_f16(double value) {
  return f32_to_f16(f64_to_f32_odd(value));
}

inline std::uint16_t f64_to_bf16(double value) {
  return f32_to_bf16(f64_to_f32_odd(value));
}

}  // namespace opdrift::tensor
