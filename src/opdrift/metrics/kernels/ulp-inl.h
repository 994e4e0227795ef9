// Per-target include guard, see vector_kernels.cpp.
#if defined(OPDRIFT_METRICS_ULP_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef OPDRIFT_METRICS_ULP_INL
#undef OPDRIFT_METRICS_ULP_INL
#else
#define OPDRIFT_METRICS_ULP_INL
#endif

#include "hwy/highway.h"

#include "opdrift/metrics/kernels/convert-inl.h"
#include "opdrift/metrics/kernels/levels.hpp"
#include "opdrift/metrics/kernels/tally-inl.h"

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_BEFORE_NAMESPACE();
namespace opdrift::metrics::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Distances of floats on the number line of their format: patterns, read as sign and magnitude,
/// become ordered integers (-0 equals +0) and are subtracted.

/// Distance of finite sign-magnitude lanes; it may need the top bit. Between lanes of one sign it
/// is the difference of the patterns, else the sum of the magnitudes.
template <class DI, class VI = hn::Vec<DI>>
HWY_INLINE hn::Vec<hn::RebindToUnsigned<DI>> distance(DI di, VI golden, VI target) {
  const VI top = hn::Set(di, std::numeric_limits<hn::TFromD<DI>>::min());
  const VI apart = hn::Xor(golden, target);
#if OPDRIFT_TALLY_BITS
  const auto across = hn::MaskFromVec(apart);
#else
  const auto across = hn::Lt(apart, hn::Zero(di));
#endif
  const VI along = hn::Sub(hn::Max(golden, target), hn::Min(golden, target));
  const VI result = hn::IfThenElse(across, hn::Add(hn::Add(golden, target), top), along);
  return hn::BitCast(hn::RebindToUnsigned<DI>(), result);
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

/// The first three thresholds without comparisons: sum min(d, 1) counts d >= 1, sum min(d, 2)
/// counts d >= 1 and d >= 2, and min(d - 3, 1), d - 3 not below 0, counts d >= 4.
template <class DU>
class SmallThresholds {
 public:
  HWY_INLINE SmallThresholds()
      : up_to_1_(hn::Zero(DU())), up_to_2_(hn::Zero(DU())), from_4_(hn::Zero(DU())) {}

  HWY_INLINE void add(hn::Vec<DU> distances) {
    const auto one = hn::Set(DU(), 1);
    up_to_1_ = hn::Add(up_to_1_, hn::Min(distances, one));
    up_to_2_ = hn::Add(up_to_2_, hn::Min(distances, hn::Set(DU(), 2)));
    const auto beyond_3 = hn::SaturatedSub(distances, hn::Set(DU(), 3));
    from_4_ = hn::Add(from_4_, hn::Min(beyond_3, one));
  }

  HWY_INLINE void store(std::uint32_t* at_least) const {
    const auto first = static_cast<std::uint32_t>(sum_lanes(DU(), up_to_1_));
    at_least[0] = first;
    at_least[1] = static_cast<std::uint32_t>(sum_lanes(DU(), up_to_2_)) - first;
    at_least[2] = static_cast<std::uint32_t>(sum_lanes(DU(), from_4_));
  }

 private:
  hn::Vec<DU> up_to_1_;
  hn::Vec<DU> up_to_2_;
  hn::Vec<DU> from_4_;
};

/// Distances of 2^15 or more.
inline HWY_ATTR std::uint32_t count_top(const std::uint16_t* distances, std::size_t count) {
  using DU = hn::ScalableTag<std::uint16_t>;
  const DU du;
  Tally<DU> tally;
  for (std::size_t i = 0; i < count; i += hn::Lanes(du)) {
    const auto v = hn::LoadU(du, distances + i);
    tally.add(hn::Eq(hn::Max(v, hn::Set(du, 0x8000U)), v));
  }
  return static_cast<std::uint32_t>(tally.sum());
}

/// Fills the histogram from stored distances, the first three counts, and the number of distances
/// of 2^16 or more (stored as 0xffff). Stops where the largest distance is passed.
inline HWY_ATTR void fill_histogram(const std::uint16_t* distances, std::size_t count,
                                    const std::uint32_t* first_three, std::uint32_t beyond,
                                    BlockTotals& out) {
  using DU = hn::ScalableTag<std::uint16_t>;
  std::uint32_t at_least[Measurement::kUlpBuckets] = {};  // [k]: distances >= 2^k
  std::copy_n(first_three, 3, at_least);
  for (std::size_t k = 3; k < 15 && out.max_ulp >> k != 0; k += 4) {
    FourThresholds<DU> thresholds(k);
    for (std::size_t i = 0; i < count; i += hn::Lanes(DU())) {
      thresholds.add(hn::LoadU(DU(), distances + i));
    }
    thresholds.store(at_least + k);
  }
  at_least[15] = out.max_ulp >> 15 == 0 ? 0 : count_top(distances, count);
  at_least[16] = beyond;
  out.ulp[0] = static_cast<std::uint32_t>(count) - at_least[0];
  for (std::size_t k = 0; k + 1 < Measurement::kUlpBuckets; ++k) {
    out.ulp[k + 1] = at_least[k] - at_least[k + 1];
  }
}

template <class DU>
HWY_INLINE std::uint64_t largest_lane(DU du, hn::Vec<DU> lanes) {
  if constexpr (sizeof(hn::TFromD<DU>) == 2) {
    const hn::RepartitionToWide<DU> wide;
    const auto pairs = hn::BitCast(wide, lanes);
    const auto low = hn::And(pairs, hn::Set(wide, 0xffffU));
    return largest_lane(wide, hn::Max(low, hn::ShiftRight<16>(pairs)));
  } else {
    return hn::GetLane(hn::MaxOfLanes(du, lanes));
  }
}

/// Sources of 16-bit patterns, a vector at a time.
struct StoredPatterns {
  const std::uint16_t* bits;
  template <class DU>
  HWY_INLINE hn::Vec<DU> load(DU du, std::size_t at) const {
    return hn::LoadU(du, bits + at);
  }
};

template <bool kHalf>
struct RoundedValues {
  const float* values;
  template <class DU>
  HWY_INLINE hn::Vec<DU> load(DU du, std::size_t at) const {
    const hn::RepartitionToWide<DU> wide;
    const hn::Rebind<float, decltype(wide)> df;
    const auto low = hn::LoadU(df, values + at);
    const auto high = hn::LoadU(df, values + at + hn::Lanes(df));
    if constexpr (kHalf) {
      return hn::Combine(du, narrowed_f16(df, high), narrowed_f16(df, low));
    } else {
      return hn::Combine(du, narrowed_bf16(df, high), narrowed_bf16(df, low));
    }
  }
};

template <class Golden, class Target>
HWY_ATTR void ulp16_pass(Golden golden, Target target, std::size_t count, std::uint16_t* scratch,
                         Upcoming& upcoming, BlockTotals& out) {
  using DU = hn::ScalableTag<std::uint16_t>;
  const DU du;
  const hn::RebindToSigned<DU> di;
  auto largest = hn::Zero(du);
  SmallThresholds<DU> thresholds;
  Upcoming next = upcoming;
  for (std::size_t i = 0; i < count; i += hn::Lanes(du)) {
    next.fetch_line();
    const auto gap =
        distance(di, hn::BitCast(di, golden.load(du, i)), hn::BitCast(di, target.load(du, i)));
    largest = hn::Max(largest, gap);
    thresholds.add(gap);
    hn::StoreU(gap, du, scratch + i);
  }
  upcoming = next;
  out.max_ulp = largest_lane(du, largest);
  std::uint32_t first_three[3];
  thresholds.store(first_three);
  fill_histogram(scratch, count, first_three, 0, out);
}

template <bool kHalf>
HWY_ATTR void ulp16(const PatternSide& golden, const PatternSide& target, std::size_t count,
                    std::uint16_t* scratch, Upcoming& next, BlockTotals& out) {
  const StoredPatterns golden_bits = {golden.bits};
  const StoredPatterns target_bits = {target.bits};
  const RoundedValues<kHalf> golden_values = {golden.values};
  const RoundedValues<kHalf> target_values = {target.values};
  if (golden.bits != nullptr && target.bits != nullptr) {
    ulp16_pass(golden_bits, target_bits, count, scratch, next, out);
  } else if (target.bits != nullptr) {
    ulp16_pass(golden_values, target_bits, count, scratch, next, out);
  } else if (golden.bits != nullptr) {
    ulp16_pass(golden_bits, target_values, count, scratch, next, out);
  } else {
    ulp16_pass(golden_values, target_values, count, scratch, next, out);
  }
}

/// Distances of 2^16 or more.
inline HWY_ATTR std::uint64_t count_beyond(const float* golden, const float* target,
                                           std::size_t count) {
  using DU = hn::ScalableTag<std::uint32_t>;
  const DU du;
  const hn::RebindToSigned<DU> di;
  const hn::Rebind<float, DU> df;
  const auto limit = hn::Set(du, 0x10000U);
  Tally<DU> beyond;
  for (std::size_t i = 0; i < count; i += hn::Lanes(du)) {
    const auto gap = distance(di, hn::BitCast(di, hn::LoadU(df, golden + i)),
                              hn::BitCast(di, hn::LoadU(df, target + i)));
    beyond.add(hn::Eq(hn::Max(gap, limit), gap));
  }
  return beyond.sum();
}

inline HWY_ATTR void ulp32(const float* golden, const float* target, std::size_t count,
                           std::uint16_t* scratch, Upcoming& upcoming, BlockTotals& out) {
  using DU = hn::ScalableTag<std::uint32_t>;
  using DU16 = hn::ScalableTag<std::uint16_t>;
  const DU du;
  const hn::RebindToSigned<DU> di;
  const hn::Rebind<float, DU> df;
  const auto top = hn::Set(du, 0xffffU);
  auto largest = hn::Zero(du);
  SmallThresholds<DU16> thresholds;
  const std::size_t step = hn::Lanes(du);
  Upcoming next = upcoming;
  for (std::size_t i = 0; i < count; i += 2 * step) {
    next.fetch_line();
    const auto first = distance(di, hn::BitCast(di, hn::LoadU(df, golden + i)),
                                hn::BitCast(di, hn::LoadU(df, target + i)));
    const auto second = distance(di, hn::BitCast(di, hn::LoadU(df, golden + i + step)),
                                 hn::BitCast(di, hn::LoadU(df, target + i + step)));
    largest = hn::Max(largest, hn::Max(first, second));
    // A histogram does not ask for order.
    const auto both =
        hn::BitCast(DU16(), hn::Or(hn::Min(first, top), hn::ShiftLeft<16>(hn::Min(second, top))));
    thresholds.add(both);
    hn::StoreU(both, DU16(), scratch + i);
  }
  upcoming = next;
  out.max_ulp = largest_lane(du, largest);
  const bool has_beyond = out.max_ulp > 0xffffU;
  const std::uint64_t beyond = has_beyond ? count_beyond(golden, target, count) : 0;
  std::uint32_t first_three[3];
  thresholds.store(first_three);
  fill_histogram(scratch, count, first_three, static_cast<std::uint32_t>(beyond), out);
}

}  // namespace opdrift::metrics::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
#endif  // include guard
