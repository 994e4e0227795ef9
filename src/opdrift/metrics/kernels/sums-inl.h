// Per-target include guard, see vector_kernels.cpp.
#if defined(OPDRIFT_METRICS_SUMS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef OPDRIFT_METRICS_SUMS_INL
#undef OPDRIFT_METRICS_SUMS_INL
#else
#define OPDRIFT_METRICS_SUMS_INL
#endif

#include "hwy/highway.h"

#include "opdrift/metrics/kernels/levels.hpp"
#include "opdrift/metrics/kernels/tally-inl.h"

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_BEFORE_NAMESPACE();
namespace opdrift::metrics::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// One set of lane sums. Two sets in flight hide the latency of the additions.
template <class V>
struct SumLanes {
  V golden;
  V golden2;
  V golden_d;
  V d;
  V abs_d;
  V d2;
};

template <class D, class V = hn::Vec<D>>
HWY_INLINE SumLanes<V> zero_lanes(D dd) {
  const V zero = hn::Zero(dd);
  return {zero, zero, zero, zero, zero, zero};
}

/// sum + value.
template <class V>
HWY_INLINE V add_by_multiplier(V one, V value, V sum) {
#if OPDRIFT_TALLY_BITS
  return hn::MulAdd(one, value, sum);
#else
  (void)one;
  return hn::Add(sum, value);
#endif
}

/// Sums go through the multiplier where that is a fused one: it has ports to spare while the adder
/// is busy with conversions. A product with 1 is exact, so the result is that of an addition.
template <class D, class V>
HWY_INLINE void add_pairs(D dd, const float* golden, const float* target, SumLanes<V>& lanes) {
  const hn::Rebind<float, D> df;
  const V one = hn::Set(dd, 1.0);
  const V g = hn::PromoteTo(dd, hn::LoadU(df, golden));
  const V t = hn::PromoteTo(dd, hn::LoadU(df, target));
  const V d = hn::Sub(t, g);
  const V abs_d = hn::Abs(d);
  lanes.golden = add_by_multiplier(one, g, lanes.golden);
  lanes.golden2 = hn::MulAdd(g, g, lanes.golden2);
  lanes.golden_d = hn::MulAdd(g, d, lanes.golden_d);
  lanes.d = hn::Add(lanes.d, d);
  lanes.abs_d = add_by_multiplier(one, abs_d, lanes.abs_d);
  lanes.d2 = hn::MulAdd(d, d, lanes.d2);
}

template <class D, class V>
HWY_INLINE double total(D dd, V first, V second) {
  return hn::GetLane(hn::SumOfLanes(dd, hn::Add(first, second)));
}

/// The target's own sums, for targets so small that golden + d has lost them.
inline HWY_ATTR void target_sums(const float* golden, const float* target, std::size_t count,
                                 BlockTotals& out) {
  const hn::ScalableTag<double> dd;
  const hn::Rebind<float, decltype(dd)> df;
  const auto zero = hn::Zero(dd);
  auto sum = zero;
  auto squares = zero;
  auto product = zero;
  for (std::size_t i = 0; i < count; i += hn::Lanes(dd)) {
    const auto g = hn::PromoteTo(dd, hn::LoadU(df, golden + i));
    const auto t = hn::PromoteTo(dd, hn::LoadU(df, target + i));
    sum = hn::Add(sum, t);
    squares = hn::MulAdd(t, t, squares);
    product = hn::MulAdd(g, t, product);
  }
  out.sum_target = total(dd, sum, zero);
  out.sum_target2 = total(dd, squares, zero);
  out.sum_product = total(dd, product, zero);
}

/// Sums with the target follow from t = g + d:
///
///   sum t = sum g + sum d,  sum gt = sum g^2 + sum gd,  sum t^2 = sum g^2 + 2 sum gd + sum d^2
///
/// Each is off by a few 2^-53 of its terms. Where |t| is at least 2^-10 |g| that is at most 2^-36
/// of the sum of |t|, of |g||t| and of t^2; smaller targets are summed by themselves.
inline HWY_ATTR void sums(const float* golden, const float* target, std::size_t count,
                          Upcoming& upcoming, BlockTotals& out) {
  const hn::ScalableTag<double> dd;
  const std::size_t step = hn::Lanes(dd);
  auto a = zero_lanes(dd);
  auto b = zero_lanes(dd);
  Upcoming next = upcoming;
  for (std::size_t i = 0; i < count;) {
    for (const std::size_t end = i + 32; i < end; i += 2 * step) {
      add_pairs(dd, golden + i, target + i, a);
      add_pairs(dd, golden + i + step, target + i + step, b);
    }
    next.fetch_line();
  }
  upcoming = next;
  const double golden_d = total(dd, a.golden_d, b.golden_d);
  out.sum_golden = total(dd, a.golden, b.golden);
  out.sum_golden2 = total(dd, a.golden2, b.golden2);
  out.sum_d = total(dd, a.d, b.d);
  out.sum_abs_d = total(dd, a.abs_d, b.abs_d);
  out.sum_d2 = total(dd, a.d2, b.d2);
  out.sum_target = out.sum_golden + out.sum_d;
  out.sum_product = out.sum_golden2 + golden_d;
  out.sum_target2 = out.sum_product + golden_d + out.sum_d2;
  if (!(out.sum_target2 >= 0x1p-20 * out.sum_golden2)) {
    target_sums(golden, target, count, out);
  }
}

/// Sum of (v - mean)^2.
inline HWY_ATTR double centred_squares(const float* values, std::size_t count, double mean) {
  const hn::ScalableTag<double> dd;
  const hn::Rebind<float, decltype(dd)> df;
  const std::size_t step = hn::Lanes(dd);
  const auto centre = hn::Set(dd, mean);
  auto a = hn::Zero(dd);
  auto b = hn::Zero(dd);
  for (std::size_t i = 0; i < count; i += 2 * step) {
    const auto first = hn::Sub(hn::PromoteTo(dd, hn::LoadU(df, values + i)), centre);
    const auto second = hn::Sub(hn::PromoteTo(dd, hn::LoadU(df, values + i + step)), centre);
    a = hn::MulAdd(first, first, a);
    b = hn::MulAdd(second, second, b);
  }
  return total(dd, a, b);
}

}  // namespace opdrift::metrics::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
#endif  // include guard
