// Per-target include guard, see vector_kernels.cpp.
#if defined(OPDRIFT_METRICS_CLASSES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef OPDRIFT_METRICS_CLASSES_INL
#undef OPDRIFT_METRICS_CLASSES_INL
#else
#define OPDRIFT_METRICS_CLASSES_INL
#endif

#include "hwy/highway.h"

#include "opdrift/metrics/kernels/levels.hpp"

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_BEFORE_NAMESPACE();
namespace opdrift::metrics::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Lanes by class; those of finite values are as for the golden.
template <class D>
struct ClassMasks {
  hn::Mask<D> nan;
  hn::Mask<D> positive_inf;
  hn::Mask<D> negative_inf;
  hn::Mask<D> finite;
};

template <class D>
HWY_INLINE ClassMasks<D> class_masks(D df, hn::Vec<D> values) {
  const auto infinity = hn::Set(df, std::numeric_limits<float>::infinity());
  return {hn::IsNaN(values), hn::Eq(values, infinity), hn::Eq(values, hn::Neg(infinity)),
          hn::Lt(hn::Abs(values), infinity)};
}

/// Counts the golden classes of lanes where `wanted` holds.
template <class D>
HWY_INLINE void count_golden(D df, hn::Vec<D> golden, const ClassMasks<D>& classes,
                             hn::Mask<D> wanted, TargetClass target, NonFinitePairs& pairs) {
  const auto add = [&](GoldenClass kind, hn::Mask<D> mask) {
    pairs.counts[static_cast<std::size_t>(kind)][static_cast<std::size_t>(target)] +=
        hn::CountTrue(df, hn::And(wanted, mask));
  };
  if (!hn::AllTrue(df, classes.finite)) {
    add(GoldenClass::nan, classes.nan);
    add(GoldenClass::positive_inf, classes.positive_inf);
    add(GoldenClass::negative_inf, classes.negative_inf);
  }
  const auto zero = hn::Eq(golden, hn::Zero(df));
  const auto small = hn::Le(hn::Abs(golden), hn::Set(df, static_cast<float>(kReferenceEpsilon)));
  add(GoldenClass::zero, zero);
  add(GoldenClass::tiny, hn::AndNot(zero, small));
  add(GoldenClass::ordinary, hn::AndNot(small, classes.finite));
}

template <class D>
HWY_INLINE void count_pairs(D df, hn::Vec<D> golden, const ClassMasks<D>& golden_classes,
                            const ClassMasks<D>& target_classes, NonFinitePairs& pairs) {
  const auto add = [&](TargetClass kind, hn::Mask<D> mask) {
    if (!hn::AllFalse(df, mask)) {
      count_golden(df, golden, golden_classes, mask, kind, pairs);
    }
  };
  add(TargetClass::nan, target_classes.nan);
  add(TargetClass::positive_inf, target_classes.positive_inf);
  add(TargetClass::negative_inf, target_classes.negative_inf);
  add(TargetClass::finite, hn::AndNot(golden_classes.finite, target_classes.finite));
}

/// The lanes of one vector whose pairs are finite, behind those kept so far. Stores whole vectors.
template <class D>
HWY_INLINE void keep_finite(D df, hn::Vec<D> golden, hn::Vec<D> target, hn::Mask<D> both,
                            std::size_t first, ClassSplit<float>& split) {
  const hn::RebindToSigned<D> di;
  const hn::Rebind<std::uint16_t, D> du16;
  const auto places = hn::Iota(di, static_cast<std::int32_t>(first));
  const auto kept = hn::RebindMask(di, both);
  hn::StoreU(hn::Compress(golden, both), df, split.golden + split.finite);
  hn::StoreU(hn::Compress(target, both), df, split.target + split.finite);
  hn::StoreU(hn::DemoteTo(du16, hn::Compress(places, kept)), du16, split.positions + split.finite);
  split.finite += hn::CountTrue(df, both);
}

/// Lanes that have no partner. Stores a whole vector, so that room is there up to the block's end.
template <class D>
HWY_INLINE std::size_t keep_alone(D df, hn::Vec<D> values, hn::Mask<D> alone, float* out) {
  hn::StoreU(hn::Compress(values, alone), df, out);
  return hn::CountTrue(df, alone);
}

inline HWY_ATTR void split_classes(const float* golden, const float* target, std::size_t count,
                                   ClassSplit<float>& split) {
  const hn::ScalableTag<float> df;
  const hn::RebindToUnsigned<decltype(df)> du;
  for (std::size_t i = 0; i < count; i += hn::Lanes(df)) {
    const auto g = hn::LoadU(df, golden + i);
    const auto t = hn::LoadU(df, target + i);
    const auto golden_classes = class_masks(df, g);
    const auto target_classes = class_masks(df, t);
    const auto both = hn::And(golden_classes.finite, target_classes.finite);
    if (!hn::AllFalse(df, both)) {
      keep_finite(df, g, t, both, split.first + i, split);
    }
    if (hn::AllTrue(df, both)) {
      continue;
    }
    count_pairs(df, g, golden_classes, target_classes, split.nonfinite);
    const auto same = hn::RebindMask(df, hn::Eq(hn::BitCast(du, g), hn::BitCast(du, t)));
    split.equal_bits += hn::CountTrue(df, hn::AndNot(both, same));
    split.golden_alone_count +=
        keep_alone(df, g, hn::AndNot(target_classes.finite, golden_classes.finite),
                   split.golden_alone + split.golden_alone_count);
    split.target_alone_count +=
        keep_alone(df, t, hn::AndNot(golden_classes.finite, target_classes.finite),
                   split.target_alone + split.target_alone_count);
  }
}

}  // namespace opdrift::metrics::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
#endif  // include guard
