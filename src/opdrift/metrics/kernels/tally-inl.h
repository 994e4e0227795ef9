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

template <class DU>
HWY_INLINE std::uint64_t sum_lanes(DU du, hn::Vec<DU> lanes) {
  alignas(64) hn::TFromD<DU> values[hn::MaxLanes(DU())];
  hn::Store(lanes, du, values);
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < hn::Lanes(du); ++i) {
    total += values[i];
  }
  return total;
}

/// Counts how often a condition held, by lanes of DU. On x86 the bits of a mask are counted by the
/// scalar units, which have little else to do here. Elsewhere, and for 16-bit lanes without mask
/// registers, a mask is -1 in its lanes and is subtracted from lane counters, which must not be
/// counted beyond their range.
template <class DU>
class Tally {
  static constexpr bool kBits =
      OPDRIFT_TALLY_BITS != 0 || (HWY_ARCH_X86 != 0 && sizeof(hn::TFromD<DU>) == 4);

 public:
  HWY_INLINE Tally() : lanes_(hn::Zero(DU())) {}

  template <class M>
  HWY_INLINE void add(M mask) {
    if constexpr (kBits) {
      count_ += hn::CountTrue(DU(), mask);
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

/// Counts lanes whose bits are all zero among `count` lanes. On AVX-512 machines comparisons are
/// dear, so min(bits, 1) is added up instead.
template <class DU>
class ZeroTally {
 public:
  HWY_INLINE ZeroTally() : lanes_(hn::Zero(DU())) {}

  HWY_INLINE void add(hn::Vec<DU> bits) {
    if constexpr (OPDRIFT_TALLY_BITS != 0) {
      lanes_ = hn::Add(lanes_, hn::Min(bits, hn::Set(DU(), 1)));
    } else {
      zeros_.add(hn::Eq(bits, hn::Zero(DU())));
    }
  }

  HWY_INLINE std::uint64_t sum(std::size_t count) const {
    return OPDRIFT_TALLY_BITS != 0 ? count - sum_lanes(DU(), lanes_) : zeros_.sum();
  }

 private:
  hn::Vec<DU> lanes_;
  Tally<DU> zeros_;
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

}  // namespace opdrift::metrics::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
#endif  // include guard
