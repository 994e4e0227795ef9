#include "opdrift/metrics/kernels/scalar.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

namespace opdrift::metrics::kernels {

void scalar_sums(const double* golden, const double* target, std::size_t count, BlockTotals& out) {
  for (std::size_t i = 0; i < count; ++i) {
    const double g = golden[i];
    const double t = target[i];
    const double d = t - g;
    out.sum_golden += g;
    out.sum_golden2 += g * g;
    out.sum_target += t;
    out.sum_target2 += t * t;
    out.sum_product += g * t;
    out.sum_d += d;
    out.sum_abs_d += std::abs(d);
    out.sum_d2 += d * d;
  }
}

namespace {

template <typename T>
GoldenClass golden_class(T value) {
  if (std::isnan(value)) {
    return GoldenClass::nan;
  }
  if (std::isinf(value)) {
    return value > 0 ? GoldenClass::positive_inf : GoldenClass::negative_inf;
  }
  if (value == 0) {
    return GoldenClass::zero;
  }
  return std::abs(static_cast<double>(value)) <= kReferenceEpsilon ? GoldenClass::tiny
                                                                   : GoldenClass::ordinary;
}

template <typename T>
TargetClass target_class(T value) {
  if (std::isnan(value)) {
    return TargetClass::nan;
  }
  if (std::isinf(value)) {
    return value > 0 ? TargetClass::positive_inf : TargetClass::negative_inf;
  }
  return TargetClass::finite;
}

template <typename T>
bool same_bits(T golden, T target) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  return std::bit_cast<Bits>(golden) == std::bit_cast<Bits>(target);
}

template <typename T>
void sort_pairs(const T* golden, const T* target, std::size_t count, ClassSplit<T>& split) {
  for (std::size_t i = 0; i < count; ++i) {
    const T g = golden[i];
    const T t = target[i];
    const bool golden_finite = std::isfinite(g);
    const bool target_finite = std::isfinite(t);
    if (golden_finite && target_finite) {
      split.golden[split.finite] = g;
      split.target[split.finite] = t;
      split.positions[split.finite++] = static_cast<std::uint16_t>(split.first + i);
      continue;
    }
    ++split.nonfinite.counts[static_cast<std::size_t>(golden_class(g))]
                            [static_cast<std::size_t>(target_class(t))];
    split.equal_bits += same_bits(g, t) ? 1U : 0U;
    if (golden_finite) {
      split.golden_alone[split.golden_alone_count++] = g;
    }
    if (target_finite) {
      split.target_alone[split.target_alone_count++] = t;
    }
  }
}

}  // namespace

void scalar_split_classes(const float* golden, const float* target, std::size_t count,
                          ClassSplit<float>& split) {
  sort_pairs(golden, target, count, split);
}

void scalar_split_classes(const double* golden, const double* target, std::size_t count,
                          ClassSplit<double>& split) {
  sort_pairs(golden, target, count, split);
}

double scaled_error(double golden, double target, double scale) {
  const double size = std::abs(target - golden);
  return size == 0.0 ? 0.0 : size / std::max(std::abs(golden), scale);
}

void scalar_shape(const double* golden, const double* target, std::size_t count,
                  const ShapeLimits& limits, BlockTotals& out) {
  if (count == 0) {
    return;
  }
  out.golden_min = out.golden_max = golden[0];
  out.target_min = out.target_max = target[0];
  for (std::size_t i = 0; i < count; ++i) {
    const double g = golden[i];
    const double t = target[i];
    const double abs_g = std::abs(g);
    const double abs_d = std::abs(t - g);
    out.max_abs_d = std::max(out.max_abs_d, abs_d);
    const double quotient = abs_d == 0.0 ? 0.0 : abs_d / abs_g;
    out.over_1e3 += quotient > 1e-3 ? 1U : 0U;
    out.over_5e3 += quotient > 5e-3 ? 1U : 0U;
    out.max_scaled = std::max(out.max_scaled, scaled_error(g, t, limits.scale));
    const double relative = g == 0.0 ? 0.0 : quotient;
    const double above = abs_g <= kReferenceEpsilon ? 0.0 : quotient;
    out.sum_relative += relative;
    out.max_relative = std::max(out.max_relative, relative);
    out.sum_relative_above_epsilon += above;
    out.max_relative_above_epsilon = std::max(out.max_relative_above_epsilon, above);
    out.golden_zero += g == 0.0 ? 1U : 0U;
    out.golden_small += abs_g < limits.golden_min_normal ? 1U : 0U;
    out.target_zero += t == 0.0 ? 1U : 0U;
    out.target_small += std::abs(t) < limits.target_min_normal ? 1U : 0U;
    out.equal_bits += std::bit_cast<std::uint64_t>(g) == std::bit_cast<std::uint64_t>(t) ? 1U : 0U;
    out.golden_min = std::min(out.golden_min, g);
    out.golden_max = std::max(out.golden_max, g);
    out.target_min = std::min(out.target_min, t);
    out.target_max = std::max(out.target_max, t);
  }
}

namespace {

/// Doubles as integers in the order of their values.
std::int64_t ordered(double value) {
  const auto bits = std::bit_cast<std::int64_t>(value);
  return bits < 0 ? std::numeric_limits<std::int64_t>::min() - bits : bits;
}

std::uint64_t double_distance(double golden, double target) {
  const std::int64_t g = ordered(golden);
  const std::int64_t t = ordered(target);
  return static_cast<std::uint64_t>(std::max(g, t)) - static_cast<std::uint64_t>(std::min(g, t));
}

}  // namespace

void scalar_ulp(const double* golden, const double* target, std::size_t count,
                const UlpFormat& format, BlockTotals& out) {
  const bool doubles = format.is_double();
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t distance =
        doubles ? double_distance(golden[i], target[i]) : format.distance(golden[i], target[i]);
    const auto bucket = static_cast<std::size_t>(std::bit_width(distance));
    ++out.ulp[std::min(bucket, Measurement::kUlpBuckets - 1)];
    out.max_ulp = std::max(out.max_ulp, distance);
  }
}

double scalar_centred_squares(const double* values, std::size_t count, double mean) {
  double sum = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    sum += (values[i] - mean) * (values[i] - mean);
  }
  return sum;
}

void scalar_kl(const double* golden, const double* target, std::size_t count, const KlMap& map,
               KlSums& out) {
  constexpr double kFloor = 0x1p-23;
  for (std::size_t i = 0; i < count; ++i) {
    const double p = std::max((target[i] - map.target_min) * map.target_factor, kFloor);
    const double q = std::max((golden[i] - map.golden_min) * map.golden_factor, kFloor);
    out.target += p;
    out.golden += q;
    out.gap += std::max(0.0, p * std::log1p((p - q) / q) - (p - q));
  }
}

}  // namespace opdrift::metrics::kernels
