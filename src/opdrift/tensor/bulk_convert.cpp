#include "opdrift/tensor/bulk_convert.hpp"

#include <cstring>

#include "opdrift/tensor/float_bits.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "opdrift/tensor/bulk_convert.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace opdrift::tensor::HWY_NAMESPACE {

// The loops are plain; the target attribute around this namespace lets the compiler use the
// vectors of the target for them.
HWY_ATTR void widen_f16(const std::byte* bytes, std::size_t count, float* out) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, bytes + 2 * i, 2);
    out[i] = tensor::f16_to_f32(bits);
  }
}

HWY_ATTR void widen_bf16(const std::byte* bytes, std::size_t count, float* out) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, bytes + 2 * i, 2);
    out[i] = tensor::bf16_to_f32(bits);
  }
}

HWY_ATTR void narrow_f16(const float* values, std::size_t count, std::byte* out) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint16_t bits = tensor::f32_to_f16(values[i]);
    std::memcpy(out + 2 * i, &bits, 2);
  }
}

HWY_ATTR void narrow_bf16(const float* values, std::size_t count, std::byte* out) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint16_t bits = tensor::f32_to_bf16(values[i]);
    std::memcpy(out + 2 * i, &bits, 2);
  }
}

}  // namespace opdrift::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opdrift::tensor {

HWY_EXPORT(widen_f16);
HWY_EXPORT(widen_bf16);
HWY_EXPORT(narrow_f16);
HWY_EXPORT(narrow_bf16);

void f16_to_f32(const std::byte* bytes, std::size_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(widen_f16)(bytes, count, out);
}

void bf16_to_f32(const std::byte* bytes, std::size_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(widen_bf16)(bytes, count, out);
}

void f32_to_f16(const float* values, std::size_t count, std::byte* out) {
  HWY_DYNAMIC_DISPATCH(narrow_f16)(values, count, out);
}

void f32_to_bf16(const float* values, std::size_t count, std::byte* out) {
  HWY_DYNAMIC_DISPATCH(narrow_bf16)(values, count, out);
}

}  // namespace opdrift::tensor
#endif
