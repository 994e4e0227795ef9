// Per-target include guard, see vector_kernels.cpp.
#if defined(OPDRIFT_METRICS_CONVERT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef OPDRIFT_METRICS_CONVERT_INL
#undef OPDRIFT_METRICS_CONVERT_INL
#else
#define OPDRIFT_METRICS_CONVERT_INL
#endif

#undef OPDRIFT_OWN_F16

#include "hwy/highway.h"

#include "opdrift/metrics/kernels/levels.hpp"

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_BEFORE_NAMESPACE();
namespace opdrift::metrics::kernels::HWY_NAMESPACE {

/// 16-bit floats to f32, and back with rounding to nearest even, beyond the range to infinity.
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_ARCH_X86 && HWY_TARGET >= HWY_SSE4
// Without F16C, Highway's conversions mistake NaN and infinity for numbers and truncate.
#define OPDRIFT_OWN_F16 1
#else
#define OPDRIFT_OWN_F16 0
#endif

inline HWY_ATTR void widen_f16(const std::uint16_t* bits, std::size_t count, float* out) {
  const hn::ScalableTag<float> df;
  const hn::Rebind<std::uint16_t, decltype(df)> du16;
#if OPDRIFT_OWN_F16
  const hn::RebindToUnsigned<decltype(df)> du;
  const hn::RebindToSigned<decltype(df)> di;
  const auto to_f32_bias = hn::Set(df, 0x1p112F);
  for (std::size_t i = 0; i < count; i += hn::Lanes(df)) {
    const auto wide = hn::PromoteTo(du, hn::LoadU(du16, bits + i));
    const auto sign = hn::ShiftLeft<16>(hn::And(wide, hn::Set(du, 0x8000U)));
    const auto magnitude = hn::And(wide, hn::Set(du, 0x7fffU));
    const auto shifted = hn::ShiftLeft<13>(magnitude);
    const auto finite = hn::BitCast(du, hn::Mul(hn::BitCast(df, shifted), to_f32_bias));
    const auto special = hn::Or(shifted, hn::Set(du, 0x7f800000U));
    const auto is_special = hn::Gt(hn::BitCast(di, magnitude), hn::Set(di, 0x7bff));
    const auto result = hn::IfThenElse(hn::RebindMask(du, is_special), special, finite);
    hn::StoreU(hn::BitCast(df, hn::Or(result, sign)), df, out + i);
  }
#else
  const hn::Rebind<hwy::float16_t, decltype(df)> dh;
  for (std::size_t i = 0; i < count; i += hn::Lanes(df)) {
    hn::StoreU(hn::PromoteTo(df, hn::BitCast(dh, hn::LoadU(du16, bits + i))), df, out + i);
  }
#endif
}

inline HWY_ATTR void widen_bf16(const std::uint16_t* bits, std::size_t count, float* out) {
  const hn::ScalableTag<float> df;
  const hn::RebindToUnsigned<decltype(df)> du32;
  const hn::Rebind<std::uint16_t, decltype(df)> du16;
  for (std::size_t i = 0; i < count; i += hn::Lanes(df)) {
    const auto wide = hn::ShiftLeft<16>(hn::PromoteTo(du32, hn::LoadU(du16, bits + i)));
    hn::StoreU(hn::BitCast(df, wide), df, out + i);
  }
}

/// One vector of finite values as f16 patterns.
template <class DF>
HWY_INLINE hn::Vec<hn::Rebind<std::uint16_t, DF>> narrowed_f16(DF df, hn::Vec<DF> values) {
  const hn::Rebind<std::uint16_t, DF> du16;
#if OPDRIFT_OWN_F16
  const hn::RebindToUnsigned<DF> du;
  const hn::RebindToSigned<DF> di;
  const auto bits = hn::BitCast(du, values);
  const auto sign = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 0x8000U));
  const auto magnitude = hn::And(bits, hn::Set(du, 0x7fffffffU));
  // Adding 0.5 makes the float adder round at 2^-24, the spacing of f16 subnormals.
  const auto at_half = hn::Add(hn::BitCast(df, magnitude), hn::Set(df, 0.5F));
  const auto subnormal = hn::Sub(hn::BitCast(du, at_half), hn::Set(du, 0x3f000000U));
  const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, 1U));
  const auto biased = hn::Sub(hn::Add(magnitude, odd), hn::Set(du, (112U << 23) - 0xfffU));
  const auto small = hn::Lt(hn::BitCast(di, magnitude), hn::Set(di, 0x38800000));
  const auto huge = hn::Gt(hn::BitCast(di, magnitude), hn::Set(di, 0x477fffff));
  auto result = hn::IfThenElse(hn::RebindMask(du, small), subnormal, hn::ShiftRight<13>(biased));
  result = hn::IfThenElse(hn::RebindMask(du, huge), hn::Set(du, 0x7c00U), result);
  return hn::DemoteTo(du16, hn::BitCast(di, hn::Or(result, sign)));
#else
  const hn::Rebind<hwy::float16_t, DF> dh;
  (void)df;
  return hn::BitCast(du16, hn::DemoteTo(dh, values));
#endif
}

/// One vector of finite values as bf16 patterns.
template <class DF>
HWY_INLINE hn::Vec<hn::Rebind<std::uint16_t, DF>> narrowed_bf16(DF, hn::Vec<DF> values) {
  const hn::RebindToUnsigned<DF> du;
  const hn::RebindToSigned<DF> di;
  const hn::Rebind<std::uint16_t, DF> du16;
  const auto bits = hn::BitCast(du, values);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1U));
  const auto rounded = hn::ShiftRight<16>(hn::Add(hn::Add(bits, odd), hn::Set(du, 0x7fffU)));
  return hn::DemoteTo(du16, hn::BitCast(di, rounded));
}

}  // namespace opdrift::metrics::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
#endif  // include guard
