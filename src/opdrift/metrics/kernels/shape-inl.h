// Per-target include guard, see vector_kernels.cpp.
#if defined(OPDRIFT_METRICS_SHAPE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef OPDRIFT_METRICS_SHAPE_INL
#undef OPDRIFT_METRICS_SHAPE_INL
#else
#define OPDRIFT_METRICS_SHAPE_INL
#endif

#include "hwy/highway.h"

#include "opdrift/metrics/kernels/levels.hpp"
#include "opdrift/metrics/kernels/tally-inl.h"

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_BEFORE_NAMESPACE();
namespace opdrift::metrics::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Adds lanes that are float sums of four non-negative values: one more float addition, then
/// double, so the total is off by at most 2^-21.
template <class DF, class VF, class DD, class VD = hn::Vec<DD>>
HWY_INLINE VD add_widened(DF, VF values, DD dd, VD sum) {
  const hn::Half<DF> half;
  const auto pairs = hn::Add(hn::LowerHalf(half, values), hn::UpperHalf(half, values));
  return hn::Add(sum, hn::PromoteTo(dd, pairs));
}

/// Smallest and largest of floats without float comparisons. As integers, the largest signed
/// pattern is the largest value unless all are negative; the largest unsigned pattern is the
/// smallest value unless none is negative; the other ends follow from the smallest size.
template <class DF>
class Range {
 public:
  using DU = hn::RebindToUnsigned<DF>;
  using DI = hn::RebindToSigned<DF>;

  HWY_INLINE Range()
      : top_signed_(hn::Set(DI(), std::numeric_limits<std::int32_t>::min())),
        top_unsigned_(hn::Zero(DU())),
        least_(hn::Set(DU(), std::numeric_limits<std::uint32_t>::max())) {}

  HWY_INLINE void add(hn::Vec<DF> value, hn::Vec<DF> size) {
    top_signed_ = hn::Max(top_signed_, hn::BitCast(DI(), value));
    top_unsigned_ = hn::Max(top_unsigned_, hn::BitCast(DU(), value));
    // Minus 1 turns zero into the largest pattern.
    const auto below = hn::Add(hn::BitCast(DU(), size), hn::Set(DU(), ~std::uint32_t{0}));
    least_ = hn::Min(least_, below);
  }

  /// Smallest size but zero; a NaN pattern when all are zero.
  HWY_INLINE float least() const {
    return std::bit_cast<float>(hn::GetLane(hn::MinOfLanes(DU(), least_)) + 1U);
  }
  HWY_INLINE double min(bool has_zero) const {
    const auto top = hn::GetLane(hn::MaxOfLanes(DU(), top_unsigned_));
    const bool negative = top > 0x80000000U;
    return static_cast<double>(negative ? std::bit_cast<float>(top) : has_zero ? 0.0F : least());
  }
  HWY_INLINE double max(bool has_zero) const {
    const auto top = hn::GetLane(hn::MaxOfLanes(DI(), top_signed_));
    return static_cast<double>(top > 0 ? std::bit_cast<float>(top) : has_zero ? 0.0F : -least());
  }

 private:
  hn::Vec<DI> top_signed_;
  hn::Vec<DU> top_unsigned_;
  hn::Vec<DU> least_;
};

template <class DF>
struct ShapeLanes {
  using V = hn::Vec<DF>;
  using Count = Tally<hn::RebindToUnsigned<DF>>;

  HWY_INLINE explicit ShapeLanes(DF df)
      : max_relative(hn::Zero(df)),
        max_relative_above(hn::Zero(df)),
        max_scaled(hn::Zero(df)),
        max_abs_d(hn::Zero(df)) {}

  Range<DF> golden;
  Range<DF> target;
  V max_relative;
  V max_relative_above;
  V max_scaled;
  V max_abs_d;
  Count golden_nonzero;
  NonZeroTally<hn::RebindToUnsigned<DF>> target_nonzero;
  NonZeroTally<hn::RebindToUnsigned<DF>> different;
  Count over_1e3;
  Count over_5e3;
};

struct ShapeConstants {
  float denominator;  // stands for a golden of zero; below every other golden
  float inverse_scale;
};

