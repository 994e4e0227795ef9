// Per-target include guard, see vector_kernels.cpp.
#if defined(OPDRIFT_METRICS_KL_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef OPDRIFT_METRICS_KL_INL
#undef OPDRIFT_METRICS_KL_INL
#else
#define OPDRIFT_METRICS_KL_INL
#endif

#include "hwy/highway.h"

#include "opdrift/metrics/kernels/levels.hpp"
#include "opdrift/metrics/kernels/shape-inl.h"

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_BEFORE_NAMESPACE();
namespace opdrift::metrics::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// u ln u - u + 1 for u = 1 + e > 0, at least 0. The natural logarithm follows the usual split
/// u = 2^k m, sqrt(1/2) <= m < sqrt(2), and a polynomial in m - 1 (the single precision log of the
/// Cephes library; its error is below 2^-23). For k = 0 nothing cancels, so small gaps keep their
/// digits: relative error about 2^-20.
template <class DF, class V = hn::Vec<DF>>
HWY_INLINE V divergence_term(DF df, V u, V e) {
  const hn::RebindToSigned<DF> di;
  const auto bits = hn::BitCast(di, u);
  const auto k = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(di, 0x3f3504f3)));
  const V m = hn::BitCast(df, hn::Sub(bits, hn::ShiftLeft<23>(k)));
  const auto one_binade = hn::RebindMask(df, hn::Eq(k, hn::Zero(di)));
  const V f = hn::IfThenElse(one_binade, e, hn::Sub(m, hn::Set(df, 1.0F)));
  const V f2 = hn::Mul(f, f);
  // Estrin's scheme: the chain of Horner's would be longer than the scheduler of the machine.
  const auto pair = [&](float upper, float lower)
                        HWY_ATTR { return hn::MulAdd(hn::Set(df, upper), f, hn::Set(df, lower)); };
  const V low =
      hn::MulAdd(pair(2.0000714765e-1F, -2.4999993993e-1F), f, hn::Set(df, 3.3333331174e-1F));
  const V middle =
      hn::MulAdd(pair(-1.2420140846e-1F, 1.4249322787e-1F), f, hn::Set(df, -1.6668057665e-1F));
  const V high =
      hn::MulAdd(pair(7.0376836292e-2F, -1.1514610310e-1F), f, hn::Set(df, 1.1676998740e-1F));
  const V f3 = hn::Mul(f2, f);
  const V p = hn::MulAdd(hn::MulAdd(high, f3, middle), f3, low);
  // ln m = f + rest, rest = f^2 (-1/2 + f p)
  const V rest = hn::Mul(f2, hn::MulAdd(p, f, hn::Set(df, -0.5F)));
  const V kf = hn::ConvertTo(df, k);
  const V slope = hn::MulAdd(kf, hn::Set(df, 0.69314718056F), rest);
  const V head = hn::IfThenElse(one_binade, f2, hn::MulSub(u, f, e));
  return hn::Max(hn::MulAdd(u, slope, head), hn::Zero(df));
}

/// Adds to the sums of kl.hpp.
inline HWY_ATTR void kl(const float* golden, const float* target, std::size_t count,
                        const KlMap& map, KlSums& out) {
  const hn::ScalableTag<float> df;
  const hn::ScalableTag<double> dd;
  const std::size_t step = hn::Lanes(df);
  const auto target_min = hn::Set(df, static_cast<float>(map.target_min));
  const auto target_factor = hn::Set(df, static_cast<float>(map.target_factor));
  const auto golden_min = hn::Set(df, static_cast<float>(map.golden_min));
  const auto golden_factor = hn::Set(df, static_cast<float>(map.golden_factor));
  const auto floor = hn::Set(df, 0x1p-23F);
  auto p_sum = hn::Zero(dd);
  auto q_sum = hn::Zero(dd);
  auto gap_sum = hn::Zero(dd);
  for (std::size_t i = 0; i < count; i += 4 * step) {
    auto p4 = hn::Zero(df);
    auto q4 = hn::Zero(df);
    auto gap4 = hn::Zero(df);
    for (std::size_t at = i; at < i + 4 * step; at += step) {
      const auto t = hn::Sub(hn::LoadU(df, target + at), target_min);
      const auto g = hn::Sub(hn::LoadU(df, golden + at), golden_min);
      const auto p = hn::Max(hn::Mul(t, target_factor), floor);
      const auto q = hn::Max(hn::Mul(g, golden_factor), floor);
      const auto inverse = hn::Div(hn::Set(df, 1.0F), q);
      const auto e = hn::Mul(hn::Sub(p, q), inverse);
      gap4 = hn::MulAdd(q, divergence_term(df, hn::Mul(p, inverse), e), gap4);
      p4 = hn::Add(p4, p);
      q4 = hn::Add(q4, q);
    }
    p_sum = add_widened(df, p4, dd, p_sum);
    q_sum = add_widened(df, q4, dd, q_sum);
    gap_sum = add_widened(df, gap4, dd, gap_sum);
  }
  out.target += hn::GetLane(hn::SumOfLanes(dd, p_sum));
  out.golden += hn::GetLane(hn::SumOfLanes(dd, q_sum));
  out.gap += hn::GetLane(hn::SumOfLanes(dd, gap_sum));
}

}  // namespace opdrift::metrics::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
#endif  // include guard
