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
  const void* next_golden = nullptr;  ///< bytes of the next block, to be brought into the cache
  const void* next_target = nullptr;
  std::size_t next_golden_bytes = 0;
  std::size_t next_target_bytes = 0;
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