/// |d| / |g|. Beside a zero golden: huge when d is not 0, and otherwise 0 or, where sizes are
/// compared as integers, a NaN that counts as below every limit.
template <class DF, class V>
HWY_INLINE V error_over_golden(DF df, V abs_d, V abs_g, float denominator) {
  if constexpr (OPDRIFT_TALLY_BITS != 0) {
    (void)denominator;
    return hn::Div(abs_d, abs_g);
  } else {
    return hn::Div(abs_d, hn::Max(abs_g, hn::Set(df, denominator)));
  }
}

/// One vector of pairs. kTiny: the golden may hold non-zero values of at most kReferenceEpsilon.
template <bool kTiny, class DF, class V>
HWY_INLINE void shape_step(DF df, V g, V t, ShapeConstants constants, ShapeLanes<DF>& lanes,
                           V& relative_sum, V& above_sum) {
  const hn::RebindToUnsigned<DF> du;
  const V zero = hn::Zero(df);
  const V abs_g = hn::Abs(g);
  const V abs_t = hn::Abs(t);
  const V abs_d = hn::Abs(hn::Sub(t, g));
  const V quotient = error_over_golden(df, abs_d, abs_g, constants.denominator);
  lanes.over_1e3.add(hn::RebindMask(du, hn::Gt(quotient, hn::Set(df, 1e-3F))));
  lanes.over_5e3.add(hn::RebindMask(du, hn::Gt(quotient, hn::Set(df, 5e-3F))));
  const V scaled = min_size(df, quotient, hn::Mul(abs_d, hn::Set(df, constants.inverse_scale)));
  lanes.max_scaled = max_size(df, lanes.max_scaled, scaled);
  lanes.max_abs_d = max_size(df, lanes.max_abs_d, abs_d);

  const auto nonzero = hn::Ne(g, zero);
  relative_sum = add_where(nonzero, relative_sum, quotient);
  lanes.max_relative = max_size_where(df, nonzero, lanes.max_relative, quotient);
  if constexpr (kTiny) {
    const auto above = hn::Gt(abs_g, hn::Set(df, static_cast<float>(kReferenceEpsilon)));
    above_sum = add_where(above, above_sum, quotient);
    lanes.max_relative_above = max_size_where(df, above, lanes.max_relative_above, quotient);
  }
  lanes.golden_nonzero.add(hn::RebindMask(du, nonzero));
  lanes.target_nonzero.add(hn::BitCast(du, abs_t));
  lanes.different.add(hn::Xor(hn::BitCast(du, g), hn::BitCast(du, t)));
  lanes.golden.add(g, abs_g);
  lanes.target.add(t, abs_t);
}

/// Smallest sizes found by a pass, zeros left out; NaN when there is nothing else.
struct Least {
  float golden;
  float target;
};

template <bool kTiny, class DF>
HWY_INLINE Least reduce(DF df, const ShapeLanes<DF>& lanes, std::size_t count, BlockTotals& out) {
  const auto highest = [&](auto v) HWY_ATTR {
    return static_cast<double>(hn::GetLane(hn::MaxOfLanes(df, v)));
  };
  out.max_abs_d = highest(lanes.max_abs_d);
  out.max_scaled = highest(lanes.max_scaled);
  out.max_relative = highest(lanes.max_relative);
  out.max_relative_above_epsilon = kTiny ? highest(lanes.max_relative_above) : out.max_relative;
  out.golden_zero = count - lanes.golden_nonzero.sum();
  out.target_zero = count - lanes.target_nonzero.sum();
  out.golden_min = lanes.golden.min(out.golden_zero != 0);
  out.golden_max = lanes.golden.max(out.golden_zero != 0);
  out.target_min = lanes.target.min(out.target_zero != 0);
  out.target_max = lanes.target.max(out.target_zero != 0);
  out.equal_bits = count - lanes.different.sum();
  out.over_1e3 = lanes.over_1e3.sum();
  out.over_5e3 = lanes.over_5e3.sum();
  return {lanes.golden.least(), lanes.target.least()};
}

