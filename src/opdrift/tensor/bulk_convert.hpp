#pragma once

#include <cstddef>
#include <cstdint>

namespace opdrift::tensor {

/// Conversions of whole arrays, compiled once per instruction set and chosen at run time. `bytes`
/// need not be aligned and holds little-endian 16-bit patterns. Same results as float_bits.hpp on
/// every machine.
void f16_to_f32(const std::byte* bytes, std::size_t count, float* out);
void bf16_to_f32(const std::byte* bytes, std::size_t count, float* out);
void f32_to_f16(const float* values, std::size_t count, std::byte* out);
void f32_to_bf16(const float* values, std::size_t count, std::byte* out);

}  // namespace opdrift::tensor
