// Per-target include guard, see vector_kernels.cpp.
#if defined(OPDRIFT_METRICS_SUMS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef OPDRIFT_METRICS_SUMS_INL
#undef OPDRIFT_METRICS_SUMS_INL
#else
#define OPDRIFT_METRICS_SUMS_INL
#endif

#include "hwy/highway.h"

#include "opdrift/metrics/kernels/levels.hpp"

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_BEFORE_NAMESPACE();
namespace opdrift::metrics::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// One set of lane sums. Two sets in flight hide the latency of the additions.
template <class V>
struct SumLanes {
  V golden;
  V golden2;
  V target;
  V target2;
  V product;
  V d;
  V abs_d;
  V d2;
  V max_abs_d;
};

template <class D, class V = hn::Vec<D>>
HWY_INLINE SumLanes<V> zero_lanes(D dd) {
  const V zero = hn::Zero(dd);
  return {zero, zero, zero, zero, zero, zero, zero, zero, zero};
}

template <class D, class V>
HWY_INLINE void add_pairs(D dd, const float* golden, const float* target, SumLanes<V>& lanes) {
  const hn::Rebind<float, D> df;
  const V g = hn::PromoteTo(dd, hn::LoadU(df, golden));
  const V t = hn::PromoteTo(dd, hn::LoadU(df, target));
  const V d = hn::Sub(t, g);
  const V abs_d = hn::Abs(d);
  lanes.golden = hn::Add(lanes.golden, g);
  lanes.golden2 = hn::MulAdd(g, g, lanes.golden2);
  lanes.target = hn::Add(lanes.target, t);
  lanes.target2 = hn::MulAdd(t, t, lanes.target2);
  lanes.product = hn::MulAdd(g, t, lanes.product);
  lanes.d = hn::Add(lanes.d, d);
  lanes.abs_d = hn::Add(lanes.abs_d, abs_d);
  lanes.d2 = hn::MulAdd(d, d, lanes.d2);
  lanes.max_abs_d = hn::Max(lanes.max_abs_d, abs_d);
}

template <class D, class V>
HWY_INLINE double total(D dd, V first, V second) {
  return hn::GetLane(hn::SumOfLanes(dd, hn::Add(first, second)));
}

inline HWY_ATTR void sums(const float* golden, const float* target, std::size_t count,
                          BlockTotals& out) {
  const hn::ScalableTag<double> dd;
  const std::size_t step = hn::Lanes(dd);
  auto a = zero_lanes(dd);
  auto b = zero_lanes(dd);
  for (std::size_t i = 0; i < count; i += 2 * step) {
    add_pairs(dd, golden + i, target + i, a);
    add_pairs(dd, golden + i + step, target + i + step, b);
  }
  out.sum_golden = total(dd, a.golden, b.golden);
  out.sum_golden2 = total(dd, a.golden2, b.golden2);
  out.sum_target = total(dd, a.target, b.target);
  out.sum_target2 = total(dd, a.target2, b.target2);
  out.sum_product = total(dd, a.product, b.product);
  out.sum_d = total(dd, a.d, b.d);
  out.sum_abs_d = total(dd, a.abs_d, b.abs_d);
  out.sum_d2 = total(dd, a.d2, b.d2);
  out.max_abs_d = hn::GetLane(hn::MaxOfLanes(dd, hn::Max(a.max_abs_d, b.max_abs_d)));
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
