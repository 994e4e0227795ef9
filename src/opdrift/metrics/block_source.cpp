#include "opdrift/metrics/block_source.hpp"

#include <algorithm>
#include <cstring>

#include "opdrift/metrics/side_reader.hpp"

namespace opdrift::metrics {

namespace {

using kernels::kBlock;
using tensor::DType;
using tensor::View;

std::uint64_t parts_of(const View& view) {
  const DType dtype = view.tensor.desc.dtype;
  return tensor::component_dtype(dtype) == dtype ? 1 : 2;
}

bool is_integer64(DType dtype) {
  return dtype == DType::i64 || dtype == DType::u64 || dtype == DType::resource;
}

/// Doubles cannot tell all 64-bit integers apart; their bytes can.
std::optional<std::uint64_t> equal_integers(const View& golden, const View& target,
                                            const BlockSide& g, const BlockSide& t,
                                            std::size_t count) {
  const DType dtype = golden.tensor.desc.dtype;
  if (dtype != target.tensor.desc.dtype || !is_integer64(dtype)) {
    return std::nullopt;
  }
  std::uint64_t equal = 0;
  for (std::size_t i = 0; i < count; ++i) {
    equal += std::memcmp(g.stored + 8 * i, t.stored + 8 * i, 8) == 0 ? 1U : 0U;
  }
  return equal;
}

/// The pieces of the side that follows a tile lie far apart, so the processor does not foresee
/// them.
constexpr std::uint64_t kFetchAhead = 4096;

/// Joins runs that are too short for a block of their own.
class BlockBuilder {
 public:
  explicit BlockBuilder(BlockSink& sink) : sink_(&sink) {}

  bool empty() const { return count_ == 0; }

  /// `piece` has one run; it is split where the block is full.
  void append(const Block& piece) {
    equal_bits_ = piece.equal_bits ? equal_bits_.value_or(0) + *piece.equal_bits : equal_bits_;
    for (std::size_t done = 0; done < piece.count;) {
      const std::size_t n = std::min(piece.count - done, kBlock - count_);
      runs_.push_back({count_, piece.where.index_of(done)});
      copy(piece.golden, done, n, golden_f32_, golden_f64_);
      copy(piece.target, done, n, target_f32_, target_f64_);
      done += n;
      count_ += n;
      if (count_ == kBlock) {
        flush();
      }
    }
  }

  void flush() {
    if (count_ > 0) {
      const bool wide = golden_f32_.empty();
      Block block;
      block.count = count_;
      block.golden.f32 = wide ? nullptr : golden_f32_.data();
      block.golden.f64 = wide ? golden_f64_.data() : nullptr;
      block.target.f32 = wide ? nullptr : target_f32_.data();
      block.target.f64 = wide ? target_f64_.data() : nullptr;
      block.where.runs = runs_;
      block.equal_bits = equal_bits_;
      sink_->take(block);
    }
    count_ = 0;
    runs_.clear();
    equal_bits_.reset();
  }

 private:
  void copy(const BlockSide& side, std::size_t first, std::size_t count, std::vector<float>& f32,
            std::vector<double>& f64) const {
    if (side.f32 != nullptr) {
      f32.resize(kBlock);
      std::copy_n(side.f32 + first, count, f32.data() + count_);
    } else {
      f64.resize(kBlock);
      std::copy_n(side.f64 + first, count, f64.data() + count_);
    }
  }

  BlockSink* sink_;
  std::size_t count_ = 0;
  std::vector<IndexMap::Run> runs_;
  std::vector<float> golden_f32_;
  std::vector<float> target_f32_;
  std::vector<double> golden_f64_;
  std::vector<double> target_f64_;
  std::optional<std::uint64_t> equal_bits_;
};

/// Segment of `tile` that starts where `wanted` does and holds as much; nullptr when none does.
const tensor::Segment* matching(const std::vector<tensor::Segment>& tile, std::size_t position,
                                const tensor::Segment& wanted) {
  const bool same = position < tile.size() && tile[position].first == wanted.first &&
                    tile[position].count == wanted.count;
  return same ? &tile[position] : nullptr;
}

bool same_axes(const View& golden, const View& target) {
  return std::equal(golden.axes.begin(), golden.axes.end(), target.axes.begin(), target.axes.end(),
                    [](const tensor::AxisMap& g, const tensor::AxisMap& t) {
                      return g.extent == t.extent && g.inner == t.inner;
                    });
}

/// The two sides of a walk along the tiles of one of them.
class TileWalk {
 public:
  TileWalk(const View& golden, const View& target, const Precision& precision, std::uint64_t limit,
           BlockSink& sink)
      : golden_view_(&golden),
        target_view_(&target),
        golden_leads_(target.contiguous()),
        both_tiled_(!golden_leads_ && !golden.contiguous() && same_axes(golden, target)),
        leader_(golden_leads_ ? golden : target),
        follower_(golden_leads_ ? target : golden),
        golden_(golden, precision),
        target_(target, precision),
        parts_(parts_of(golden)),
        limit_(limit),
        sink_(&sink),
        builder_(sink) {}

