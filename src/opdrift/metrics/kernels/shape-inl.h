// Per-target include guard, see vector_kernels.cpp.
#if defined(OPDRIFT_METRICS_SHAPE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef OPDRIFT_METRICS_SHAPE_INL
#undef OPDRIFT_METRICS_SHAPE_INL
#else
#define OPDRIFT_METRICS_SHAPE_INL
#endif

#include "hwy/highway.h"

#include "opdrift/metrics/kernels/levels.hpp"

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_BEFORE_NAMESPACE();
namespace opdrift::metrics::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Sum of four float vectors of non-negative values, in double: each float addition rounds once
/// before the widening, so the sum is off by at most 2^-22.
template <class DF, class VF, class DD, class VD = hn::Vec<DD>>
HWY_INLINE VD add_widened(DF df, VF values, DD dd, VD sum) {
  const hn::Half<DF> half;
  const VD low = hn::PromoteTo(dd, hn::LowerHalf(half, values));
  const VD high = hn::PromoteTo(dd, hn::UpperHalf(half, values));
  (void)df;
  return hn::Add(sum, hn::Add(low, high));
}

/// Brings the next block into the cache while this one is computed: one line a step.
class Prefetcher {
 public:
  Prefetcher(const void* bytes, std::size_t size)
      : next_(static_cast<const char*>(bytes)), end_(next_ + size) {}
  HWY_INLINE void step() {
    if (next_ < end_) {
      __builtin_prefetch(next_);
      next_ += 64;
    }
  }

 private:
  const char* next_;
  const char* end_;
};

template <class V>
struct ShapeLanes {
  V golden_min;
  V golden_max;
  V target_min;
  V target_max;
  V max_relative;
  V max_relative_above;
  V max_scaled;
};

struct ShapeConstants {
  float denominator;
  float golden_small;
  float target_small;
  float inverse_scale;
};

/// One vector of pairs. kTiny: the golden may hold non-zero values of at most kReferenceEpsilon.
template <bool kTiny, class DF, class V>
HWY_INLINE void shape_step(DF df, V g, V t, const ShapeConstants& limits, ShapeLanes<V>& lanes,
                           V& relative_sum, V& above_sum, BlockTotals& out) {
  const hn::RebindToUnsigned<DF> du;
  const V abs_g = hn::Abs(g);
  const V abs_d = hn::Abs(hn::Sub(t, g));
  const V zero = hn::Zero(df);
  // A zero golden gives a huge quotient (0 when d is 0): outside both limits, and out of the sums.
  const V quotient = hn::Div(abs_d, hn::Max(abs_g, hn::Set(df, limits.denominator)));
  out.over_1e3 += hn::CountTrue(df, hn::Gt(quotient, hn::Set(df, 1e-3F)));
  out.over_5e3 += hn::CountTrue(df, hn::Gt(quotient, hn::Set(df, 5e-3F)));
  const V scaled = hn::Min(quotient, hn::Mul(abs_d, hn::Set(df, limits.inverse_scale)));
  lanes.max_scaled = hn::Max(lanes.max_scaled, scaled);

  const auto golden_zero = hn::Eq(g, zero);
  const V relative = hn::IfThenZeroElse(golden_zero, quotient);
  relative_sum = hn::Add(relative_sum, relative);
  lanes.max_relative = hn::Max(lanes.max_relative, relative);
  if constexpr (kTiny) {
    const auto tiny = hn::Le(abs_g, hn::Set(df, static_cast<float>(kReferenceEpsilon)));
    const V above = hn::IfThenZeroElse(tiny, quotient);
    above_sum = hn::Add(above_sum, above);
    lanes.max_relative_above = hn::Max(lanes.max_relative_above, above);
  }
  out.golden_zero += hn::CountTrue(df, golden_zero);
  out.golden_small += hn::CountTrue(df, hn::Lt(abs_g, hn::Set(df, limits.golden_small)));
  out.target_zero += hn::CountTrue(df, hn::Eq(t, zero));
  out.target_small += hn::CountTrue(df, hn::Lt(hn::Abs(t), hn::Set(df, limits.target_small)));
  out.equal_bits += hn::CountTrue(du, hn::Eq(hn::BitCast(du, g), hn::BitCast(du, t)));

  lanes.golden_min = hn::Min(lanes.golden_min, g);
  lanes.golden_max = hn::Max(lanes.golden_max, g);
  lanes.target_min = hn::Min(lanes.target_min, t);
  lanes.target_max = hn::Max(lanes.target_max, t);
}

