// Per-target include guard, see vector_kernels.cpp.
#if defined(OPDRIFT_METRICS_ULP_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef OPDRIFT_METRICS_ULP_INL
#undef OPDRIFT_METRICS_ULP_INL
#else
#define OPDRIFT_METRICS_ULP_INL
#endif

#include "hwy/highway.h"

#include "opdrift/metrics/kernels/levels.hpp"

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_BEFORE_NAMESPACE();
namespace opdrift::metrics::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Distances of floats on the number line of their format: patterns, read as sign and magnitude,
/// become ordered integers (-0 equals +0) and are subtracted.

/// Sign-magnitude lanes as two's complement.
template <class DI, class VI = hn::Vec<DI>>
HWY_INLINE VI ordered(DI di, VI bits) {
  using Lane = hn::TFromD<DI>;
  const hn::RebindToUnsigned<DI> du;
  const VI sign = hn::ShiftRight<sizeof(Lane) * 8 - 1>(bits);  // 0 or -1
  const VI mask = hn::BitCast(di, hn::ShiftRight<1>(hn::BitCast(du, sign)));
  return hn::Sub(hn::Xor(bits, mask), sign);
}

/// Counts of distances of at least 2^k, k = first .. first + 3, over stored distances.
inline HWY_ATTR void count_thresholds(const std::uint16_t* distances, std::size_t count,
                                      std::size_t first, std::uint32_t* at_least) {
  const hn::ScalableTag<std::uint16_t> du;
  const hn::RebindToSigned<decltype(du)> di;
  const auto flip = hn::Set(du, 0x8000U);
  const auto limit = [&](std::size_t k) HWY_ATTR {
    // Unsigned lanes compare as signed ones once their top bit is flipped.
    return hn::BitCast(di, hn::Set(du, static_cast<std::uint16_t>(((1U << k) - 1U) ^ 0x8000U)));
  };
  const auto limit0 = limit(first);
  const auto limit1 = limit(first + 1);
  const auto limit2 = limit(first + 2);
  const auto limit3 = limit(first + 3);
  std::size_t count0 = 0;
  std::size_t count1 = 0;
  std::size_t count2 = 0;
  std::size_t count3 = 0;
  for (std::size_t i = 0; i < count; i += hn::Lanes(du)) {
    const auto v = hn::BitCast(di, hn::Xor(hn::LoadU(du, distances + i), flip));
    count0 += hn::CountTrue(di, hn::Gt(v, limit0));
    count1 += hn::CountTrue(di, hn::Gt(v, limit1));
    count2 += hn::CountTrue(di, hn::Gt(v, limit2));
    count3 += hn::CountTrue(di, hn::Gt(v, limit3));
  }
  at_least[first] = static_cast<std::uint32_t>(count0);
  at_least[first + 1] = static_cast<std::uint32_t>(count1);
  at_least[first + 2] = static_cast<std::uint32_t>(count2);
  at_least[first + 3] = static_cast<std::uint32_t>(count3);
}

/// Fills the histogram from stored distances, of which `beyond` are 2^16 or more (stored as
/// 0xffff). Thresholds are counted four at a time until the largest distance is passed.
inline HWY_ATTR void fill_histogram(const std::uint16_t* distances, std::size_t count,
                                    std::uint32_t beyond, BlockTotals& out) {
  std::uint32_t at_least[Measurement::kUlpBuckets + 1] = {};  // [k]: distances >= 2^k
  for (std::size_t k = 0; k < 16 && out.max_ulp >> k != 0; k += 4) {
    count_thresholds(distances, count, k, at_least);
  }
  at_least[16] = beyond;
  out.ulp[0] = static_cast<std::uint32_t>(count) - at_least[0];
  for (std::size_t k = 0; k < 17; ++k) {
    out.ulp[k + 1] = at_least[k] - at_least[k + 1];
  }
}

inline HWY_ATTR void ulp16(const std::uint16_t* golden, const std::uint16_t* target,
                           std::size_t count, std::uint16_t* scratch, BlockTotals& out) {
  const hn::ScalableTag<std::uint16_t> du;
  const hn::RebindToSigned<decltype(du)> di;
  auto largest = hn::Zero(du);
  for (std::size_t i = 0; i < count; i += hn::Lanes(du)) {
    const auto g = ordered(di, hn::BitCast(di, hn::LoadU(du, golden + i)));
    const auto t = ordered(di, hn::BitCast(di, hn::LoadU(du, target + i)));
    const auto distance = hn::BitCast(du, hn::Sub(hn::Max(g, t), hn::Min(g, t)));
    largest = hn::Max(largest, distance);
    hn::StoreU(distance, du, scratch + i);
  }
  alignas(64) std::uint16_t lanes[hn::MaxLanes(du)];
  hn::StoreU(largest, du, lanes);
  out.max_ulp = *std::max_element(lanes, lanes + hn::Lanes(du));
  fill_histogram(scratch, count, 0, out);
}

inline HWY_ATTR void ulp32(const float* golden, const float* target, std::size_t count,
                           std::uint16_t* scratch, BlockTotals& out) {
  const hn::ScalableTag<float> df;
  const hn::RebindToUnsigned<decltype(df)> du;
  const hn::RebindToSigned<decltype(df)> di;
  const hn::Rebind<std::uint16_t, decltype(df)> du16;
  const auto top = hn::Set(du, 0xffffU);
  auto largest = hn::Zero(du);
  std::size_t beyond = 0;
  for (std::size_t i = 0; i < count; i += hn::Lanes(df)) {
    const auto g = ordered(di, hn::BitCast(di, hn::LoadU(df, golden + i)));
    const auto t = ordered(di, hn::BitCast(di, hn::LoadU(df, target + i)));
    const auto distance = hn::BitCast(du, hn::Sub(hn::Max(g, t), hn::Min(g, t)));
    largest = hn::Max(largest, distance);
    const auto clamped = hn::Min(distance, top);
    beyond += hn::CountTrue(du, hn::Ne(clamped, distance));
    hn::StoreU(hn::DemoteTo(du16, hn::BitCast(di, clamped)), du16, scratch + i);
  }
  alignas(64) std::uint32_t lanes[hn::MaxLanes(du)];
  hn::StoreU(largest, du, lanes);
  out.max_ulp = *std::max_element(lanes, lanes + hn::Lanes(du));
  fill_histogram(scratch, count, static_cast<std::uint32_t>(beyond), out);
}

}  // namespace opdrift::metrics::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
#endif  // include guard
