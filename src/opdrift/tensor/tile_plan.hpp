#pragma once

#include <array>
#include <cstdint>

#include "opdrift/tensor/block_axes.hpp"
#include "opdrift/tensor/view.hpp"

namespace opdrift::tensor {

/// Elements of a tile that is read where it lies, and of one that is rearranged.
inline constexpr std::uint64_t kFlatTile = 16384;
inline constexpr std::uint64_t kBoxTile = 8192;

/// How a view falls into tiles; shared by all readers of the view.
struct TilePlan {
  enum class Kind : std::uint8_t { in_place, packed, box };

  View view;
  Kind kind = Kind::in_place;
  std::uint64_t count = 0;  ///< elements
  std::uint64_t tiles = 0;
  BlockAxes axes;
  std::array<std::uint64_t, kMostAxes> tile;         ///< elements of a whole tile per axis
  std::array<std::uint64_t, kMostAxes> grid;         ///< tiles per axis
  std::array<std::uint8_t, kMostAxes> fast_to_slow;  ///< axes in the order tiles advance

  /// Ranges of tile `index`.
  Box box_of(std::uint64_t index) const;
};

TilePlan plan_tiles(const View& view);

}  // namespace opdrift::tensor
