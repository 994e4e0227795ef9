#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "opdrift/tensor/dtype.hpp"

/// Floats of at most eight bits, as their standards define them. s sign, e exponent, m mantissa:
///
///   e5m2    s eeeee mm    bias 15, inf at e=31 m=0, NaN at e=31 m!=0
///   e4m3fn  s eeee mmm    bias 7, no inf, NaN at 0x7f and 0xff
///   e8m0    eeeeeeee      2^(e-127), no sign, NaN at 0xff
///   e3m2    s eee mm      bias 3, neither inf nor NaN
///   e2m3    s ee mmm      bias 1, neither
///   e2m1    s ee m        bias 1, neither
///   e1m2    s e mm        bias 1, neither
///   hif8    s prefix [exponent] mantissa; the prefix gives the width D of the exponent:
///             11 -> 4, 10 -> 3, 01 -> 2, 001 -> 1, 0001 -> 0, 0000 -> small numbers
///           exponent: sign, D-1 bits below a hidden leading one; mantissa: 1, 2, 3, 3, 3 bits
///           0000mmm = 2^(m-23); 0x00 zero, 0x80 NaN, 0x6f and 0xef infinities
///
/// e = 0 holds subnormals except in e8m0 and hif8.
namespace opdrift::tensor {

/// True for the types of the list above.
bool is_small_float(DType dtype);

/// Values of all codes, index = bit pattern: 256, 64 or 16 entries.
std::span<const double> small_float_values(DType dtype);
std::span<const float> small_float_values_f32(DType dtype);

/// What becomes of a value too large for the type.
enum class Overflow : std::uint8_t {
  standard,  ///< infinity; NaN where the type has none; largest finite value where it has neither
  saturate,  ///< largest finite value
};

/// Nearest code, ties to the even code. NaN becomes the type's NaN, or zero where it has none.
std::uint8_t encode_small_float(DType dtype, double value, Overflow overflow = Overflow::standard);

}  // namespace opdrift::tensor
