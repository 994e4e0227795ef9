#include <algorithm>
#include <array>
#include <vector>

#include "opdrift/base/check.hpp"
#include "opdrift/tensor/block_axes.hpp"
#include "opdrift/tensor/tile_plan.hpp"
#include "opdrift/tensor/view.hpp"

namespace opdrift::tensor {

namespace {

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

/// Segments of a tile laid out at `scratch`: axes whole in the tile, and the one above them, make
/// up one.
void add_segments(const BlockAxes& axes, const Box& box, const TargetStrides& strides,
                  const std::byte* scratch, std::size_t element_bytes,
                  std::vector<Segment>& segments) {
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
    segments.push_back({first, run, scratch + static_cast<std::size_t>(place) * element_bytes});
    more = false;
    for (std::size_t i = rows; i-- > 0 && !more;) {
      more = ++at[i] < box.end[i];
      at[i] = more ? at[i] : box.begin[i];
    }
  }
}

}  // namespace

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
  add_segments(axes, box, strides, scratch_.data(), element_bytes, segments_);
}

}  // namespace opdrift::tensor
