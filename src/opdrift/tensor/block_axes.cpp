#include "opdrift/tensor/block_axes.hpp"

#include <algorithm>
#include <cstring>

#include "opdrift/base/check.hpp"

namespace opdrift::tensor {

namespace {

/// Tries to express (outer, inner) as one axis, kept in `outer`.
bool join(BlockAxis& outer, const BlockAxis& inner) {
  if (inner.plain()) {
    if (outer.inner_stride != static_cast<std::int64_t>(inner.extent) * inner.inner_stride) {
      return false;
    }
    outer.extent *= inner.extent;
    outer.inner *= inner.extent;
    outer.inner_stride = inner.inner_stride;
    return true;
  }
  const auto blocks = static_cast<std::int64_t>(inner.extent / inner.inner);
  if (!outer.plain() || inner.extent % inner.inner != 0 ||
      outer.inner_stride != blocks * inner.outer_stride) {
    return false;
  }
  outer = {outer.extent * inner.extent, inner.inner, inner.outer_stride, inner.inner_stride};
  return true;
}

/// A part of an axis range that is at most two plain loops.
struct Part {
  std::int64_t source = 0;   // elements
  std::uint64_t first = 0;   // index within the range
  std::uint64_t blocks = 1;  // of the loops
  std::uint64_t per_block = 1;
};

struct Parts {
  std::array<Part, 3> parts;
  std::size_t size = 0;
};

/// Partial block, whole blocks, partial block.
Parts parts_of(const BlockAxis& axis, std::uint64_t begin, std::uint64_t end) {
  Parts result;
  std::uint64_t at = begin;
  while (at < end) {
    const std::uint64_t in_block = at % axis.inner;
    const std::uint64_t left = end - at;
    Part part;
    part.source = axis.position(at);
    part.first = at - begin;
    part.per_block = std::min(axis.inner - in_block, left);
    if (in_block == 0 && left >= axis.inner) {
      part.blocks = left / axis.inner;
    }
    at += part.blocks * part.per_block;
    result.parts[result.size++] = part;
  }
  return result;
}

class BoxCopy {
 public:
  BoxCopy(const BlockAxes& axes, const Box& box, const TargetStrides& target_strides,
          const std::byte* source, std::byte* target, std::size_t element_bytes,
          std::int64_t ahead_bytes)
      : axes_(axes),
        box_(box),
        target_strides_(target_strides),
        source_(source),
        target_(target),
        element_bytes_(element_bytes),
        ahead_bytes_(ahead_bytes) {}

  void run(std::size_t axis, std::int64_t source, std::int64_t target, CopyNest& nest) const {
    if (axis == axes_.size) {
      const auto bytes = static_cast<std::int64_t>(element_bytes_);
      strided_copy(source_ + source * bytes, target_ + target * bytes, element_bytes_, nest,
                   ahead_bytes_);
      return;
    }
    const BlockAxis& shape = axes_.axes[axis];
    const std::int64_t step = target_strides_[axis];
    const Parts parts = parts_of(shape, box_.begin[axis], box_.end[axis]);
    const std::size_t depth = nest.size;
    for (std::size_t i = 0; i < parts.size; ++i) {
      const Part& part = parts.parts[i];
      nest.push(
          {part.blocks, shape.outer_stride, step * static_cast<std::int64_t>(part.per_block)});
      nest.push({part.per_block, shape.inner_stride, step});
      run(axis + 1, source + part.source, target + step * static_cast<std::int64_t>(part.first),
          nest);
      nest.size = depth;
    }
  }

