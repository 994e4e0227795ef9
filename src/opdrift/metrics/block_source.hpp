#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "opdrift/metrics/kernels/levels.hpp"
#include "opdrift/tensor/view.hpp"

/// Brings views to the kernels: blocks of at most kBlock pairs in logical order, converted to float
/// (or double where a float cannot hold a dtype), without copying what lies ready in memory.
///
/// Work is cut into shards of about kShardElements, by the views alone, so the sums of a shard, and
/// their total in shard order, are the same for any number of threads. Complex elements are walked
/// as twice as many reals.
namespace opdrift::metrics {

inline constexpr std::uint64_t kShardElements = std::uint64_t{1} << 22;

/// Flat index of an element of a block.
struct IndexMap {
  struct Run {
    std::size_t position = 0;  ///< first element of the run within the block
    std::uint64_t first = 0;   ///< its flat index
  };
  std::span<const Run> runs;  ///< rising positions, the first at 0

  std::uint64_t index_of(std::size_t position) const;
};

/// One side of a block, either as float or as double. `bits16` are the stored patterns of an f16 or
/// bf16 side, when they lie ready.
struct BlockSide {
  const float* f32 = nullptr;
  const double* f64 = nullptr;
  const std::uint16_t* bits16 = nullptr;
  const std::byte* stored = nullptr;  ///< the elements as stored, when they are whole bytes
  const std::byte* next = nullptr;    ///< bytes that the next block will need
  std::size_t next_bytes = 0;
};

/// Pairs of one block. Both sides are of one type. `equal_bits` counts pairs equal as stored; only
/// set for 64-bit integers, whose doubles may be equal when they are not.
struct Block {
  std::size_t count = 0;
  BlockSide golden;
  BlockSide target;
  IndexMap where;
  std::optional<std::uint64_t> equal_bits = std::nullopt;
};

/// Takes blocks in order, one thread at a time.
class BlockSink {
 public:
  virtual ~BlockSink() = default;
  virtual void take(const Block& block) = 0;
};

/// How values are brought to the kernels.
struct Precision {
  const kernels::KernelTable* table = nullptr;  ///< nullptr: plain arithmetic, blocks of double
  bool wide = false;                            ///< blocks of double
  bool rounded_to_float32 = false;              ///< round every value to float first
};

/// A golden and the targets that share its tiles.
class BlockSource {
 public:
  /// Views must outlive the source. Every target has the element count of the golden, and agrees
  /// with it in being complex or not; several targets must all satisfy tiles_agree. `limit`: only
  /// the first elements, 0 for all.
  BlockSource(const tensor::View& golden, std::span<const tensor::View* const> targets,
              const Precision& precision, std::uint64_t limit);

  std::uint64_t count() const { return limit_; }  ///< reals that a whole walk delivers
  std::size_t shard_count() const { return shard_count_; }
  /// Sends shard `shard` to one sink per target. Different shards may be walked at the same time.
  void walk(std::size_t shard, std::span<BlockSink* const> sinks) const;

  /// True when the tiles of golden and target are cut alike, so that they can share a walk.
  static bool tiles_agree(const tensor::View& golden, const tensor::View& target);

 private:
  void walk_flat(std::size_t shard, std::span<BlockSink* const> sinks) const;
  void walk_tiles(std::size_t shard, const tensor::View& target, BlockSink& sink) const;

  const tensor::View* golden_;
  std::vector<const tensor::View*> targets_;
  Precision precision_;
  std::uint64_t limit_ = 0;  // reals to walk
  bool flat_ = true;
  std::uint64_t tile_count_ = 0;
  std::uint64_t tiles_per_shard_ = 0;
  std::size_t shard_count_ = 0;
};

}  // namespace opdrift::metrics