  void tile(std::uint64_t index) {
    const std::vector<tensor::Segment>& led = leader_.read(index);
    const std::vector<tensor::Segment> none;
    const bool paired = both_tiled_ && index < follower_.tile_count();
    const std::vector<tensor::Segment>& followed = paired ? follower_.read(index) : none;
    SideReader& follower = golden_leads_ ? target_ : golden_;
    std::uint64_t fetched = 0;  // elements asked for beyond those that were measured
    std::size_t next = 0;
    for (std::size_t k = 0; k < led.size(); ++k) {
      for (; next < led.size() && fetched < kFetchAhead; ++next) {
        follower.fetch(led[next].first * parts_, led[next].count * parts_);
        fetched += led[next].count;
      }
      segment(led[k], matching(followed, k, led[k]));
      fetched -= std::min(fetched, led[k].count);
    }
  }

  void finish() { builder_.flush(); }

 private:
  void segment(const tensor::Segment& led, const tensor::Segment* followed) {
    const std::uint64_t first = led.first * parts_;
    const std::uint64_t end = std::min(limit_, first + led.count * parts_);
    for (std::uint64_t at = first; at < end; at += kBlock) {
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kBlock, end - at));
      SideReader& leader = golden_leads_ ? golden_ : target_;
      SideReader& follower = golden_leads_ ? target_ : golden_;
      const BlockSide lead = leader.convert(led.data, at - first, count);
      const BlockSide follow = followed != nullptr
                                   ? follower.convert(followed->data, at - first, count)
                                   : follower.load(at, count);
      emit(at, count, golden_leads_ ? lead : follow, golden_leads_ ? follow : lead);
    }
  }

  void emit(std::uint64_t at, std::size_t count, const BlockSide& golden, const BlockSide& target) {
    const IndexMap::Run run = {0, at};
    Block block = {count, golden, target, {{&run, 1}}};
    block.equal_bits = equal_integers(*golden_view_, *target_view_, golden, target, count);
    if (count == kBlock && builder_.empty()) {
      sink_->take(block);
    } else {
      builder_.append(block);
    }
  }

  const View* golden_view_;
  const View* target_view_;
  bool golden_leads_;
  bool both_tiled_;
  tensor::TileReader leader_;
  tensor::TileReader follower_;
  SideReader golden_;
  SideReader target_;
  std::uint64_t parts_;
  std::uint64_t limit_;
  BlockSink* sink_;
  BlockBuilder builder_;
};

}  // namespace

std::uint64_t IndexMap::index_of(std::size_t position) const {
  const auto after =
      std::upper_bound(runs.begin(), runs.end(), position,
                       [](std::size_t wanted, const Run& run) { return wanted < run.position; });
  const Run& run = *(after - 1);
  return run.first + (position - run.position);
}

BlockSource::BlockSource(const View& golden, std::span<const View* const> targets,
                         const Precision& precision, std::uint64_t limit)
    : golden_(&golden), targets_(targets.begin(), targets.end()), precision_(precision) {
  const std::uint64_t count = golden.count();
  const std::uint64_t elements = limit == 0 ? count : std::min(limit, count);
  limit_ = elements * parts_of(golden);
  const View& target = *targets_.front();
  flat_ = golden.contiguous() && target.contiguous();
  if (flat_ || count == 0) {
    shard_count_ = static_cast<std::size_t>((limit_ + kShardElements - 1) / kShardElements);
    return;
  }
  const std::uint64_t tiles =
      tensor::TileReader(target.contiguous() ? golden : target).tile_count();
  const std::uint64_t per_tile =
      std::max<std::uint64_t>(1, count / std::max<std::uint64_t>(1, tiles));
  tiles_per_shard_ = std::max<std::uint64_t>(1, kShardElements / per_tile);
  tile_count_ = tiles;
  shard_count_ = static_cast<std::size_t>((tiles + tiles_per_shard_ - 1) / tiles_per_shard_);
}

bool BlockSource::tiles_agree(const View& golden, const View& target) {
  return golden.contiguous() && target.contiguous();
}

void BlockSource::walk(std::size_t shard, std::span<BlockSink* const> sinks) const {
  if (flat_) {
    walk_flat(shard, sinks);
    return;
  }
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    walk_tiles(shard, *targets_[i], *sinks[i]);
  }
}

void BlockSource::walk_flat(std::size_t shard, std::span<BlockSink* const> sinks) const {
  SideReader golden(*golden_, precision_);
  std::vector<SideReader> readers;
  readers.reserve(targets_.size());
  for (const View* target : targets_) {
    readers.emplace_back(*target, precision_);
  }
  const std::uint64_t begin = shard * kShardElements;
  const std::uint64_t end = std::min(limit_, begin + kShardElements);
  golden.bring_in(begin, end - begin);
  for (SideReader& reader : readers) {
    reader.bring_in(begin, end - begin);
  }
  for (std::uint64_t at = begin; at < end; at += kBlock) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kBlock, end - at));
    const IndexMap::Run run = {0, at};
    Block block = {count, golden.load(at, count), {}, {{&run, 1}}};
    for (std::size_t i = 0; i < readers.size(); ++i) {
      block.target = readers[i].load(at, count);
      block.equal_bits = equal_integers(*golden_, *targets_[i], block.golden, block.target, count);
      sinks[i]->take(block);
    }
  }
}

void BlockSource::walk_tiles(std::size_t shard, const View& target, BlockSink& sink) const {
  TileWalk walk(*golden_, target, precision_, limit_, sink);
  const std::uint64_t begin = shard * tiles_per_shard_;
  const std::uint64_t end = std::min(tile_count_, begin + tiles_per_shard_);
  for (std::uint64_t tile = begin; tile < end; ++tile) {
    walk.tile(tile);
  }
  walk.finish();
}

}  // namespace opdrift::metrics
