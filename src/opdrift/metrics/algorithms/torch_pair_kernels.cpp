// Compiled once per instruction set by foreach_target.h; each pass fills the namespace of its
// target.

#include "opdrift/metrics/algorithms/torch_pair_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "opdrift/metrics/algorithms/torch_pair_kernels.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "opdrift/metrics/kernels/levels.hpp"

HWY_BEFORE_NAMESPACE();
namespace opdrift::metrics::kernels::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

bool torch_block_vector(const float* golden, const float* target, std::size_t count,
                        bool with_sides, TorchBlock& out) {
  const auto finite = [](float v) { return std::isfinite(v); };
  if (!std::all_of(golden, golden + count, finite) ||
      !std::all_of(target, target + count, finite)) {
    return false;
  }
  torch_block_plain(golden, target, count, with_sides, RelativeIn::float32, out);
  return true;
}

void softmax_block_vector(const float* golden, const float* target, std::size_t count, float top_g,
                          float top_m, SoftmaxBlock& out) {
  softmax_block_plain(golden, target, count, top_g, top_m, out);
}

#else

namespace hn = hwy::HWY_NAMESPACE;

template <class VD>
struct DoubleLanes {
  VD product;
  VD golden2;
  VD target2;
  VD distance2;
  VD max_abs;
};

template <class DD, class VD = hn::Vec<DD> >
HWY_INLINE void add_exact(DD dd, const float* golden, const float* target, DoubleLanes<VD>& lanes) {
  const hn::Rebind<float, DD> df;
  const VD g = hn::PromoteTo(dd, hn::LoadU(df, golden));
  const VD m = hn::PromoteTo(dd, hn::LoadU(df, target));
  const VD d = hn::Sub(m, g);
  lanes.product = hn::MulAdd(g, m, lanes.product);
  lanes.golden2 = hn::MulAdd(g, g, lanes.golden2);
  lanes.target2 = hn::MulAdd(m, m, lanes.target2);
  lanes.distance2 = hn::MulAdd(d, d, lanes.distance2);
  lanes.max_abs = hn::Max(lanes.max_abs, hn::Abs(d));
}

template <class DF, class DD>
HWY_INLINE double widened_sum(DF df, hn::Vec<DF> values, DD dd) {
  const hn::Half<DF> half;
  const auto low = hn::PromoteTo(dd, hn::LowerHalf(half, values));
  const auto high = hn::PromoteTo(dd, hn::UpperHalf(half, values));
  static_cast<void>(df);
  return hn::GetLane(hn::SumOfLanes(dd, hn::Add(low, high)));
}

/// What needs float arithmetic alone. Sums of floats are widened every kFloatRun vectors.
struct FloatTotals {
  float max_relative = 0.0F;
  std::size_t within_1e3 = 0;
  std::size_t within_5e3 = 0;
  bool finite = true;
};

template <class DF>
HWY_INLINE FloatTotals relative_part(DF df, const float* golden, const float* target,
                                     std::size_t count) {
  using V = hn::Vec<DF>;
  const V zero = hn::Zero(df);
  const V eps = hn::Set(df, 0x1p-23F);
  const V limit = hn::Set(df, std::numeric_limits<float>::max());
  V largest = zero;
  FloatTotals totals;
  for (std::size_t i = 0; i < count; i += hn::Lanes(df)) {
    const V g = hn::LoadU(df, golden + i);
    const V m = hn::LoadU(df, target + i);
    totals.finite = totals.finite &&
                    hn::AllTrue(df, hn::And(hn::Le(hn::Abs(g), limit), hn::Le(hn::Abs(m), limit)));
    const V shift = hn::IfThenElse(hn::Eq(g, zero), eps, zero);
    const V b = hn::Add(g, shift);
    const V r = hn::Abs(hn::Div(hn::Sub(hn::Add(m, shift), b), b));
    largest = hn::Max(largest, r);
    totals.within_1e3 += hn::CountTrue(df, hn::Lt(r, hn::Set(df, 0.001F)));
    totals.within_5e3 += hn::CountTrue(df, hn::Lt(r, hn::Set(df, 0.005F)));
  }
  totals.max_relative = hn::GetLane(hn::MaxOfLanes(df, largest));
  return totals;
}

constexpr std::size_t kFloatRun = 4;

