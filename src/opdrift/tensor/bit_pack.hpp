#pragma once

#include <cstddef>
#include <cstdint>

#include "opdrift/tensor/dtype.hpp"

/// Elements of less than one byte.
///
///   u1                    most significant bit of each byte first
///   i2 u2 i4 u4 fp4 fp6   a stream of bits, least significant bit of each byte first: element i
///                         takes bits [i*w, i*w + w); for 4 bits the low half of a byte comes first
///
/// Only the order of u1 is known from the device's tools. The order of the others is opdrift's
/// choice, the one ONNX and the machine-learning libraries use.
namespace opdrift::tensor {

/// True for types whose element is not a whole number of bytes.
inline bool is_packed(DType dtype) {
  return info(dtype).bits % 8 != 0;
}

/// Bit pattern of element `index`.
inline unsigned get_packed(const std::byte* data, std::uint64_t index, unsigned bits) {
  if (bits == 1) {
    return (std::to_integer<unsigned>(data[index / 8]) >> (7U - index % 8)) & 1U;
  }
  const std::uint64_t position = index * bits;
  const auto shift = static_cast<unsigned>(position % 8);
  unsigned window = std::to_integer<unsigned>(data[position / 8]);
  if (shift + bits > 8) {
    window |= std::to_integer<unsigned>(data[position / 8 + 1]) << 8U;
  }
  return (window >> shift) & ((1U << bits) - 1U);
}

/// Writes element `index`; the bits must have been zero before.
inline void put_packed(std::byte* data, std::uint64_t index, unsigned bits, unsigned code) {
  if (bits == 1) {
    data[index / 8] |= static_cast<std::byte>(code << (7U - index % 8));
    return;
  }
  const std::uint64_t position = index * bits;
  const auto shift = static_cast<unsigned>(position % 8);
  data[position / 8] |= static_cast<std::byte>((code << shift) & 0xffU);
  if (shift + bits > 8) {
    data[position / 8 + 1] |= static_cast<std::byte>(code >> (8U - shift));
  }
}

}  // namespace opdrift::tensor
