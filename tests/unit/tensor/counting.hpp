#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "opdrift/tensor/view.hpp"

namespace opdrift::tensor::testing {

/// Element i holds first + i: every position can be told from every other.
inline Tensor counting(Format format, const Shape& shape, std::uint32_t first = 0) {
  const std::uint64_t count = element_count(shape).value();
  std::vector<std::byte> bytes(count * 4);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t value = first + i;
    std::memcpy(&bytes[std::size_t{4} * i], &value, 4);
  }
  Tensor tensor;
  tensor.desc.dtype = DType::u32;
  tensor.desc.format = format;
  tensor.desc.shape = shape;
  tensor.bytes = own_bytes(std::move(bytes));
  return tensor;
}

/// All elements of a uint32 view in logical order.
inline std::vector<std::uint32_t> values(const View& view) {
  std::vector<std::uint32_t> all(view.count());
  gather(view, 0, view.count(), reinterpret_cast<std::byte*>(all.data()));
  return all;
}

}  // namespace opdrift::tensor::testing
