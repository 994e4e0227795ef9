#pragma once

#include <cstdint>
#include <span>

#include "opdrift/tensor/dtype.hpp"

/// Distance in units in the last place.
///
///   index(v) = number of values of the format in (0, v], negative for v < 0, v rounded to nearest
///   (ties to even) first; beyond the largest finite value: one past its index, or the same index
///   in formats that have no infinity and no NaN to overflow to
///   distance(g, t) = |index(g) - index(t)|
///
/// For f16, bf16, f32 and f64 this is the difference of bit patterns read as sign and magnitude.
namespace opdrift::metrics::kernels {

/// The number line of one floating dtype (a complex dtype: of its parts).
class UlpFormat {
 public:
  explicit UlpFormat(tensor::DType dtype);

  /// `value` is not NaN.
  std::int64_t index(double value) const;
  std::uint64_t distance(double golden, double target) const;
  /// True when the format is that of a double, whose patterns need no rounding.
  bool is_double() const { return mantissa_bits_ == 52; }

 private:
  std::int64_t magnitude_index(double magnitude) const;

  int mantissa_bits_ = 0;
  int min_exponent_ = 0;
  double min_normal_ = 0.0;
  double subnormals_per_unit_ = 0.0;  // 1 / the smallest subnormal
  std::int64_t top_index_ = 0;
  tensor::DType dtype_ = tensor::DType::raw;
  std::span<const double> uneven_values_;  // hif8, e8m0: the values above zero
};

/// The dtype whose units a pair is measured in: the floating side with fewer mantissa bits, then
/// the one with the smaller range; raw when neither side is floating. Complex counts as its parts.
tensor::DType ulp_dtype(tensor::DType golden, tensor::DType target);

}  // namespace opdrift::metrics::kernels
