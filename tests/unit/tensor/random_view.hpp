#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "opdrift/tensor/bit_pack.hpp"
#include "opdrift/tensor/view.hpp"

/// Random views and the plain definition of what they show.
namespace opdrift::tensor::testing {

inline std::uint64_t pick(std::mt19937& random, std::uint64_t low, std::uint64_t high) {
  return std::uniform_int_distribution<std::uint64_t>(low, high)(random);
}

/// A tensor of `count` elements with random bytes, one byte into its buffer.
inline Tensor random_tensor(std::mt19937& random, DType dtype, std::uint64_t count) {
  std::vector<std::byte> buffer(*storage_bytes(dtype, count) + 1);
  for (std::size_t i = 0; i + 4 <= buffer.size(); i += 4) {
    const auto word = static_cast<std::uint32_t>(random());
    std::memcpy(buffer.data() + i, &word, 4);
  }
  Tensor tensor;
  tensor.desc.dtype = dtype;
  tensor.desc.shape = {count};
  tensor.bytes = own_bytes(std::move(buffer));
  tensor.bytes = tensor.bytes.part(1, tensor.bytes.size() - 1);
  return tensor;
}

/// Splits, permutes and crops a random row-major tensor.
inline View random_view(std::mt19937& random, DType dtype, std::uint64_t largest_extent) {
  const std::size_t rank = pick(random, 0, 4);
  std::vector<AxisMap> axes(rank);
  std::uint64_t stride = 1;
  for (AxisMap& axis : axes) {
    axis.extent = pick(random, 1, largest_extent);
    axis.outer_stride = static_cast<std::int64_t>(stride);
    stride *= axis.extent + pick(random, 0, 1);
    if (pick(random, 0, 2) == 0) {
      // A blocked axis: other axes come between its blocks and their elements.
      axis.inner = pick(random, 1, largest_extent);
      axis.inner_stride = axis.outer_stride;
      axis.outer_stride = static_cast<std::int64_t>(stride);
      stride *= axis.extent / axis.inner + 1;
      axis.extent = pick(random, 1, axis.extent);
    }
  }
  std::shuffle(axes.begin(), axes.end(), random);
  const std::uint64_t gap = pick(random, 0, 3);
  View view;
  view.tensor = random_tensor(random, dtype, stride * 2 + gap);
  view.axes = axes;
  view.offset = static_cast<std::int64_t>(gap);
  return view;
}

/// Element position of a logical index by the formula of AxisMap.
inline std::uint64_t position_of(const View& view, std::uint64_t index) {
  std::int64_t position = view.offset;
  for (std::size_t i = view.axes.size(); i-- > 0;) {
    const AxisMap& axis = view.axes[i];
    const std::uint64_t at = index % axis.extent;
    index /= axis.extent;
    position += static_cast<std::int64_t>(at / axis.inner) * axis.outer_stride +
                static_cast<std::int64_t>(at % axis.inner) * axis.inner_stride;
  }
  return static_cast<std::uint64_t>(position);
}

/// Bytes (or bit pattern of packed types) of one element, padded with zeros.
using Element = std::array<std::byte, 16>;

/// Element `index` of densely packed data.
inline Element element(DType dtype, const std::byte* data, std::uint64_t index, bool swap = false) {
  const unsigned bits = info(dtype).bits;
  Element bytes = {};
  if (bits % 8 != 0) {
    bytes[0] = static_cast<std::byte>(get_packed(data, index, bits));
    return bytes;
  }
  const std::size_t size = bits / 8;
  std::memcpy(bytes.data(), data + index * size, size);
  if (swap) {
    const std::size_t part = info(component_dtype(dtype)).bits / 8;
    for (std::size_t i = 0; i < size; i += part) {
      std::reverse(bytes.data() + i, bytes.data() + i + part);
    }
  }
  return bytes;
}

/// All elements of a view one by one, in logical order.
inline std::vector<Element> elements_of(const View& view) {
  std::vector<Element> all(view.count());
  for (std::uint64_t i = 0; i < all.size(); ++i) {
    all[i] = element(view.tensor.desc.dtype, view.tensor.bytes.span.data(), position_of(view, i),
                     view.tensor.desc.big_endian);
  }
  return all;
}

/// The same through `gather`.
inline std::vector<Element> gathered(const View& view) {
  const DType dtype = view.tensor.desc.dtype;
  std::vector<std::byte> buffer(*storage_bytes(dtype, view.count()));
  gather(view, 0, view.count(), buffer.data());
  std::vector<Element> all(view.count());
  for (std::uint64_t i = 0; i < all.size(); ++i) {
    all[i] = element(dtype, buffer.data(), i);
  }
  return all;
}

}  // namespace opdrift::tensor::testing
