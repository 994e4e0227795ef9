// Per-target include guard, see vector_kernels.cpp.
#if defined(OPDRIFT_METRICS_WIDE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef OPDRIFT_METRICS_WIDE_INL
#undef OPDRIFT_METRICS_WIDE_INL
#else
#define OPDRIFT_METRICS_WIDE_INL
#endif

#include "hwy/highway.h"

#include "opdrift/metrics/kernels/levels.hpp"
#include "opdrift/metrics/kernels/tally-inl.h"

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_BEFORE_NAMESPACE();
namespace opdrift::metrics::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// The kernels of scalar.hpp on lanes of double, for dtypes that do not fit a float.

inline HWY_ATTR bool all_finite64(const double* values, std::size_t count) {
  const hn::ScalableTag<double> dd;
  const auto infinity = hn::Set(dd, std::numeric_limits<double>::infinity());
  auto finite = hn::Lt(hn::Zero(dd), infinity);
  for (std::size_t i = 0; i < count; i += hn::Lanes(dd)) {
    finite = hn::And(finite, hn::Lt(hn::Abs(hn::LoadU(dd, values + i)), infinity));
  }
  return hn::AllTrue(dd, finite);
}

inline HWY_ATTR void sums64(const double* golden, const double* target, std::size_t count,
                            BlockTotals& out) {
  const hn::ScalableTag<double> dd;
  const auto zero = hn::Zero(dd);
  auto sum_g = zero;
  auto sum_g2 = zero;
  auto sum_t = zero;
  auto sum_t2 = zero;
  auto product = zero;
  auto sum_d = zero;
  auto sum_abs = zero;
  auto sum_d2 = zero;
  for (std::size_t i = 0; i < count; i += hn::Lanes(dd)) {
    const auto g = hn::LoadU(dd, golden + i);
    const auto t = hn::LoadU(dd, target + i);
    const auto d = hn::Sub(t, g);
    sum_g = hn::Add(sum_g, g);
    sum_g2 = hn::MulAdd(g, g, sum_g2);
    sum_t = hn::Add(sum_t, t);
    sum_t2 = hn::MulAdd(t, t, sum_t2);
    product = hn::MulAdd(g, t, product);
    sum_d = hn::Add(sum_d, d);
    sum_abs = hn::Add(sum_abs, hn::Abs(d));
    sum_d2 = hn::MulAdd(d, d, sum_d2);
  }
  const auto total = [&](auto lanes) HWY_ATTR { return hn::GetLane(hn::SumOfLanes(dd, lanes)); };
  out.sum_golden = total(sum_g);
  out.sum_golden2 = total(sum_g2);
  out.sum_target = total(sum_t);
  out.sum_target2 = total(sum_t2);
  out.sum_product = total(product);
  out.sum_d = total(sum_d);
  out.sum_abs_d = total(sum_abs);
  out.sum_d2 = total(sum_d2);
}

