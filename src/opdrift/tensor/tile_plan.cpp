#include "opdrift/tensor/tile_plan.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "opdrift/base/check.hpp"
#include "opdrift/tensor/bit_pack.hpp"

namespace opdrift::tensor {

namespace {

/// A source run below this many elements wastes most of its cache lines unless its neighbours
/// along the next axis are read with it.
constexpr std::uint64_t kShortRun = 64;
/// Neighbours wanted then: 32 rows of 16 halves are 1 KiB in one piece.
constexpr std::uint64_t kNeighbours = 32;

std::int64_t smallest_stride(const BlockAxis& axis) {
  return std::abs(axis.inner_stride);
}

class SideChooser {
 public:
  explicit SideChooser(TilePlan& plan) : plan_(plan), last_(plan.axes.size - 1) {
    plan_.tile.fill(1);
  }

  void choose() {
    const std::size_t run = run_axis();
    if (run <= last_) {
      const std::uint64_t block = plan_.axes.axes[run].inner;
      grow(run, run == last_ ? block : std::min(block, kShortRun));
    }
    if (run != last_) {
      grow(last_, kBoxTile);
    }
    if (run <= last_ && plan_.tile[run] < kShortRun) {
      grow(neighbour_axis(run), kNeighbours);
    }
    for (std::size_t i = last_ + 1; i-- > 0;) {
      grow(i, kBoxTile);
    }
  }

 private:
  /// The axis whose blocks are contiguous in the source; behind the last when there is none.
  std::size_t run_axis() const {
    std::size_t best = last_ + 1;
    for (std::size_t i = 0; i <= last_; ++i) {
      const BlockAxis& axis = plan_.axes.axes[i];
      if (axis.inner_stride == 1 && (best > last_ || axis.inner > plan_.axes.axes[best].inner)) {
        best = i;
      }
    }
    return best;
  }

  /// The axis that continues the runs of axis `run` in memory.
  std::size_t neighbour_axis(std::size_t run) const {
    std::size_t best = run;
    for (std::size_t i = 0; i <= last_; ++i) {
      const bool closer = best == run || smallest_stride(plan_.axes.axes[i]) <
                                             smallest_stride(plan_.axes.axes[best]);
      if (i != run && closer) {
        best = i;
      }
    }
    return best;
  }

  /// Extends a side to at most `wanted` elements: within the first block, then by whole blocks.
  void grow(std::size_t index, std::uint64_t wanted) {
    const BlockAxis& axis = plan_.axes.axes[index];
    std::uint64_t& side = plan_.tile[index];
    const std::uint64_t most = std::min({wanted, kBoxTile / (used_ / side), axis.extent});
    const std::uint64_t blocks = most / axis.inner;
    const std::uint64_t grown = blocks > 0 ? blocks * axis.inner : std::min(most, axis.inner);
    // A last block that is not full must not stop a side from covering its axis.
    const std::uint64_t better = most == axis.extent ? most : grown;
    if (better > side) {
      used_ = used_ / side * better;
      side = better;
    }
  }

  TilePlan& plan_;
  std::size_t last_;
  std::uint64_t used_ = 1;
};

/// Tiles along an axis. A side shorter than a block never reaches over the end of one.
std::uint64_t tiles_along(const BlockAxis& axis, std::uint64_t side) {
  const auto pieces = [side](std::uint64_t elements) {
    return elements / side + (elements % side != 0 ? 1 : 0);
  };
  if (side >= axis.inner) {
    return pieces(axis.extent);
  }
  return axis.extent / axis.inner * pieces(axis.inner) + pieces(axis.extent % axis.inner);
}

void range_along(const BlockAxis& axis, std::uint64_t side, std::uint64_t tile,
                 std::uint64_t& begin, std::uint64_t& end) {
  if (side >= axis.inner) {
    begin = tile * side;
    end = std::min(begin + side, axis.extent);
    return;
  }
  const std::uint64_t per_block = axis.inner / side + (axis.inner % side != 0 ? 1 : 0);
  const std::uint64_t block = tile / per_block * axis.inner;
  begin = block + tile % per_block * side;
  end = std::min({begin + side, block + axis.inner, axis.extent});
}

/// How far the source moves from one tile to the next along an axis.
std::int64_t advance(const BlockAxis& axis, std::uint64_t side) {
  const std::uint64_t blocks = side / axis.inner;
  return blocks > 0 && !axis.plain()
             ? std::abs(axis.outer_stride) * static_cast<std::int64_t>(blocks)
             : std::abs(axis.inner_stride) * static_cast<std::int64_t>(side);
}

void plan_boxes(TilePlan& plan) {
  SideChooser(plan).choose();
  plan.tiles = 1;
  for (std::size_t i = 0; i < plan.axes.size; ++i) {
    plan.grid[i] = tiles_along(plan.axes.axes[i], plan.tile[i]);
    plan.tiles *= plan.grid[i];
  }
  auto* order = plan.fast_to_slow.data();
  std::iota(order, order + plan.axes.size, std::uint8_t{0});
  std::stable_sort(order, order + plan.axes.size, [&](std::uint8_t x, std::uint8_t y) {
    return advance(plan.axes.axes[x], plan.tile[x]) < advance(plan.axes.axes[y], plan.tile[y]);
  });
}

}  // namespace

Box TilePlan::box_of(std::uint64_t index) const {
  Box box;
  for (std::size_t i = 0; i < axes.size; ++i) {
    const std::size_t axis = fast_to_slow[i];
    range_along(axes.axes[axis], tile[axis], index % grid[axis], box.begin[axis], box.end[axis]);
    index /= grid[axis];
  }
  return box;
}

TilePlan plan_tiles(const View& view) {
  TilePlan plan;
  plan.view = view;
  plan.count = view.count();
  if (plan.count == 0) {
    return plan;
  }
  OPDRIFT_CHECK(within_bytes(view));
  plan.axes = simplified(view);
  const DTypeInfo& dtype = info(view.tensor.desc.dtype);
  const bool swapped = view.tensor.desc.big_endian && dtype.bits > 8;
  const bool on_byte = static_cast<std::uint64_t>(view.offset) * dtype.bits % 8 == 0;
  if (plan.axes.contiguous() && !swapped && on_byte) {
    plan.kind = TilePlan::Kind::in_place;
  } else if (is_packed(view.tensor.desc.dtype) || plan.axes.size == 0) {
    plan.kind = TilePlan::Kind::packed;
  } else {
    plan.kind = TilePlan::Kind::box;
    plan_boxes(plan);
    return plan;
  }
  plan.tiles = plan.count / kFlatTile + (plan.count % kFlatTile != 0 ? 1 : 0);
  return plan;
}

}  // namespace opdrift::tensor
