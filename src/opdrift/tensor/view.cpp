#include "opdrift/tensor/view.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "opdrift/base/check.hpp"
#include "opdrift/tensor/bit_pack.hpp"
#include "opdrift/tensor/block_axes.hpp"

namespace opdrift::tensor {

namespace {

constexpr std::uint64_t kMostMaterialised = std::uint64_t{16} << 30U;

Error uncovered(const TensorDesc& desc, const Shape& shape, std::uint64_t found) {
  return Error{ErrorCode::data_mismatch, "expected bytes for shape [" + to_string(shape) + "] of " +
                                             std::string(name_of(desc.dtype)) + ", found " +
                                             std::to_string(found)};
}

/// Fails unless the bytes hold `count` elements.
Status covers(const Tensor& tensor, const Shape& shape, std::uint64_t count) {
  if (count == 0) {
    return Unit{};
  }
  if (info(tensor.desc.dtype).bits == 0) {
    return Error{
        ErrorCode::unsupported_dtype,
        "elements of type " + std::string(name_of(tensor.desc.dtype)) + " have no known size"};
  }
  const auto needed = storage_bytes(tensor.desc.dtype, count);
  if (!needed.has_value() || *needed > tensor.bytes.size()) {
    return uncovered(tensor.desc, shape, tensor.bytes.size());
  }
  return Unit{};
}

std::vector<AxisMap> row_major(const Shape& shape) {
  std::vector<AxisMap> axes(shape.size());
  std::uint64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    axes[i].extent = shape[i];
    axes[i].outer_stride = static_cast<std::int64_t>(stride);
    stride *= shape[i];
  }
  return axes;
}

/// Highest element position reached by the strides of a description; nothing when it or the lowest
/// lies outside what 63 bits hold or below 0.
bool strides_reach(const TensorDesc& desc, std::uint64_t& highest) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  highest = 0;
  for (std::size_t i = 0; i < desc.shape.size(); ++i) {
    const std::uint64_t steps = desc.shape[i] - 1;
    if (desc.strides[i] < 0 && steps > 0) {
      return false;
    }
    const auto stride = static_cast<std::uint64_t>(desc.strides[i]);
    if (steps > 0 && stride > (kMost - highest) / steps) {
      return false;
    }
    highest += steps > 0 ? stride * steps : 0;
  }
  return true;
}

std::uint64_t element_position(const BlockAxes& axes, std::uint64_t index) {
  std::int64_t position = axes.offset;
  for (std::size_t i = axes.size; i-- > 0;) {
    position += axes.axes[i].position(index % axes.axes[i].extent);
    index /= axes.axes[i].extent;
  }
  return static_cast<std::uint64_t>(position);
}

void gather_packed(const View& view, const BlockAxes& axes, std::uint64_t first,
                   std::uint64_t count, std::byte* out) {
  const unsigned bits = info(view.tensor.desc.dtype).bits;
  std::memset(out, 0, static_cast<std::size_t>((count * bits + 7) / 8));
  const std::byte* data = view.tensor.bytes.span.data();
  for (std::uint64_t i = 0; i < count; ++i) {
    put_packed(out, i, bits, get_packed(data, element_position(axes, first + i), bits));
  }
}

/// Cuts a logical range into boxes and copies them one behind the other.
class RangeGather {
 public:
  RangeGather(const BlockAxes& axes, const std::byte* source, std::byte* out,
              std::size_t element_bytes)
      : axes_(axes), source_(source), out_(out), element_bytes_(element_bytes) {
    std::uint64_t below = 1;
    for (std::size_t i = axes.size; i-- > 0;) {
      below_[i] = below;
      below *= axes.axes[i].extent;
    }
  }

  /// Elements [first, first + count) of the axes from `level` on, outer ones being fixed.
  void range(std::size_t level, std::uint64_t first, std::uint64_t count) {
    if (level == axes_.size) {
      copy(level);
      return;
    }
    const std::uint64_t below = below_[level];
    if (first % below != 0) {
      const std::uint64_t head = std::min(count, below - first % below);
      fix(level, first / below, 1);
      range(level + 1, first % below, head);
      first += head;
      count -= head;
    }
    if (count >= below) {
      fix(level, first / below, count / below);
      copy(level + 1);
      first += count / below * below;
      count %= below;
    }
    if (count > 0) {
      fix(level, first / below, 1);
      range(level + 1, 0, count);
    }
  }

 private:
  void fix(std::size_t level, std::uint64_t begin, std::uint64_t count) {
    box_.begin[level] = begin;
    box_.end[level] = begin + count;
  }