template <class DF>
HWY_INLINE void side_part(DF df, const float* golden, const float* target, std::size_t count,
                          TorchBlock& out) {
  using V = hn::Vec<DF>;
  const hn::RepartitionToWide<DF> dd;
  const V zero = hn::Zero(df);
  const V eps = hn::Set(df, 0x1p-23F);
  V max_ratio = zero;
  V max_difference = zero;
  V golden_max = hn::Set(df, golden[0]);
  V golden_min = golden_max;
  V target_max = hn::Set(df, target[0]);
  V target_min = target_max;
  const std::size_t step = hn::Lanes(df);
  for (std::size_t i = 0; i < count;) {
    V ratio = zero;
    V difference = zero;
    V golden_sum = zero;
    V target_sum = zero;
    for (std::size_t k = 0; k < kFloatRun && i < count; ++k, i += step) {
      const V g = hn::LoadU(df, golden + i);
      const V m = hn::LoadU(df, target + i);
      const auto counts = hn::Gt(hn::Abs(g), eps);
      const V r = hn::IfThenElseZero(counts, hn::Abs(hn::Sub(hn::Div(m, g), hn::Set(df, 1.0F))));
      const V a = hn::IfThenElseZero(counts, hn::Abs(hn::Sub(m, g)));
      max_ratio = hn::Max(max_ratio, r);
      max_difference = hn::Max(max_difference, a);
      ratio = hn::Add(ratio, r);
      difference = hn::Add(difference, a);
      golden_sum = hn::Add(golden_sum, g);
      target_sum = hn::Add(target_sum, m);
      golden_max = hn::Max(golden_max, g);
      golden_min = hn::Min(golden_min, g);
      target_max = hn::Max(target_max, m);
      target_min = hn::Min(target_min, m);
    }
    out.sum_ratio += widened_sum(df, ratio, dd);
    out.sum_difference += widened_sum(df, difference, dd);
    out.golden_sum += widened_sum(df, golden_sum, dd);
    out.target_sum += widened_sum(df, target_sum, dd);
  }
  const auto lane = [&](V v) { return static_cast<double>(hn::GetLane(v)); };
  out.max_ratio = lane(hn::MaxOfLanes(df, max_ratio));
  out.max_difference = lane(hn::MaxOfLanes(df, max_difference));
  out.golden_max = lane(hn::MaxOfLanes(df, golden_max));
  out.golden_min = lane(hn::MinOfLanes(df, golden_min));
  out.target_max = lane(hn::MaxOfLanes(df, target_max));
  out.target_min = lane(hn::MinOfLanes(df, target_min));
}

/// `count` is a multiple of kTorchGrain.
bool torch_block_vector(const float* golden, const float* target, std::size_t count,
                        bool with_sides, TorchBlock& out) {
  const hn::ScalableTag<float> df;
  const hn::RepartitionToWide<decltype(df)> dd;
  const FloatTotals totals = relative_part(df, golden, target, count);
  if (!totals.finite) {
    return false;
  }
  out.max_relative = static_cast<double>(totals.max_relative);
  out.within_1e3 = totals.within_1e3;
  out.within_5e3 = totals.within_5e3;
  const auto zero = hn::Zero(dd);
  DoubleLanes<hn::Vec<decltype(dd)> > first{zero, zero, zero, zero, zero};
  auto second = first;
  const std::size_t step = hn::Lanes(dd);
  for (std::size_t i = 0; i < count; i += 2 * step) {
    add_exact(dd, golden + i, target + i, first);
    add_exact(dd, golden + i + step, target + i + step, second);
  }
  const auto total = [&](auto a, auto b) { return hn::GetLane(hn::SumOfLanes(dd, hn::Add(a, b))); };
  out.product = total(first.product, second.product);
  out.golden2 = total(first.golden2, second.golden2);
  out.target2 = total(first.target2, second.target2);
  out.distance2 = total(first.distance2, second.distance2);
  out.max_abs = hn::GetLane(hn::MaxOfLanes(dd, hn::Max(first.max_abs, second.max_abs)));
  if (with_sides) {
    side_part(df, golden, target, count, out);
  }
  return true;
}