/// Largest values and the sums of relative errors.
inline HWY_ATTR void errors64(const double* golden, const double* target, std::size_t count,
                              const ShapeLimits& limits, BlockTotals& out) {
  const hn::ScalableTag<double> dd;
  const auto zero = hn::Zero(dd);
  const auto scale = hn::Set(dd, limits.scale);
  const auto epsilon = hn::Set(dd, kReferenceEpsilon);
  auto max_abs = zero;
  auto max_scaled = zero;
  auto max_relative = zero;
  auto max_above = zero;
  auto sum_relative = zero;
  auto sum_above = zero;
  std::uint64_t over_1e3 = 0;
  std::uint64_t over_5e3 = 0;
  for (std::size_t i = 0; i < count; i += hn::Lanes(dd)) {
    const auto g = hn::LoadU(dd, golden + i);
    const auto size = hn::Abs(g);
    const auto d = hn::Abs(hn::Sub(hn::LoadU(dd, target + i), g));
    const auto differs = hn::Gt(d, zero);
    const auto quotient = hn::IfThenElseZero(differs, hn::Div(d, size));
    const auto scaled = hn::IfThenElseZero(differs, hn::Div(d, hn::Max(size, scale)));
    over_1e3 += hn::CountTrue(dd, hn::Gt(quotient, hn::Set(dd, 1e-3)));
    over_5e3 += hn::CountTrue(dd, hn::Gt(quotient, hn::Set(dd, 5e-3)));
    max_abs = hn::Max(max_abs, d);
    max_scaled = hn::Max(max_scaled, scaled);
    const auto relative = hn::IfThenElseZero(hn::Gt(size, zero), quotient);
    const auto above = hn::IfThenElseZero(hn::Gt(size, epsilon), quotient);
    sum_relative = hn::Add(sum_relative, relative);
    max_relative = hn::Max(max_relative, relative);
    sum_above = hn::Add(sum_above, above);
    max_above = hn::Max(max_above, above);
  }
  const auto largest = [&](auto lanes) HWY_ATTR { return hn::GetLane(hn::MaxOfLanes(dd, lanes)); };
  out.max_abs_d = largest(max_abs);
  out.max_scaled = largest(max_scaled);
  out.max_relative = largest(max_relative);
  out.max_relative_above_epsilon = largest(max_above);
  out.sum_relative = hn::GetLane(hn::SumOfLanes(dd, sum_relative));
  out.sum_relative_above_epsilon = hn::GetLane(hn::SumOfLanes(dd, sum_above));
  out.over_1e3 = over_1e3;
  out.over_5e3 = over_5e3;
}

struct SideShape {
  double min;
  double max;
  std::uint64_t zero;
  std::uint64_t small;
};

inline HWY_ATTR SideShape side64(const double* values, std::size_t count, double min_normal) {
  const hn::ScalableTag<double> dd;
  const auto normal = hn::Set(dd, min_normal);
  auto min = hn::LoadU(dd, values);
  auto max = min;
  SideShape shape = {0.0, 0.0, 0, 0};
  for (std::size_t i = 0; i < count; i += hn::Lanes(dd)) {
    const auto v = hn::LoadU(dd, values + i);
    min = hn::Min(min, v);
    max = hn::Max(max, v);
    shape.zero += hn::CountTrue(dd, hn::Eq(v, hn::Zero(dd)));
    shape.small += hn::CountTrue(dd, hn::Lt(hn::Abs(v), normal));
  }
  shape.min = hn::GetLane(hn::MinOfLanes(dd, min));
  shape.max = hn::GetLane(hn::MaxOfLanes(dd, max));
  return shape;
}

inline HWY_ATTR void shape64(const double* golden, const double* target, std::size_t count,
                             const ShapeLimits& limits, BlockTotals& out) {
  using DU = hn::ScalableTag<std::uint64_t>;
  errors64(golden, target, count, limits, out);
  const SideShape golden_shape = side64(golden, count, limits.golden_min_normal);
  const SideShape target_shape = side64(target, count, limits.target_min_normal);
  out.golden_min = golden_shape.min;
  out.golden_max = golden_shape.max;
  out.golden_zero = golden_shape.zero;
  out.golden_small = golden_shape.small;
  out.target_min = target_shape.min;
  out.target_max = target_shape.max;
  out.target_zero = target_shape.zero;
  out.target_small = target_shape.small;
  const hn::ScalableTag<double> dd;
  std::uint64_t equal = 0;
  for (std::size_t i = 0; i < count; i += hn::Lanes(dd)) {
    const auto g = hn::BitCast(DU(), hn::LoadU(dd, golden + i));
    const auto t = hn::BitCast(DU(), hn::LoadU(dd, target + i));
    equal += hn::CountTrue(DU(), hn::Eq(g, t));
  }
  out.equal_bits = equal;
}

inline HWY_ATTR double centred_squares64(const double* values, std::size_t count, double mean) {
  const hn::ScalableTag<double> dd;
  const auto centre = hn::Set(dd, mean);
  auto sum = hn::Zero(dd);
  for (std::size_t i = 0; i < count; i += hn::Lanes(dd)) {
    const auto v = hn::Sub(hn::LoadU(dd, values + i), centre);
    sum = hn::MulAdd(v, v, sum);
  }
  return hn::GetLane(hn::SumOfLanes(dd, sum));
}

}  // namespace opdrift::metrics::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
#endif  // include guard
