#pragma once

#include <cstddef>
#include <cstdint>

#include "opdrift/tensor/dtype.hpp"
#include "opdrift/tensor/small_float.hpp"

/// Numbers to stored elements: the way back of decode.hpp.
///
///   floats      nearest, ties to even; one rounding, also from double to f16 and bf16
///   integers    nearest, ties to even, then the nearest end of the range; NaN becomes 0
///   bool        0 for zero, else 1 (NaN is 1)
///   complex     real part as given, imaginary part zero
///
/// Overflow of a float follows `overflow`.
namespace opdrift::tensor {

/// Writes `count` elements from `first` on (element positions) into `out`, little-endian. Bits of
/// packed elements that lie in shared bytes must have been zero.
void encode(DType dtype, const double* values, std::uint64_t count, std::byte* out,
            std::uint64_t first = 0, Overflow overflow = Overflow::standard);

/// What is left of `value` after a round trip through `dtype`: precision emulation.
double round_through(DType dtype, double value, Overflow overflow = Overflow::standard);

}  // namespace opdrift::tensor