template <bool kTiny>
HWY_ATTR Least shape_pass(const float* golden, const float* target, std::size_t count,
                          ShapeConstants constants, Upcoming& upcoming, BlockTotals& out) {
  const hn::ScalableTag<float> df;
  const hn::ScalableTag<double> dd;
  const std::size_t step = hn::Lanes(df);
  Upcoming next = upcoming;
  ShapeLanes<hn::ScalableTag<float>> lanes(df);
  auto relative = hn::Zero(dd);
  auto above = hn::Zero(dd);
  for (std::size_t i = 0; i < count; i += 4 * step) {
    auto relative4 = hn::Zero(df);
    auto above4 = hn::Zero(df);
    for (std::size_t at = i; at < i + 4 * step; at += step) {
      shape_step<kTiny>(df, hn::LoadU(df, golden + at), hn::LoadU(df, target + at), constants,
                        lanes, relative4, above4);
    }
    for (std::size_t fetched = 0; fetched < 4 * step; fetched += 16) {
      next.fetch_line();
    }
    relative = add_widened(df, relative4, dd, relative);
    if constexpr (kTiny) {
      above = add_widened(df, above4, dd, above);
    }
  }
  upcoming = next;
  const Least least = reduce<kTiny>(df, lanes, count, out);
  out.sum_relative = hn::GetLane(hn::SumOfLanes(dd, relative));
  out.sum_relative_above_epsilon =
      kTiny ? hn::GetLane(hn::SumOfLanes(dd, above)) : out.sum_relative;
  return least;
}

/// Values whose size is below `limit`.
inline HWY_ATTR std::uint64_t count_below(const float* values, std::size_t count, float limit) {
  const hn::ScalableTag<float> df;
  const hn::RebindToUnsigned<decltype(df)> du;
  Tally<decltype(du)> tally;
  for (std::size_t i = 0; i < count; i += hn::Lanes(df)) {
    const auto size = hn::Abs(hn::LoadU(df, values + i));
    tally.add(hn::RebindMask(du, hn::Lt(size, hn::Set(df, limit))));
  }
  return tally.sum();
}

inline HWY_ATTR std::size_t find_large(const float* golden, const float* target, std::size_t count,
                                       const LargeLimits& limits, std::uint16_t* positions) {
  const hn::ScalableTag<float> df;
  const std::size_t step = hn::Lanes(df);
  std::size_t found = 0;
  for (std::size_t i = 0; i < count; i += step) {
    const auto g = hn::LoadU(df, golden + i);
    const auto abs_d = hn::Abs(hn::Sub(hn::LoadU(df, target + i), g));
    const auto size = hn::Max(hn::Abs(g), hn::Set(df, limits.scale));
    const auto scaled = hn::Mul(hn::Set(df, limits.scaled), size);
    const auto large = hn::Or(hn::Ge(abs_d, hn::Set(df, limits.abs_d)), hn::Ge(abs_d, scaled));
    if (hn::AllFalse(df, large)) {
      continue;
    }
    std::uint8_t bits[8] = {};
    hn::StoreMaskBits(df, large, bits);
    for (std::size_t k = 0; k < step; ++k) {
      if ((bits[k / 8] >> (k % 8) & 1U) != 0) {
        positions[found++] = static_cast<std::uint16_t>(i + k);
      }
    }
  }
  return found;
}

/// False when the results do not hold because a float left its range.
inline HWY_ATTR bool shape(const float* golden, const float* target, std::size_t count,
                           const ShapeLimits& limits, Upcoming& next, BlockTotals& out) {
  constexpr double kLargestFactor = 0x1p120;
  const bool same = out.sum_abs_d == 0.0;
  if (!same && !(limits.scale > 1.0 / kLargestFactor && limits.scale < kLargestFactor)) {
    return false;
  }
  ShapeConstants constants = {0x1p-126F, same ? 0.0F : static_cast<float>(1.0 / limits.scale)};
  Least least = shape_pass<false>(golden, target, count, constants, next, out);
  if (static_cast<double>(least.golden) <= kReferenceEpsilon) {
    constants.denominator = 0x1p-149F;
    least = shape_pass<true>(golden, target, count, constants, next, out);
  }
  const auto golden_normal = static_cast<float>(limits.golden_min_normal);
  const auto target_normal = static_cast<float>(limits.target_min_normal);
  out.golden_small =
      least.golden < golden_normal ? count_below(golden, count, golden_normal) : out.golden_zero;
  out.target_small =
      least.target < target_normal ? count_below(target, count, target_normal) : out.target_zero;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return out.sum_relative < kInfinity && out.max_scaled < kInfinity;
}

}  // namespace opdrift::metrics::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
#endif  // include guard