template <bool kTiny>
HWY_ATTR void shape_pass(const float* golden, const float* target, std::size_t count,
                         const ShapeConstants& constants, const ShapeLimits& limits,
                         BlockTotals& out) {
  const hn::ScalableTag<float> df;
  const hn::ScalableTag<double> dd;
  const std::size_t step = hn::Lanes(df);
  Prefetcher next_golden(limits.next_golden, limits.next_golden_bytes);
  Prefetcher next_target(limits.next_target, limits.next_target_bytes);
  BlockTotals counts;
  const auto zero = hn::Zero(df);
  const auto g0 = hn::LoadU(df, golden);
  const auto t0 = hn::LoadU(df, target);
  ShapeLanes<hn::Vec<decltype(df)>> lanes = {g0, g0, t0, t0, zero, zero, zero};
  auto relative = hn::Zero(dd);
  auto above = hn::Zero(dd);
  for (std::size_t i = 0; i < count; i += 4 * step) {
    auto relative4 = zero;
    auto above4 = zero;
    for (std::size_t k = 0; k < 4; ++k) {
      const std::size_t at = i + k * step;
      shape_step<kTiny>(df, hn::LoadU(df, golden + at), hn::LoadU(df, target + at), constants,
                        lanes, relative4, above4, counts);
    }
    for (std::size_t byte = 0; byte < 4 * step * sizeof(float); byte += 64) {
      next_golden.step();
      next_target.step();
    }
    relative = add_widened(df, relative4, dd, relative);
    if constexpr (kTiny) {
      above = add_widened(df, above4, dd, above);
    }
  }
  const auto lowest = [&](auto v) HWY_ATTR {
    return static_cast<double>(hn::GetLane(hn::MinOfLanes(df, v)));
  };
  const auto highest = [&](auto v) HWY_ATTR {
    return static_cast<double>(hn::GetLane(hn::MaxOfLanes(df, v)));
  };
  out.golden_min = lowest(lanes.golden_min);
  out.golden_max = highest(lanes.golden_max);
  out.target_min = lowest(lanes.target_min);
  out.target_max = highest(lanes.target_max);
  out.max_scaled = highest(lanes.max_scaled);
  out.max_relative = highest(lanes.max_relative);
  out.sum_relative = hn::GetLane(hn::SumOfLanes(dd, relative));
  out.max_relative_above_epsilon = kTiny ? highest(lanes.max_relative_above) : out.max_relative;
  out.sum_relative_above_epsilon =
      kTiny ? hn::GetLane(hn::SumOfLanes(dd, above)) : out.sum_relative;
  out.golden_zero = counts.golden_zero;
  out.golden_small = counts.golden_small;
  out.target_zero = counts.target_zero;
  out.target_small = counts.target_small;
  out.equal_bits = counts.equal_bits;
  out.over_1e3 = counts.over_1e3;
  out.over_5e3 = counts.over_5e3;
}

/// False when the results do not hold because a float left its range.
inline HWY_ATTR bool shape(const float* golden, const float* target, std::size_t count,
                           const ShapeLimits& limits, BlockTotals& out) {
  constexpr double kLargestFactor = 0x1p120;
  const bool same = out.max_abs_d == 0.0;
  if (!same && !(limits.scale > 1.0 / kLargestFactor && limits.scale < kLargestFactor)) {
    return false;
  }
  // The first pass counts golden values up to the epsilon; it stands when all of them are zeros.
  const double first_limit = std::max(limits.golden_min_normal, 0x1.000002p-52);
  ShapeConstants constants = {0x1p-126F, static_cast<float>(first_limit),
                              static_cast<float>(limits.target_min_normal),
                              same ? 0.0F : static_cast<float>(1.0 / limits.scale)};
  shape_pass<false>(golden, target, count, constants, limits, out);
  if (out.golden_small != out.golden_zero && limits.golden_min_normal < first_limit) {
    constants.denominator = 0x1p-149F;
    constants.golden_small = static_cast<float>(limits.golden_min_normal);
    shape_pass<true>(golden, target, count, constants, limits, out);
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return out.sum_relative < kInfinity && out.max_scaled < kInfinity;
}

}  // namespace opdrift::metrics::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
#endif  // include guard
