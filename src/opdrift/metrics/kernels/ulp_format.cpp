#include "opdrift/metrics/kernels/ulp_format.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

#include "opdrift/tensor/encode.hpp"
#include "opdrift/tensor/small_float.hpp"

namespace opdrift::metrics::kernels {

namespace {

constexpr int kDoubleBias = 1023;

/// Nearest integer, ties to even, for 0 <= value < 2^52.
double round_even(double value) {
  constexpr double kShift = 0x1p52;
  return (value + kShift) - kShift;
}

int exponent_of(double normal) {
  return static_cast<int>((std::bit_cast<std::uint64_t>(normal) >> 52) & 0x7ffU) - kDoubleBias;
}

std::vector<double> positive_values(tensor::DType dtype) {
  std::vector<double> values;
  for (const double value : tensor::small_float_values(dtype)) {
    if (std::isfinite(value) && value > 0.0) {
      values.push_back(value);
    }
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

/// Types whose values are not evenly spaced within a power of two, or lack zero; empty for others.
std::span<const double> uneven_values(tensor::DType dtype) {
  static const std::vector<double> kHif8 = positive_values(tensor::DType::hif8);
  static const std::vector<double> kE8m0 = positive_values(tensor::DType::e8m0);
  switch (dtype) {
    case tensor::DType::hif8: return kHif8;
    case tensor::DType::e8m0: return kE8m0;
    default: return {};
  }
}

}  // namespace

UlpFormat::UlpFormat(tensor::DType dtype) {
  const tensor::DTypeInfo& row = tensor::info(tensor::component_dtype(dtype));
  mantissa_bits_ = static_cast<int>(row.mantissa_bits);
  min_normal_ = row.min_normal;
  min_exponent_ = exponent_of(min_normal_);
  subnormals_per_unit_ = std::ldexp(1.0, std::min(mantissa_bits_ - min_exponent_, 1000));
  dtype_ = row.dtype;
  uneven_values_ = uneven_values(dtype_);
  const bool saturates =
      std::isfinite(tensor::round_through(dtype_, std::numeric_limits<double>::infinity()));
  top_index_ = magnitude_index(row.max_finite) + (saturates ? 0 : 1);
}

std::int64_t UlpFormat::magnitude_index(double magnitude) const {
  if (!uneven_values_.empty()) {
    const double rounded = tensor::round_through(dtype_, magnitude);
    const auto above = std::upper_bound(uneven_values_.begin(), uneven_values_.end(), rounded);
    return std::isfinite(rounded) ? above - uneven_values_.begin() : std::ssize(uneven_values_) + 1;
  }
  if (mantissa_bits_ == 52) {
    return std::bit_cast<std::int64_t>(magnitude);
  }
  if (magnitude < min_normal_) {
    return static_cast<std::int64_t>(round_even(magnitude * subnormals_per_unit_));
  }
  // Exponent and mantissa of the double, read as one integer, rounded to the format's digits.
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(magnitude);
  const unsigned dropped = 52U - static_cast<unsigned>(mantissa_bits_);
  const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
  const std::uint64_t rounded = (bits + half - 1 + ((bits >> dropped) & 1U)) >> dropped;
  return static_cast<std::int64_t>(rounded) -
         (std::int64_t{min_exponent_ + kDoubleBias - 1} << mantissa_bits_);
}

std::int64_t UlpFormat::index(double value) const {
  const double magnitude = std::abs(value);
  const std::int64_t found =
      std::isinf(magnitude) ? top_index_ : std::min(top_index_, magnitude_index(magnitude));
  return value < 0.0 ? -found : found;
}

std::uint64_t UlpFormat::distance(double golden, double target) const {
  const std::int64_t g = index(golden);
  const std::int64_t t = index(target);
  return static_cast<std::uint64_t>(std::max(g, t)) - static_cast<std::uint64_t>(std::min(g, t));
}

tensor::DType ulp_dtype(tensor::DType golden, tensor::DType target) {
  const tensor::DTypeInfo& g = tensor::info(tensor::component_dtype(golden));
  const tensor::DTypeInfo& t = tensor::info(tensor::component_dtype(target));
  const bool golden_floats = g.kind == tensor::DTypeKind::floating;
  const bool target_floats = t.kind == tensor::DTypeKind::floating;
  if (!golden_floats || !target_floats) {
    return golden_floats ? g.dtype : target_floats ? t.dtype : tensor::DType::raw;
  }
  if (g.mantissa_bits != t.mantissa_bits) {
    return g.mantissa_bits < t.mantissa_bits ? g.dtype : t.dtype;
  }
  return g.max_finite < t.max_finite ? g.dtype : t.dtype;
}

}  // namespace opdrift::metrics::kernels
