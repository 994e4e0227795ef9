#include "opdrift/tensor/view.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "opdrift/base/check.hpp"
#include "opdrift/tensor/bit_pack.hpp"
#include "opdrift/tensor/block_axes.hpp"
#include "opdrift/tensor/tile_plan.hpp"

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

/// Strides of a tile in scratch memory. Rows that do not join to longer runs are set a cache line
/// apart from a power of two, or the rows of a transpose would fall on few lines of the cache.
std::uint64_t lay_out(const TilePlan& plan, const Box& box, std::size_t element_bytes,
                      TargetStrides& strides) {
  std::uint64_t volume = 1;
  bool joined = true;
  for (std::size_t i = plan.axes.size; i-- > 0;) {
    strides[i] = static_cast<std::int64_t>(volume);
    const std::uint64_t side = box.end[i] - box.begin[i];
    volume *= side;
    if (joined && side != plan.axes.axes[i].extent) {
      joined = false;
      if (volume * element_bytes % 512 == 0) {
        volume += 64 / element_bytes;
      }
    }
  }
  return volume;
}

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

TileReader::TileReader(const View& view)
    : plan_(std::make_shared<const TilePlan>(plan_tiles(view))), tile_count_(plan_->tiles) {}

const std::vector<Segment>& TileReader::read(std::uint64_t index) {
  OPDRIFT_CHECK(index < tile_count_);
  segments_.clear();
  switch (plan_->kind) {
    case TilePlan::Kind::in_place: read_in_place(index); break;
    case TilePlan::Kind::packed: read_packed(index); break;
    case TilePlan::Kind::box: read_box(index); break;
  }
  return segments_;
}

void TileReader::read_in_place(std::uint64_t index) {
  const std::uint64_t first = index * kFlatTile;
  const std::uint64_t bits = info(plan_->view.tensor.desc.dtype).bits;
  const std::uint64_t position = static_cast<std::uint64_t>(plan_->view.offset) + first;
  // kFlatTile elements are whole bytes for every dtype, and the offset was checked to be.
  const std::uint64_t byte =
      bits % 8 == 0 ? position * (bits / 8) : position / 8 * bits + position % 8 * bits / 8;
  segments_.push_back({first, std::min(kFlatTile, plan_->count - first),
                       plan_->view.tensor.bytes.span.data() + byte});
}

void TileReader::read_packed(std::uint64_t index) {
  const std::uint64_t first = index * kFlatTile;
  const std::uint64_t count = std::min(kFlatTile, plan_->count - first);
  scratch_.resize(
      static_cast<std::size_t>(*storage_bytes(plan_->view.tensor.desc.dtype, kFlatTile)));
  gather(plan_->view, first, count, scratch_.data());
  segments_.push_back({first, count, scratch_.data()});
}

void TileReader::read_box(std::uint64_t index) {
  const TensorDesc& desc = plan_->view.tensor.desc;
  const std::size_t element_bytes = info(desc.dtype).bits / 8;
  const BlockAxes& axes = plan_->axes;
  const Box box = plan_->box_of(index);
  TargetStrides strides;
  const std::uint64_t elements = lay_out(*plan_, box, element_bytes, strides);
  if (scratch_.size() < elements * element_bytes) {
    scratch_.resize(static_cast<std::size_t>(elements) * element_bytes);
  }
  const std::int64_t ahead =
      index + 1 < tile_count_ ? start_of(axes, plan_->box_of(index + 1)) - start_of(axes, box) : 0;
  copy_box(axes, box, strides, plan_->view.tensor.bytes.span.data(), scratch_.data(), element_bytes,
           ahead);
  if (desc.big_endian) {
    swap_bytes(desc.dtype, scratch_.data(), elements);
  }
  // Axes whole in this tile, and the one above them, make up a segment.
  std::size_t rows = axes.size;
  std::uint64_t run = 1;
  for (bool whole = true; rows > 0 && whole;) {
    --rows;
    run *= box.end[rows] - box.begin[rows];
    whole = box.end[rows] - box.begin[rows] == axes.axes[rows].extent;
  }
  std::array<std::uint64_t, kMostAxes> at = box.begin;
  for (bool more = true; more;) {
    std::uint64_t first = 0;
    std::int64_t place = 0;
    for (std::size_t i = 0; i < axes.size; ++i) {
      first = first * axes.axes[i].extent + at[i];
      place += static_cast<std::int64_t>(at[i] - box.begin[i]) * strides[i];
    }
    segments_.push_back(
        {first, run, scratch_.data() + static_cast<std::size_t>(place) * element_bytes});
    more = false;
    for (std::size_t i = rows; i-- > 0 && !more;) {
      more = ++at[i] < box.end[i];
      at[i] = more ? at[i] : box.begin[i];
    }
  }
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
