#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "opdrift/tensor/dtype.hpp"

// Neighbours and rounding of a float format with p significant bits (hidden one included) and
// smallest normal 2^emin:
//   ulp(x) = 2^(max(floor(log2 |x|), emin) - p + 1),   ulp(0) = 2^(emin - p + 1)
// Formats of tapered precision (HiF8) have a p that depends on the binade.

namespace opdrift::replay {

/// Distance of neighbouring numbers of `dtype` at |x|; subnormal spacing below the smallest normal
/// and at 0. NaN for NaN, +inf for infinities. 1 for integers and booleans.
double ulp(double x, tensor::DType dtype);

/// What becomes of a magnitude that rounds beyond the largest finite number.
enum class Overflow : std::uint8_t {
  natural,   ///< infinity where the format has one, the largest finite number otherwise
  saturate,  ///< the largest finite number
};

/// x rounded to the nearest number of `dtype`, ties to even. Integers round to even and saturate.
double round_to(double x, tensor::DType dtype, Overflow overflow = Overflow::natural);

/// round_to(w) - w per element: the error of weights that are stored narrow.
std::vector<double> rounding_errors(std::span<const double> values, tensor::DType dtype);

/// Smallest positive normal number, largest finite number, unit roundoff; 0 for integers.
double smallest_normal(tensor::DType dtype);
double largest_finite(tensor::DType dtype);
double unit_roundoff(tensor::DType dtype);

/// The coarser of two storage types: the one with the larger unit roundoff.
tensor::DType coarser(tensor::DType one, tensor::DType other);

/// The type behind a number of ONNX TensorProto.DataType; nothing for unknown ones.
std::optional<tensor::DType> onnx_dtype(std::int64_t number);

}  // namespace opdrift::replay