/// e^x for x <= 0 in float, relative error below 2^-22; 0 below -87. Split x = k ln 2 + f,
/// |f| <= ln 2 / 2, and a polynomial of degree 6 (Taylor; the remainder is 2^-23 at the ends).
template <class DF, class V = hn::Vec<DF> >
HWY_INLINE V exponential(DF df, V x) {
  const hn::RebindToSigned<DF> di;
  const V clamped = hn::Max(x, hn::Set(df, -87.0F));
  const V k = hn::Round(hn::Mul(clamped, hn::Set(df, 1.44269504F)));
  V f = hn::NegMulAdd(k, hn::Set(df, 0.693145751953125F), clamped);
  f = hn::NegMulAdd(k, hn::Set(df, 1.428606765330187e-6F), f);
  V p = hn::Set(df, 1.0F / 720.0F);
  p = hn::MulAdd(p, f, hn::Set(df, 1.0F / 120.0F));
  p = hn::MulAdd(p, f, hn::Set(df, 1.0F / 24.0F));
  p = hn::MulAdd(p, f, hn::Set(df, 1.0F / 6.0F));
  p = hn::MulAdd(p, f, hn::Set(df, 0.5F));
  p = hn::MulAdd(p, f, hn::Set(df, 1.0F));
  p = hn::MulAdd(p, f, hn::Set(df, 1.0F));
  const auto scale = hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(di, k), hn::Set(di, 127)));
  const V value = hn::Mul(p, hn::BitCast(df, scale));
  return hn::IfThenElseZero(hn::Ge(x, hn::Set(df, -87.0F)), value);
}

void softmax_block_vector(const float* golden, const float* target, std::size_t count, float top_g,
                          float top_m, SoftmaxBlock& out) {
  const hn::ScalableTag<float> df;
  const hn::RepartitionToWide<decltype(df)> dd;
  const auto g_top = hn::Set(df, top_g);
  const auto m_top = hn::Set(df, top_m);
  const std::size_t step = hn::Lanes(df);
  for (std::size_t i = 0; i < count;) {
    auto g_sum = hn::Zero(df);
    auto m_sum = hn::Zero(df);
    auto cross = hn::Zero(df);
    for (std::size_t k = 0; k < kFloatRun && i < count; ++k, i += step) {
      const auto g = hn::Sub(hn::LoadU(df, golden + i), g_top);
      const auto m = hn::Sub(hn::LoadU(df, target + i), m_top);
      const auto e = exponential(df, g);
      g_sum = hn::Add(g_sum, e);
      m_sum = hn::Add(m_sum, exponential(df, m));
      cross = hn::MulAdd(e, hn::Sub(g, m), cross);
    }
    out.golden += widened_sum(df, g_sum, dd);
    out.target += widened_sum(df, m_sum, dd);
    out.cross += widened_sum(df, cross, dd);
  }
}

#endif

}  // namespace opdrift::metrics::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opdrift::metrics::kernels {

HWY_EXPORT(torch_block_vector);
HWY_EXPORT(softmax_block_vector);

