#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace opdrift::tensor {

/// One loop of a copy: `count` steps, in elements of the source and of the target.
struct CopyLoop {
  std::uint64_t count;
  std::int64_t source_step;
  std::int64_t target_step;
};

/// Loops of a rectangular copy in any order. Loops of one step are left out, so that fewer than
/// 2^62 elements need at most 62 loops. Members start uninitialised: nests are built per tile.
struct CopyNest {
  std::array<CopyLoop, 62> loops;
  std::size_t size;

  void push(const CopyLoop& loop) {
    loops[size] = loop;
    size += loop.count == 1 ? 0U : 1U;
  }
};

/// Copies the elements that the nest enumerates. Element sizes: 1, 2, 4, 8, 16 bytes; neither side
/// needs alignment; the sides must not overlap.
///
/// Reads in the order of the source addresses, since the target is a tile in the cache. Three
/// kernels: runs contiguous on both sides are copied whole; a run contiguous in the source against
/// another contiguous in the target is transposed in blocks of 16 bytes a side; the rest goes
/// element by element.
///
/// `ahead_bytes` says how far behind each byte its counterpart in the next copy lies; that place is
/// fetched into the cache on the way (0: nothing is known of a next copy). The many short pieces of
/// a tile start anew in each tile, too late for the processor to foresee them.
void strided_copy(const std::byte* source, std::byte* target, std::size_t element_bytes,
                  const CopyNest& nest, std::int64_t ahead_bytes);

}  // namespace opdrift::tensor