  /// Copies the box whose axes from `level` on are whole.
  void copy(std::size_t level) {
    for (std::size_t i = level; i < axes_.size; ++i) {
      fix(i, 0, axes_.axes[i].extent);
    }
    TargetStrides strides;
    std::uint64_t volume = 1;
    for (std::size_t i = axes_.size; i-- > 0;) {
      strides[i] = static_cast<std::int64_t>(volume);
      volume *= box_.end[i] - box_.begin[i];
    }
    copy_box(axes_, box_, strides, source_, out_, element_bytes_);
    out_ += volume * element_bytes_;
  }

  const BlockAxes& axes_;
  const std::byte* source_;
  std::byte* out_;
  std::size_t element_bytes_;
  std::array<std::uint64_t, kMostAxes> below_;
  Box box_;
};

}  // namespace

std::uint64_t View::count() const {
  std::uint64_t product = 1;
  for (const AxisMap& axis : axes) {
    product *= axis.extent;
  }
  return product;
}

Shape View::shape() const {
  Shape extents;
  extents.reserve(axes.size());
  for (const AxisMap& axis : axes) {
    extents.push_back(axis.extent);
  }
  return extents;
}

bool View::contiguous() const {
  return count() == 0 || simplified(*this).contiguous();
}

Result<View> stored_view(const Tensor& tensor) {
  const TensorDesc& desc = tensor.desc;
  if (desc.strides.empty()) {
    return shaped_view(tensor, desc.shape);
  }
  OPDRIFT_TRY(const std::uint64_t count, element_count(desc.shape));
  if (desc.strides.size() != desc.shape.size()) {
    return Error{ErrorCode::bad_shape, "expected " + std::to_string(desc.shape.size()) +
                                           " strides, found " +
                                           std::to_string(desc.strides.size())};
  }
  View view{tensor, row_major(desc.shape), 0};
  std::uint64_t highest = 0;
  if (count > 0 && !strides_reach(desc, highest)) {
    return uncovered(desc, desc.shape, tensor.bytes.size());
  }
  OPDRIFT_CHECK_OK(covers(tensor, desc.shape, count == 0 ? 0 : highest + 1));
  for (std::size_t i = 0; i < desc.strides.size(); ++i) {
    view.axes[i].outer_stride = desc.strides[i];
  }
  return view;
}

Result<View> shaped_view(const Tensor& tensor, const Shape& shape) {
  OPDRIFT_TRY(const std::uint64_t count, element_count(shape));
  OPDRIFT_CHECK_OK(covers(tensor, shape, count));
  return View{tensor, row_major(shape), 0};
}

Result<View> flat_view(const Tensor& tensor, std::uint64_t count) {
  return shaped_view(tensor, {count});
}

bool column_major(const View& view) {
  if (view.count() == 0 || view.contiguous()) {
    return false;
  }
  std::int64_t expected = 1;
  for (const AxisMap& map : view.axes) {
    if (map.extent == 1) {
      continue;
    }
    const BlockAxis axis = block_axis(map);
    if (!axis.plain() || axis.inner_stride != expected) {
      return false;
    }
    expected *= static_cast<std::int64_t>(axis.extent);
  }
  return true;
}

void gather(const View& view, std::uint64_t first, std::uint64_t count, std::byte* out) {
  if (count == 0) {
    return;
  }
  OPDRIFT_CHECK(within_bytes(view));
  const BlockAxes axes = simplified(view);
  const TensorDesc& desc = view.tensor.desc;
  const std::byte* source = view.tensor.bytes.span.data();
  if (is_packed(desc.dtype)) {
    gather_packed(view, axes, first, count, out);
    return;
  }
  const std::size_t element_bytes = info(desc.dtype).bits / 8;
  if (axes.contiguous()) {
    std::memcpy(out, source + (static_cast<std::uint64_t>(axes.offset) + first) * element_bytes,
                static_cast<std::size_t>(count) * element_bytes);
  } else {
    RangeGather(axes, source, out, element_bytes).range(0, first, count);
  }
  if (desc.big_endian) {
    swap_bytes(desc.dtype, out, count);
  }
}

Result<Tensor> materialise(const View& view, Format format) {
  const std::uint64_t count = view.count();
  const auto bytes = storage_bytes(view.tensor.desc.dtype, count);
  if (count > 0 && (!bytes.has_value() || *bytes > kMostMaterialised)) {
    return Error{ErrorCode::limit, "expected at most 16 GiB to copy, found shape [" +
                                       to_string(view.shape()) + "] of " +
                                       std::string(name_of(view.tensor.desc.dtype))};
  }
  std::vector<std::byte> buffer(count == 0 ? 0 : static_cast<std::size_t>(*bytes));
  gather(view, 0, count, buffer.data());
  Tensor tensor{view.tensor.desc, own_bytes(std::move(buffer))};
  tensor.desc.shape = view.shape();
  tensor.desc.format = format;
  tensor.desc.strides.clear();
  tensor.desc.big_endian = false;
  return tensor;
}

}  // namespace opdrift::tensor
