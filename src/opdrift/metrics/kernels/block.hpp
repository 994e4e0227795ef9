#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "opdrift/metrics/measurement.hpp"

/// What one block of at most kTileElements finite pairs contributes to a Measurement.
///
///   d = target - golden      relative = |d| / |golden|, golden != 0
///   scaled = |d| / max(|golden|, scale), scale = rms of the block's golden
///
/// Vector levels compute sums in double over exactly converted values (a lane adds at most 256
/// terms, so a sum of one sign is off by at most 2^-45), `relative` and `scaled` in float: one
/// subtraction and one division, each rounded once, so an element is off by at most 2^-23 and its
/// membership in `over_...` is decided within 2^-23 of the limit. The scalar level works in double.
namespace opdrift::metrics::kernels {

inline constexpr std::size_t kBlock = kTileElements;
/// Vector kernels take counts that are multiples of this.
inline constexpr std::size_t kGrain = 64;

struct BlockTotals {
  // Filled by `sums`.
  double sum_golden = 0.0;
  double sum_golden2 = 0.0;
  double sum_target = 0.0;
  double sum_target2 = 0.0;
  double sum_product = 0.0;
  double sum_d = 0.0;
  double sum_abs_d = 0.0;
  double sum_d2 = 0.0;

  // Filled by `shape`.
  double max_abs_d = 0.0;
  double golden_min = 0.0;
  double golden_max = 0.0;
  double target_min = 0.0;
  double target_max = 0.0;
  std::uint64_t golden_zero = 0;
  std::uint64_t golden_small = 0;  ///< |v| below the smallest normal, zeros included
  std::uint64_t target_zero = 0;
  std::uint64_t target_small = 0;
  std::uint64_t equal_bits = 0;
  std::uint64_t over_1e3 = 0;  ///< |d| > 1e-3 |golden|
  std::uint64_t over_5e3 = 0;
  double sum_relative = 0.0;
  double max_relative = 0.0;
  double sum_relative_above_epsilon = 0.0;
  double max_relative_above_epsilon = 0.0;
  double max_scaled = 0.0;

  // Filled by the ulp kernels.
  std::array<std::uint32_t, Measurement::kUlpBuckets> ulp{};
  std::uint64_t max_ulp = 0;
};

/// Thresholds of one block for the `shape` kernels.
struct ShapeLimits {
  double golden_min_normal = 0.0;  ///< of the dtype as stored; 0 for integers
  double target_min_normal = 0.0;
  double scale = 0.0;  ///< rms of the tile; 0: every error beside a zero golden is infinite
};

/// What makes a pair worth a look by `find_large`: |d| or the scaled error reaches its limit, both
/// computed in float.
struct LargeLimits {
  float abs_d = 0.0F;
  float scaled = 0.0F;
  float scale = 0.0F;  ///< as in ShapeLimits
};

/// A block whose pairs are sorted by class. Arrays have room for the whole block.
template <typename T>
struct ClassSplit {
  T* golden = nullptr;  ///< finite pairs, in their order
  T* target = nullptr;
  std::uint16_t* positions = nullptr;  ///< where those stood, from `first` on
  T* golden_alone = nullptr;           ///< finite values beside one that is not
  T* target_alone = nullptr;

  std::size_t first = 0;
  std::size_t finite = 0;
  std::size_t golden_alone_count = 0;
  std::size_t target_alone_count = 0;
  NonFinitePairs nonfinite;
  std::uint64_t equal_bits = 0;  ///< of the pairs that are not finite
};

/// Memory the next block will need. Kernels touch it line by line while they compute, so that the
/// memory is never idle. Without branches, which would break up the loops of the kernels.
class Upcoming {
 public:
  Upcoming() = default;
  Upcoming(const void* golden, std::size_t golden_bytes, const void* target,
           std::size_t target_bytes) {
    const char* const golden_first = static_cast<const char*>(golden);
    const char* const target_first = static_cast<const char*>(target);
    const std::size_t golden_lines = (golden_bytes + kLine - 1) / kLine;
    const std::size_t target_lines = (target_bytes + kLine - 1) / kLine;
    if (golden_lines + target_lines > 0) {
      at_ = golden_lines > 0 ? golden_first : target_first;
      golden_end_ = golden_lines > 0 ? golden_first + golden_lines * kLine : nullptr;
      target_first_ = target_first;
      last_ = target_lines > 0 ? target_first + (target_lines - 1) * kLine : golden_end_ - kLine;
    }
  }

  void fetch_line() {
    __builtin_prefetch(at_);
    const char* next = at_ + kLine;
    next = next == golden_end_ ? target_first_ : next;
    at_ = at_ == last_ ? at_ : next;
  }

 private:
  static constexpr std::size_t kLine = 64;
  static constexpr char kNothing[kLine] = {};

  const char* at_ = kNothing;
  const char* golden_end_ = nullptr;
  const char* target_first_ = nullptr;
  const char* last_ = kNothing;
};

/// Affine map of both sides onto [0, 1] and the sums of the divergence; see kl.hpp.
struct KlSums {
  double target = 0.0;  ///< sum of p'
  double golden = 0.0;  ///< sum of q'
  double gap = 0.0;     ///< sum of p' ln(p' / q') - p' + q'
};

struct KlMap {
  double target_min = 0.0;
  double target_factor = 1.0;  ///< 1 / (max - min)
  double golden_min = 0.0;
  double golden_factor = 1.0;
};

}  // namespace opdrift::metrics::kernels