 private:
  const BlockAxes& axes_;
  const Box& box_;
  const TargetStrides& target_strides_;
  const std::byte* source_;
  std::byte* target_;
  std::size_t element_bytes_;
  std::int64_t ahead_bytes_;
};

std::uint16_t swapped16(std::uint16_t bits) {
  return __builtin_bswap16(bits);
}

std::uint32_t swapped32(std::uint32_t bits) {
  return __builtin_bswap32(bits);
}

std::uint64_t swapped64(std::uint64_t bits) {
  return __builtin_bswap64(bits);
}

template <typename Word>
void swap_each(std::byte* data, std::uint64_t count, Word (*swapped)(Word)) {
  for (std::uint64_t i = 0; i < count; ++i) {
    Word bits = 0;
    std::memcpy(&bits, data + i * sizeof(Word), sizeof(Word));
    bits = swapped(bits);
    std::memcpy(data + i * sizeof(Word), &bits, sizeof(Word));
  }
}

}  // namespace

BlockAxis block_axis(const AxisMap& axis) {
  if (axis.inner <= 1) {
    return {axis.extent, axis.extent, 0, axis.outer_stride};
  }
  const bool one_block = axis.extent <= axis.inner;
  if (one_block || axis.outer_stride == static_cast<std::int64_t>(axis.inner) * axis.inner_stride) {
    return {axis.extent, axis.extent, 0, axis.inner_stride};
  }
  return {axis.extent, axis.inner, axis.outer_stride, axis.inner_stride};
}

BlockAxes simplified(const View& view) {
  BlockAxes result;
  result.size = 0;
  result.offset = view.offset;
  for (const AxisMap& axis : view.axes) {
    if (axis.extent == 1) {
      continue;
    }
    const BlockAxis next = block_axis(axis);
    if (result.size == 0 || !join(result.axes[result.size - 1], next)) {
      OPDRIFT_CHECK(result.size < result.axes.size());
      result.axes[result.size++] = next;
    }
  }
  return result;
}

bool within_bytes(const View& view) {
  const unsigned bits = info(view.tensor.desc.dtype).bits;
  std::int64_t lowest = view.offset;
  std::int64_t highest = view.offset;
  for (const AxisMap& map : view.axes) {
    if (map.extent == 0) {
      return true;
    }
    const BlockAxis axis = block_axis(map);
    const std::uint64_t last = axis.extent - 1;
    const std::int64_t ends[] = {
        axis.position(last), axis.position(std::min(last, axis.inner - 1)),
        axis.position(last - last % axis.inner),
        last < axis.inner ? 0 : axis.position(last - last % axis.inner - 1)};
    lowest += std::min<std::int64_t>(0, *std::min_element(std::begin(ends), std::end(ends)));
    highest += std::max<std::int64_t>(0, *std::max_element(std::begin(ends), std::end(ends)));
  }
  if (bits == 0 || lowest < 0) {
    return false;
  }
  const std::uint64_t elements =
      view.tensor.bytes.size() / bits * 8 + view.tensor.bytes.size() % bits * 8 / bits;
  return static_cast<std::uint64_t>(highest) < elements;
}

void copy_box(const BlockAxes& axes, const Box& box, const TargetStrides& target_strides,
              const std::byte* source, std::byte* target, std::size_t element_bytes,
              std::int64_t ahead) {
  CopyNest nest;
  nest.size = 0;
  const std::int64_t ahead_bytes = ahead * static_cast<std::int64_t>(element_bytes);
  BoxCopy(axes, box, target_strides, source, target, element_bytes, ahead_bytes)
      .run(0, axes.offset, 0, nest);
}

std::int64_t start_of(const BlockAxes& axes, const Box& box) {
  std::int64_t position = axes.offset;
  for (std::size_t i = 0; i < axes.size; ++i) {
    position += axes.axes[i].position(box.begin[i]);
  }
  return position;
}

void swap_bytes(DType dtype, std::byte* data, std::uint64_t count) {
  const std::size_t component = info(component_dtype(dtype)).bits / 8;
  const std::uint64_t components = count * (info(dtype).bits / 8 / component);
  switch (component) {
    case 2: return swap_each<std::uint16_t>(data, components, &swapped16);
    case 4: return swap_each<std::uint32_t>(data, components, &swapped32);
    case 8: return swap_each<std::uint64_t>(data, components, &swapped64);
    default: OPDRIFT_CHECK(component <= 1);
  }
}

}  // namespace opdrift::tensor
