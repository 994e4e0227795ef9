#include "opdrift/metrics/kernels/ulp_format.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "opdrift/tensor/small_float.hpp"

namespace opdrift::metrics::kernels {

namespace {

/// Nearest integer, ties to even, for 0 <= value < 2^52.
double round_even(double value) {
  constexpr double kShift = 0x1p52;
  const volatile double shifted = value + kShift;
  return shifted - kShift;
}

int exponent_of(double normal) {
  return static_cast<int>((std::bit_cast<std::uint64_t>(normal) >> 52) & 0x7ffU) - 1023;
}

std::span<const double> hif8_magnitudes() {
  static const std::vector<double> values = [] {
    std::vector<double> all;
    for (const double value : tensor::small_float_values(tensor::DType::hif8)) {
      if (std::isfinite(value) && value >= 0.0) {
        all.push_back(value);
      }
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }();
  return values;
}

/// Index of the nearest of rising values; the even index on a tie; size() beyond the last.
std::int64_t nearest_index(std::span<const double> values, double magnitude) {
  const auto above = std::lower_bound(values.begin(), values.end(), magnitude);
  const std::int64_t index = above - values.begin();
  if (above == values.end() || index == 0) {
    return index;
  }
  const double to_above = *above - magnitude;
  const double to_below = magnitude - *(above - 1);
  if (to_above == to_below) {
    return index % 2 == 0 ? index : index - 1;
  }
  return to_above < to_below ? index : index - 1;
}

}  // namespace

UlpFormat::UlpFormat(tensor::DType dtype) {
  const tensor::DTypeInfo& row = tensor::info(tensor::component_dtype(dtype));
  mantissa_bits_ = static_cast<int>(row.mantissa_bits);
  min_normal_ = row.min_normal;
  max_finite_ = row.max_finite;
  min_exponent_ = exponent_of(min_normal_);
  if (row.dtype == tensor::DType::hif8) {
    uneven_values_ = hif8_magnitudes();
  }
  last_index_ = magnitude_index(max_finite_);
}

std::int64_t UlpFormat::magnitude_index(double magnitude) const {
  if (!uneven_values_.empty()) {
    return nearest_index(uneven_values_, magnitude);
  }
  if (mantissa_bits_ == 52) {
    return std::bit_cast<std::int64_t>(magnitude);
  }
  if (magnitude < min_normal_) {
    return static_cast<std::int64_t>(
        round_even(std::ldexp(magnitude, mantissa_bits_ - min_exponent_)));
  }
  const int exponent = exponent_of(magnitude);
  const double mantissa = std::ldexp(magnitude, mantissa_bits_ - exponent);
  return (std::int64_t{exponent - min_exponent_} << mantissa_bits_) +
         static_cast<std::int64_t>(round_even(mantissa));
}

std::int64_t UlpFormat::index(double value) const {
  const double magnitude = std::abs(value);
  std::int64_t found = last_index_ + 1;
  if (!std::isinf(magnitude)) {
    found = std::min(found, magnitude_index(magnitude));
  }
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
