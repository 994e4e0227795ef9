// Per-target include guard, see vector_kernels.cpp.
#if defined(OPDRIFT_METRICS_ULP_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef OPDRIFT_METRICS_ULP_INL
#undef OPDRIFT_METRICS_ULP_INL
#else
#define OPDRIFT_METRICS_ULP_INL
#endif

#include "hwy/highway.h"

#include "opdrift/metrics/kernels/levels.hpp"
#include "opdrift/metrics/kernels/tally-inl.h"

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_BEFORE_NAMESPACE();
namespace opdrift::metrics::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Distances of floats on the number line of their format: patterns, read as sign and magnitude,
/// become ordered integers (-0 equals +0) and are subtracted.

/// Sign-magnitude lanes as two's complement.
template <class DI, class VI = hn::Vec<DI>>
HWY_INLINE VI ordered(DI di, VI bits) {
  const VI mirrored = hn::Sub(hn::Set(di, std::numeric_limits<hn::TFromD<DI>>::min()), bits);
  return hn::IfThenElse(hn::Lt(bits, hn::Zero(di)), mirrored, bits);
}

/// Distance of ordered lanes; it may need the top bit.
template <class DI, class VI = hn::Vec<DI>>
HWY_INLINE hn::Vec<hn::RebindToUnsigned<DI>> distance(DI di, VI golden, VI target) {
  const VI g = ordered(di, golden);
  const VI t = ordered(di, target);
  return hn::BitCast(hn::RebindToUnsigned<DI>(), hn::Sub(hn::Max(g, t), hn::Min(g, t)));
}

/// Counts of distances of at least 2^k for four k in a row.
template <class DU>
class FourThresholds {
 public:
  HWY_INLINE explicit FourThresholds(std::size_t first)
      : limit0_(limit(first)),
        limit1_(limit(first + 1)),
        limit2_(limit(first + 2)),
        limit3_(limit(first + 3)) {}

  HWY_INLINE void add(hn::Vec<DU> distances) {
    tally0_.add(reaches(distances, limit0_));
    tally1_.add(reaches(distances, limit1_));
    tally2_.add(reaches(distances, limit2_));
    tally3_.add(reaches(distances, limit3_));
  }

  HWY_INLINE void store(std::uint32_t* at_least) const {
    at_least[0] = static_cast<std::uint32_t>(tally0_.sum());
    at_least[1] = static_cast<std::uint32_t>(tally1_.sum());
    at_least[2] = static_cast<std::uint32_t>(tally2_.sum());
    at_least[3] = static_cast<std::uint32_t>(tally3_.sum());
  }

 private:
  static HWY_INLINE hn::Vec<DU> limit(std::size_t k) {
    return hn::Set(DU(), static_cast<hn::TFromD<DU>>(1U << k));
  }
  static HWY_INLINE hn::Mask<DU> reaches(hn::Vec<DU> v, hn::Vec<DU> bound) {
#if OPDRIFT_TALLY_BITS
    return hn::Gt(v, hn::Sub(bound, hn::Set(DU(), 1)));
#else
    return hn::Eq(hn::Max(v, bound), v);
#endif
  }

  hn::Vec<DU> limit0_;
  hn::Vec<DU> limit1_;
  hn::Vec<DU> limit2_;
  hn::Vec<DU> limit3_;
  Tally<DU> tally0_;
  Tally<DU> tally1_;
  Tally<DU> tally2_;
  Tally<DU> tally3_;
};

/// The first four thresholds without comparisons: sum min(d, 1) counts d >= 1, sum min(d, 2) counts
/// d >= 1 and d >= 2, and min(d - 3, 1), d - 3 not below 0, counts d >= 4.
template <class DU>
class SmallThresholds {
 public:
  HWY_INLINE SmallThresholds()
      : up_to_1_(hn::Zero(DU())),
        up_to_2_(hn::Zero(DU())),
        from_4_(hn::Zero(DU())),
        from_8_(hn::Zero(DU())) {}

  HWY_INLINE void add(hn::Vec<DU> distances) {
    const auto one = hn::Set(DU(), 1);
    up_to_1_ = hn::Add(up_to_1_, hn::Min(distances, one));
    up_to_2_ = hn::Add(up_to_2_, hn::Min(distances, hn::Set(DU(), 2)));
    const auto beyond_3 = hn::SaturatedSub(distances, hn::Set(DU(), 3));
    from_4_ = hn::Add(from_4_, hn::Min(beyond_3, one));
    const auto beyond_7 = hn::SaturatedSub(distances, hn::Set(DU(), 7));
    from_8_ = hn::Add(from_8_, hn::Min(beyond_7, one));
  }

