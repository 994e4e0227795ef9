#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "opdrift/tensor/strided_copy.hpp"
#include "opdrift/tensor/view.hpp"

/// The inside of views: axes brought to the fewest possible, and rectangles of them copied.
namespace opdrift::tensor {

/// An axis in blocks of `inner` elements: index i lies at `(i / inner) * outer_stride +
/// (i % inner) * inner_stride`. A plain axis is one block (inner == extent).
struct BlockAxis {
  std::uint64_t extent;
  std::uint64_t inner;
  std::int64_t outer_stride;
  std::int64_t inner_stride;

  bool plain() const { return inner == extent; }
  std::int64_t position(std::uint64_t index) const {
    return static_cast<std::int64_t>(index / inner) * outer_stride +
           static_cast<std::int64_t>(index % inner) * inner_stride;
  }
};

/// Fewer than 2^62 elements allow at most this many axes of two or more.
inline constexpr std::size_t kMostAxes = 62;

/// Axes of two or more elements, outermost first. Members start uninitialised.
struct BlockAxes {
  std::array<BlockAxis, kMostAxes> axes;
  std::size_t size;
  std::int64_t offset;

  bool contiguous() const {
    return size == 0 || (size == 1 && axes[0].plain() && axes[0].inner_stride == 1);
  }
};

/// Drops axes of one element and joins neighbours that continue each other. The view must not be
/// empty.
BlockAxes simplified(const View& view);

/// One axis as blocks, not joined with others.
BlockAxis block_axis(const AxisMap& axis);

/// True when every element the view can reach lies inside its bytes.
bool within_bytes(const View& view);

using TargetStrides = std::array<std::int64_t, kMostAxes>;

/// A range of indices per axis; none empty.
struct Box {
  std::array<std::uint64_t, kMostAxes> begin;
  std::array<std::uint64_t, kMostAxes> end;
};

/// Copies the elements of `box` to `target`, axis k advancing by `target_strides[k]` elements.
/// `source` is element position 0 of the tensor; `ahead` is the distance in elements to the box
/// that will be copied next, 0 when none is known.
void copy_box(const BlockAxes& axes, const Box& box, const TargetStrides& target_strides,
              const std::byte* source, std::byte* target, std::size_t element_bytes,
              std::int64_t ahead = 0);

/// Element position of the first element of a box.
std::int64_t start_of(const BlockAxes& axes, const Box& box);

/// Reverses the bytes of every component (half of a complex element, else the element) in place.
void swap_bytes(DType dtype, std::byte* data, std::uint64_t count);

}  // namespace opdrift::tensor
