#include "opdrift/tensor/strided_copy.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "opdrift/base/check.hpp"

namespace opdrift::tensor {

namespace {

constexpr std::size_t kVectorBytes = 16;
constexpr CopyLoop kOnce = {1, 0, 0};

template <std::size_t kBytes>
struct Lanes;
template <>
struct Lanes<1> {
  using Vector = std::uint8_t __attribute__((vector_size(kVectorBytes)));
};
template <>
struct Lanes<2> {
  using Vector = std::uint16_t __attribute__((vector_size(kVectorBytes)));
};
template <>
struct Lanes<4> {
  using Vector = std::uint32_t __attribute__((vector_size(kVectorBytes)));
};
template <>
struct Lanes<8> {
  using Vector = std::uint64_t __attribute__((vector_size(kVectorBytes)));
};

/// Where a copy runs.
struct Places {
  const std::byte* source;
  std::byte* target;
  std::int64_t ahead_bytes;

  Places moved(const CopyLoop& loop, std::int64_t index, std::int64_t element_bytes) const {
    return {source + index * loop.source_step * element_bytes,
            target + index * loop.target_step * element_bytes, ahead_bytes};
  }
};

/// The place may lie outside the tensor, hence an address and not a pointer; fetching never faults.
inline void fetch(const std::byte* place, std::int64_t ahead_bytes) {
  const auto address =
      reinterpret_cast<std::uintptr_t>(place) + static_cast<std::uintptr_t>(ahead_bytes);
  __builtin_prefetch(reinterpret_cast<const void*>(address), 0, 3);  // NOLINT: not dereferenced
}

// Lane 2i comes from lane i (or i + half) of the first vector, lane 2i + 1 from the second.
template <typename Vector, std::size_t... kLane>
Vector zip_low(Vector x, Vector y, std::index_sequence<kLane...>) {
  constexpr std::size_t kLanes = sizeof...(kLane);
  return __builtin_shufflevector(x, y, static_cast<int>(kLane / 2 + (kLane % 2) * kLanes)...);
}

template <typename Vector, std::size_t... kLane>
Vector zip_high(Vector x, Vector y, std::index_sequence<kLane...>) {
  constexpr std::size_t kLanes = sizeof...(kLane);
  return __builtin_shufflevector(
      x, y, static_cast<int>(kLanes / 2 + kLane / 2 + (kLane % 2) * kLanes)...);
}

/// Transposes a square of 16 bytes a side: row i of the source becomes column i of the target.
/// Every round deals the two halves of the rows like cards; log2(rows) rounds transpose.
template <std::size_t kBytes>
void transpose_square(const std::byte* source, std::ptrdiff_t source_pitch, std::byte* target,
                      std::ptrdiff_t target_pitch, std::int64_t ahead_bytes) {
  using Vector = typename Lanes<kBytes>::Vector;
  constexpr std::size_t kLanes = kVectorBytes / kBytes;
  constexpr auto kOrder = std::make_index_sequence<kLanes>();
  Vector rows[kLanes];
  Vector dealt[kLanes];
  for (std::size_t i = 0; i < kLanes; ++i) {
    const std::byte* row = source + static_cast<std::ptrdiff_t>(i) * source_pitch;
    std::memcpy(&rows[i], row, kVectorBytes);
    fetch(row, ahead_bytes);
  }
  for (std::size_t round = 1; round < kLanes; round *= 2) {
    for (std::size_t i = 0; i < kLanes / 2; ++i) {
      dealt[2 * i] = zip_low(rows[i], rows[i + kLanes / 2], kOrder);
      dealt[2 * i + 1] = zip_high(rows[i], rows[i + kLanes / 2], kOrder);
    }
    std::memcpy(rows, dealt, sizeof(rows));
  }
  for (std::size_t i = 0; i < kLanes; ++i) {
    std::memcpy(target + static_cast<std::ptrdiff_t>(i) * target_pitch, &rows[i], kVectorBytes);
  }
}

template <std::size_t kBytes>
void copy_elements(Places at, const CopyLoop& loop) {
  const std::int64_t source_pitch = loop.source_step * static_cast<std::int64_t>(kBytes);
  const std::int64_t target_pitch = loop.target_step * static_cast<std::int64_t>(kBytes);
  for (std::uint64_t i = 0; i < loop.count; ++i) {
    std::memcpy(at.target, at.source, kBytes);
    at.source += source_pitch;
    at.target += target_pitch;
  }
}

/// `run` is contiguous in the source, `across` in the target.
template <std::size_t kBytes>
void transpose(const Places& at, const CopyLoop& run, const CopyLoop& across) {
  constexpr std::uint64_t kLanes = kVectorBytes / kBytes;
  if constexpr (kLanes > 1) {
    if (run.count >= kLanes && across.count >= kLanes) {
      constexpr auto kSize = static_cast<std::int64_t>(kBytes);
      const std::ptrdiff_t source_pitch = across.source_step * kSize;
      const std::ptrdiff_t target_pitch = run.target_step * kSize;
      // Whole cache lines of the target are filled before the next row of squares begins. The last
      // square of a row or column overlaps its neighbour instead of being cut.
      constexpr std::uint64_t kLine = 4 * kLanes;
      for (std::uint64_t line = 0; line < across.count; line += kLine) {
        for (std::uint64_t i = 0; i < run.count; i += kLanes) {
          const auto x = static_cast<std::int64_t>(std::min(i, run.count - kLanes));
          for (std::uint64_t j = line; j < std::min(line + kLine, across.count); j += kLanes) {
            const auto y = static_cast<std::int64_t>(std::min(j, across.count - kLanes));
            transpose_square<kBytes>(at.source + y * source_pitch + x * kSize, source_pitch,
                                     at.target + x * target_pitch + y * kSize, target_pitch,
                                     at.ahead_bytes);
          }
        }
      }
      return;
    }
  }
  for (std::uint64_t i = 0; i < run.count; ++i) {
    const auto index = static_cast<std::int64_t>(i);
    copy_elements<kBytes>(at.moved(run, index, static_cast<std::int64_t>(kBytes)), across);
  }
}

/// Runs of a length the compiler knows become a few moves.
template <std::size_t kRunBytes>
void copy_fixed_runs(Places at, std::uint64_t count, std::int64_t source_pitch,
                     std::int64_t target_pitch) {
  for (std::uint64_t i = 0; i < count; ++i) {
    std::memcpy(at.target, at.source, kRunBytes);
    for (std::size_t line = 0; line < kRunBytes; line += 64) {
      fetch(at.source + line, at.ahead_bytes);
    }
    at.source += source_pitch;
    at.target += target_pitch;
  }
}

void copy_runs(Places at, std::size_t run_bytes, std::uint64_t count, std::int64_t source_pitch,
               std::int64_t target_pitch) {
  switch (run_bytes) {
    case 8: return copy_fixed_runs<8>(at, count, source_pitch, target_pitch);
    case 16: return copy_fixed_runs<16>(at, count, source_pitch, target_pitch);
    case 32: return copy_fixed_runs<32>(at, count, source_pitch, target_pitch);
    case 64: return copy_fixed_runs<64>(at, count, source_pitch, target_pitch);
    case 128: return copy_fixed_runs<128>(at, count, source_pitch, target_pitch);
    default:
      for (std::uint64_t i = 0; i < count; ++i) {
        std::memcpy(at.target, at.source, run_bytes);
        at.source += source_pitch;
        at.target += target_pitch;
      }
  }
}

/// Runs `kernel` for every combination of the loops [first, last).
template <typename Kernel>
void for_each_place(const CopyLoop* first, const CopyLoop* last, std::int64_t element_bytes,
                    const Places& at, const Kernel& kernel) {
  if (first == last) {
    kernel(at);
    return;
  }
  for (std::uint64_t i = 0; i < first->count; ++i) {
    for_each_place(first + 1, last, element_bytes,
                   at.moved(*first, static_cast<std::int64_t>(i), element_bytes), kernel);
  }
}

/// Takes the loop at `index` out of the nest.
CopyLoop take(CopyNest& nest, std::size_t index) {
  const CopyLoop taken = nest.loops[index];
  std::copy(nest.loops.begin() + static_cast<std::ptrdiff_t>(index) + 1,
            nest.loops.begin() + static_cast<std::ptrdiff_t>(nest.size),
            nest.loops.begin() + static_cast<std::ptrdiff_t>(index));
  --nest.size;
  return taken;
}

/// Large source steps outermost; loops that continue each other join.
void arrange(CopyNest& nest) {
  auto* begin = nest.loops.data();
  auto* end = begin + nest.size;
  std::sort(begin, end, [](const CopyLoop& x, const CopyLoop& y) {
    return std::pair(std::abs(x.source_step), std::abs(x.target_step)) >
           std::pair(std::abs(y.source_step), std::abs(y.target_step));
  });
  std::size_t kept = 0;
  for (const CopyLoop* loop = begin; loop != end; ++loop) {
    const auto steps = static_cast<std::int64_t>(loop->count);
    if (kept > 0 && begin[kept - 1].source_step == steps * loop->source_step &&
        begin[kept - 1].target_step == steps * loop->target_step) {
      begin[kept - 1] = {begin[kept - 1].count * loop->count, loop->source_step, loop->target_step};
    } else {
      begin[kept++] = *loop;
    }
  }
  nest.size = kept;
}

template <std::size_t kBytes>
void run_nest(const Places& at, CopyNest& nest) {
  constexpr auto kSize = static_cast<std::int64_t>(kBytes);
  const auto index_of = [&](auto step) {
    std::size_t index = 0;
    while (index < nest.size && nest.loops[index].*step != 1) {
      ++index;
    }
    return index;
  };
  const std::size_t run = index_of(&CopyLoop::source_step);
  const std::size_t across = index_of(&CopyLoop::target_step);
  const CopyLoop* loops = nest.loops.data();
  if (run < nest.size && run == across) {
    const CopyLoop whole = take(nest, run);
    const CopyLoop rows = nest.size > 0 ? take(nest, nest.size - 1) : kOnce;
    for_each_place(loops, loops + nest.size, kSize, at, [&](const Places& place) {
      copy_runs(place, static_cast<std::size_t>(whole.count) * kBytes, rows.count,
                rows.source_step * kSize, rows.target_step * kSize);
    });
    return;
  }
  if (run < nest.size && across < nest.size) {
    const CopyLoop source_run = nest.loops[run];
    const CopyLoop target_run = nest.loops[across];
    take(nest, std::max(run, across));
    take(nest, std::min(run, across));
    for_each_place(loops, loops + nest.size, kSize, at,
                   [&](const Places& place) { transpose<kBytes>(place, source_run, target_run); });
    return;
  }
  const CopyLoop inner = nest.size > 0 ? take(nest, std::min(across, nest.size - 1)) : kOnce;
  for_each_place(loops, loops + nest.size, kSize, at,
                 [&](const Places& place) { copy_elements<kBytes>(place, inner); });
}

}  // namespace

void strided_copy(const std::byte* source, std::byte* target, std::size_t element_bytes,
                  const CopyNest& loops, std::int64_t ahead_bytes) {
  CopyNest nest;
  nest.size = loops.size;
  std::copy_n(loops.loops.begin(), loops.size, nest.loops.begin());
  arrange(nest);
  const Places at = {source, target, ahead_bytes};
  switch (element_bytes) {
    case 1: return run_nest<1>(at, nest);
    case 2: return run_nest<2>(at, nest);
    case 4: return run_nest<4>(at, nest);
    case 8: return run_nest<8>(at, nest);
    default: OPDRIFT_CHECK(element_bytes == 16); return run_nest<16>(at, nest);
  }
}

}  // namespace opdrift::tensor