  HWY_INLINE void store(std::uint32_t* at_least) const {
    const auto first = static_cast<std::uint32_t>(sum_lanes(DU(), up_to_1_));
    at_least[0] = first;
    at_least[1] = static_cast<std::uint32_t>(sum_lanes(DU(), up_to_2_)) - first;
    at_least[2] = static_cast<std::uint32_t>(sum_lanes(DU(), from_4_));
    at_least[3] = static_cast<std::uint32_t>(sum_lanes(DU(), from_8_));
  }

 private:
  hn::Vec<DU> up_to_1_;
  hn::Vec<DU> up_to_2_;
  hn::Vec<DU> from_4_;
  hn::Vec<DU> from_8_;
};

/// Fills the histogram from stored distances, the first four counts, and the number of distances of
/// 2^16 or more (stored as 0xffff). Stops where the largest distance is passed.
inline HWY_ATTR void fill_histogram(const std::uint16_t* distances, std::size_t count,
                                    const std::uint32_t* first_four, std::uint32_t beyond,
                                    BlockTotals& out) {
  using DU = hn::ScalableTag<std::uint16_t>;
  std::uint32_t at_least[Measurement::kUlpBuckets] = {};  // [k]: distances >= 2^k
  std::copy_n(first_four, 4, at_least);
  for (std::size_t k = 4; k < 16 && out.max_ulp >> k != 0; k += 4) {
    FourThresholds<DU> thresholds(k);
    for (std::size_t i = 0; i < count; i += hn::Lanes(DU())) {
      thresholds.add(hn::LoadU(DU(), distances + i));
    }
    thresholds.store(at_least + k);
  }
  at_least[16] = beyond;
  out.ulp[0] = static_cast<std::uint32_t>(count) - at_least[0];
  for (std::size_t k = 0; k + 1 < Measurement::kUlpBuckets; ++k) {
    out.ulp[k + 1] = at_least[k] - at_least[k + 1];
  }
}

template <class DU>
HWY_INLINE std::uint64_t largest_lane(DU du, hn::Vec<DU> v) {
  alignas(64) hn::TFromD<DU> lanes[hn::MaxLanes(DU())];
  hn::Store(v, du, lanes);
  return *std::max_element(lanes, lanes + hn::Lanes(du));
}

inline HWY_ATTR void ulp16(const std::uint16_t* golden, const std::uint16_t* target,
                           std::size_t count, std::uint16_t* scratch, BlockTotals& out) {
  using DU = hn::ScalableTag<std::uint16_t>;
  const DU du;
  const hn::RebindToSigned<DU> di;
  auto largest = hn::Zero(du);
  SmallThresholds<DU> thresholds;
  for (std::size_t i = 0; i < count; i += hn::Lanes(du)) {
    const auto gap = distance(di, hn::BitCast(di, hn::LoadU(du, golden + i)),
                              hn::BitCast(di, hn::LoadU(du, target + i)));
    largest = hn::Max(largest, gap);
    thresholds.add(gap);
    hn::StoreU(gap, du, scratch + i);
  }
  out.max_ulp = largest_lane(du, largest);
  std::uint32_t first_four[4];
  thresholds.store(first_four);
  fill_histogram(scratch, count, first_four, 0, out);
}

inline HWY_ATTR void ulp32(const float* golden, const float* target, std::size_t count,
                           std::uint16_t* scratch, BlockTotals& out) {
  using DU = hn::ScalableTag<std::uint32_t>;
  using DU16 = hn::ScalableTag<std::uint16_t>;
  const DU du;
  const hn::RebindToSigned<DU> di;
  const hn::Rebind<float, DU> df;
  const hn::Half<DU16> half;
  const auto top = hn::Set(du, 0xffffU);
  auto largest = hn::Zero(du);
  Tally<DU> beyond;
  SmallThresholds<DU16> thresholds;
  const std::size_t step = hn::Lanes(du);
  const auto narrowed = [&](std::size_t at) HWY_ATTR {
    const auto gap = distance(di, hn::BitCast(di, hn::LoadU(df, golden + at)),
                              hn::BitCast(di, hn::LoadU(df, target + at)));
    largest = hn::Max(largest, gap);
    const auto clamped = hn::Min(gap, top);
    beyond.add(hn::Ne(clamped, gap));
    return hn::DemoteTo(half, hn::BitCast(di, clamped));
  };
  for (std::size_t i = 0; i < count; i += 2 * step) {
    const auto low = narrowed(i);
    const auto both = hn::Combine(DU16(), narrowed(i + step), low);
    thresholds.add(both);
    hn::StoreU(both, DU16(), scratch + i);
  }
  out.max_ulp = largest_lane(du, largest);
  std::uint32_t first_four[4];
  thresholds.store(first_four);
  fill_histogram(scratch, count, first_four, static_cast<std::uint32_t>(beyond.sum()), out);
}

}  // namespace opdrift::metrics::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
#endif  // include guard
