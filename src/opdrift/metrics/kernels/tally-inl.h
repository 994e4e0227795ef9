// Per-target include guard, see vector_kernels.cpp.
#if defined(OPDRIFT_METRICS_TALLY_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef OPDRIFT_METRICS_TALLY_INL
#undef OPDRIFT_METRICS_TALLY_INL
#else
#define OPDRIFT_METRICS_TALLY_INL
#endif

#include "hwy/highway.h"

#undef OPDRIFT_TALLY_BITS

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_BEFORE_NAMESPACE();
namespace opdrift::metrics::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
#define OPDRIFT_TALLY_BITS 1
#else
#define OPDRIFT_TALLY_BITS 0
#endif

/// Lanes where `mask` holds become yes(); the others stay. Written so that compilers make one
/// masked operation of it where there are mask registers.
template <class V, class M>
HWY_INLINE V add_where(M mask, V sum, V value) {
#if OPDRIFT_TALLY_BITS
  return hn::IfThenElse(mask, hn::Add(sum, value), sum);
#else
  return hn::Add(sum, hn::IfThenElseZero(mask, value));
#endif
}

/// Sum of counter lanes; 16-bit lanes are widened first.
template <class DU>
HWY_INLINE std::uint64_t sum_lanes(DU du, hn::Vec<DU> lanes) {
  if constexpr (sizeof(hn::TFromD<DU>) == 2) {
    const hn::RepartitionToWide<DU> wide;
    const auto pairs = hn::BitCast(wide, lanes);
    const auto low = hn::And(pairs, hn::Set(wide, 0xffffU));
    return sum_lanes(wide, hn::Add(low, hn::ShiftRight<16>(pairs)));
  } else {
    return hn::GetLane(hn::SumOfLanes(du, lanes));
  }
}

/// Counts how often a condition held, by lanes of DU. On x86 the bits of a mask of 32-bit lanes are
/// counted by the scalar units, which have little else to do here. Elsewhere a mask is -1 in its
/// lanes and is subtracted from lane counters, which must not be counted beyond their range.
template <class DU>
class Tally {
  static constexpr bool kBits = HWY_ARCH_X86 != 0 && sizeof(hn::TFromD<DU>) == 4;

 public:
  HWY_INLINE Tally() : lanes_(hn::Zero(DU())) {}

  template <class M>
  HWY_INLINE void add(M mask) {
    if constexpr (kBits) {
      count_ += hn::CountTrue(DU(), mask);
    } else if constexpr (OPDRIFT_TALLY_BITS != 0) {
      lanes_ = add_where(mask, lanes_, hn::Set(DU(), 1));
    } else {
      lanes_ = hn::Sub(lanes_, hn::VecFromMask(DU(), mask));
    }
  }

  HWY_INLINE std::uint64_t sum() const {
    if constexpr (kBits) {
      return count_;
    }
    return sum_lanes(DU(), lanes_);
  }

 private:
  hn::Vec<DU> lanes_;
  std::uint64_t count_ = 0;
};

/// Counts lanes that are not zero. Where comparisons are dearer than minima, min(bits, 1) is added.
template <class DU>
class NonZeroTally {
 public:
  HWY_INLINE NonZeroTally() : lanes_(hn::Zero(DU())) {}

  HWY_INLINE void add(hn::Vec<DU> bits) {
    lanes_ = hn::Add(lanes_, hn::Min(bits, hn::Set(DU(), 1)));
  }

  HWY_INLINE std::uint64_t sum() const { return sum_lanes(DU(), lanes_); }

 private:
  hn::Vec<DU> lanes_;
};

/// Larger and smaller of float lanes that are not negative. AVX-512 machines compare integers on
/// more ports than floats, and the order is the same.
template <class DF, class V = hn::Vec<DF>>
HWY_INLINE V max_size(DF df, V a, V b) {
#if OPDRIFT_TALLY_BITS
  const hn::RebindToSigned<DF> di;
  return hn::BitCast(df, hn::Max(hn::BitCast(di, a), hn::BitCast(di, b)));
#else
  (void)df;
  return hn::Max(a, b);
#endif
}

template <class DF, class V = hn::Vec<DF>>
HWY_INLINE V min_size(DF df, V a, V b) {
#if OPDRIFT_TALLY_BITS
  const hn::RebindToSigned<DF> di;
  return hn::BitCast(df, hn::Min(hn::BitCast(di, a), hn::BitCast(di, b)));
#else
  (void)df;
  return hn::Min(a, b);
#endif
}

/// The larger where `mask` holds.
template <class DF, class M, class V = hn::Vec<DF>>
HWY_INLINE V max_size_where(DF df, M mask, V a, V b) {
#if OPDRIFT_TALLY_BITS
  return hn::IfThenElse(mask, max_size(df, a, b), a);
#else
  (void)df;
  return hn::Max(a, hn::IfThenElseZero(mask, b));
#endif
}

}  // namespace opdrift::metrics::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
#endif  // include guard