namespace {

constexpr std::size_t kTorchGrain = 64;

bool use_vectors() {
  return default_level().table != nullptr;
}

template <typename T, typename P>
void relative_of(T golden, T target, TorchBlock& out) {
  P g = static_cast<P>(golden);
  P m = static_cast<P>(target);
  if (g == P{0}) {
    g += std::numeric_limits<P>::epsilon();
    m += std::numeric_limits<P>::epsilon();
  }
  const P r = std::abs((m - g) / g);
  out.max_relative = std::max(out.max_relative, static_cast<double>(r));
  out.within_1e3 += r < static_cast<P>(0.001) ? 1 : 0;
  out.within_5e3 += r < static_cast<P>(0.005) ? 1 : 0;
}

void add_sides(float g, float m, TorchBlock& out) {
  out.golden_max = std::max(out.golden_max, static_cast<double>(g));
  out.golden_min = std::min(out.golden_min, static_cast<double>(g));
  out.target_max = std::max(out.target_max, static_cast<double>(m));
  out.target_min = std::min(out.target_min, static_cast<double>(m));
  out.golden_sum += static_cast<double>(g);
  out.target_sum += static_cast<double>(m);
  if (!(std::abs(g) > 0x1p-23F)) {
    return;
  }
  const auto ratio = static_cast<double>(std::abs(m / g - 1.0F));
  const auto difference = static_cast<double>(std::abs(m - g));
  out.max_ratio = std::max(out.max_ratio, ratio);
  out.sum_ratio += ratio;
  out.max_difference = std::max(out.max_difference, difference);
  out.sum_difference += difference;
}

template <typename T>
void plain_block(const T* golden, const T* target, std::size_t count, bool with_sides,
                 RelativeIn relative, TorchBlock& out) {
  if (with_sides && count > 0) {
    out.golden_max = out.golden_min = static_cast<double>(golden[0]);
    out.target_max = out.target_min = static_cast<double>(target[0]);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto g = static_cast<double>(golden[i]);
    const auto m = static_cast<double>(target[i]);
    out.product += g * m;
    out.golden2 += g * g;
    out.target2 += m * m;
    out.distance2 += (m - g) * (m - g);
    out.max_abs = std::max(out.max_abs, std::abs(m - g));
    if (relative == RelativeIn::float32) {
      relative_of<T, float>(golden[i], target[i], out);
    } else {
      relative_of<T, double>(golden[i], target[i], out);
    }
    if (with_sides) {
      add_sides(static_cast<float>(golden[i]), static_cast<float>(target[i]), out);
    }
  }
}

void add(const TorchBlock& part, bool with_sides, bool first, TorchBlock& out) {
  out.product += part.product;
  out.golden2 += part.golden2;
  out.target2 += part.target2;
  out.distance2 += part.distance2;
  out.max_abs = std::max(out.max_abs, part.max_abs);
  out.max_relative = std::max(out.max_relative, part.max_relative);
  out.within_1e3 += part.within_1e3;
  out.within_5e3 += part.within_5e3;
  if (!with_sides) {
    return;
  }
  out.max_ratio = std::max(out.max_ratio, part.max_ratio);
  out.sum_ratio += part.sum_ratio;
  out.max_difference = std::max(out.max_difference, part.max_difference);
  out.sum_difference += part.sum_difference;
  out.golden_max = first ? part.golden_max : std::max(out.golden_max, part.golden_max);
  out.golden_min = first ? part.golden_min : std::min(out.golden_min, part.golden_min);
  out.target_max = first ? part.target_max : std::max(out.target_max, part.target_max);
  out.target_min = first ? part.target_min : std::min(out.target_min, part.target_min);
  out.golden_sum += part.golden_sum;
  out.target_sum += part.target_sum;
}

bool all_finite(const float* values, std::size_t count) {
  return std::all_of(values, values + count, [](float v) { return std::isfinite(v); });
}

}  // namespace

void torch_block_plain(const float* golden, const float* target, std::size_t count, bool with_sides,
                       RelativeIn relative, TorchBlock& out) {
  plain_block(golden, target, count, with_sides, relative, out);
}

void torch_block_plain(const double* golden, const double* target, std::size_t count,
                       bool with_sides, RelativeIn relative, TorchBlock& out) {
  plain_block(golden, target, count, with_sides, relative, out);
}

void softmax_block_plain(const float* golden, const float* target, std::size_t count, float top_g,
                         float top_m, SoftmaxBlock& out) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto g = static_cast<double>(golden[i]) - static_cast<double>(top_g);
    const auto m = static_cast<double>(target[i]) - static_cast<double>(top_m);
    const double e = std::exp(g);
    out.golden += e;
    out.target += std::exp(m);
    out.cross += e * (g - m);
  }
}

bool torch_block(const float* golden, const float* target, std::size_t count, bool with_sides,
                 TorchBlock& out) {
  const std::size_t whole = use_vectors() ? count - count % kTorchGrain : 0;
  if (whole > 0 &&
      !HWY_DYNAMIC_DISPATCH(torch_block_vector)(golden, target, whole, with_sides, out)) {
    return false;
  }
  if (whole == count) {
    return true;
  }
  if (!all_finite(golden + whole, count - whole) || !all_finite(target + whole, count - whole)) {
    return false;
  }
  TorchBlock rest;
  plain_block(golden + whole, target + whole, count - whole, with_sides, RelativeIn::float32, rest);
  add(rest, with_sides, whole == 0, out);
  return true;
}

void softmax_block(const float* golden, const float* target, std::size_t count, float top_g,
                   float top_m, SoftmaxBlock& out) {
  const std::size_t whole = use_vectors() ? count - count % kTorchGrain : 0;
  if (whole > 0) {
    HWY_DYNAMIC_DISPATCH(softmax_block_vector)(golden, target, whole, top_g, top_m, out);
  }
  softmax_block_plain(golden + whole, target + whole, count - whole, top_g, top_m, out);
}

}  // namespace opdrift::metrics::kernels
#endif
