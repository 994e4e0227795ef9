#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "opdrift/tensor/dtype.hpp"

namespace opdrift::metrics {

inline constexpr std::uint64_t kNoIndex = ~std::uint64_t{0};
inline constexpr std::size_t kTileElements = 2048;
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// How many elements of one side fall into each class.
struct ClassCounts {
  std::uint64_t nan = 0;
  std::uint64_t positive_inf = 0;
  std::uint64_t negative_inf = 0;
  std::uint64_t zero = 0;
  std::uint64_t subnormal = 0;
  std::uint64_t saturated = 0;  ///< finite and equal to the largest finite value of the dtype
};

/// Statistics of one side over its finite elements.
struct SideStats {
  tensor::DType dtype = tensor::DType::raw;
  ClassCounts classes;
  std::uint64_t finite = 0;
  double min = kNan;  ///< NaN when no element is finite
  double max = kNan;
  double sum = 0.0;
  double sum_squares = 0.0;
  double sum_centred_squares = 0.0;  ///< sum of (v - mean)^2, computed without cancellation

  double mean() const;  ///< NaN when no element is finite
  double rms() const;
  double standard_deviation() const;  ///< population deviation
  double max_abs() const;
};

/// Classes that decide what an error formula yields for a pair with a NaN or an infinity.
enum class GoldenClass : std::uint8_t { zero, tiny, ordinary, positive_inf, negative_inf, nan };
enum class TargetClass : std::uint8_t { finite, positive_inf, negative_inf, nan };

/// Golden values up to this size count as zero in the relative errors of the reference; such
/// values, zero itself excepted, are `tiny`.
inline constexpr double kReferenceEpsilon = 0x1p-52;

/// Pairs in which at least one side is NaN or infinite, by class of either side.
struct NonFinitePairs {
  std::array<std::array<std::uint64_t, 4>, 6> counts{};  ///< [GoldenClass][TargetClass]

  std::uint64_t at(GoldenClass golden, TargetClass target) const;
  std::uint64_t total() const;
  std::uint64_t with_nan() const;            ///< NaN on either side
  std::uint64_t with_golden_inf() const;     ///< whatever the target holds
  std::uint64_t with_target_inf() const;     ///< whatever the golden holds
  std::uint64_t with_same_infinity() const;  ///< infinities of one sign: their difference is NaN
  std::uint64_t with_infinite_gap() const;   ///< no NaN and |target - golden| = inf
};

/// One element worth pointing at.
struct Worst {
  double value = 0.0;              ///< size of the error
  std::uint64_t index = kNoIndex;  ///< flat index, kNoIndex when no pair was eligible
  double golden = 0.0;
  double target = 0.0;
};

/// Everything one pass over a golden and a target tensor yields: sufficient statistics, from which
/// every algorithm of the registry and every later verdict is computed without the tensors.
///
/// Pairs enter the error sums when both sides are finite. Counts cover all elements.
struct Measurement {
  std::uint64_t count = 0;  ///< pairs compared
  SideStats golden;
  SideStats target;

  std::uint64_t finite_pairs = 0;
  std::uint64_t class_mismatches = 0;  ///< pairs of different class (NaN, +inf, -inf, finite)
  std::uint64_t equal_bits = 0;        ///< pairs equal bit by bit after widening to the wider type

  // Sums over finite pairs; d = target - golden.
  double sum_d = 0.0;  ///< signed bias is sum_d / finite_pairs
  double sum_abs_d = 0.0;
  double sum_d2 = 0.0;
  double sum_golden2 = 0.0;
  double sum_target2 = 0.0;
  double sum_product = 0.0;  ///< sum of golden * target
  double sum_golden = 0.0;
  double sum_target = 0.0;

  // Relative error |target / golden - 1| over finite pairs with golden != 0.
  std::uint64_t relative_pairs = 0;
  double sum_relative = 0.0;
  double max_relative = 0.0;
  std::uint64_t within_1e3 = 0;  ///< finite pairs with |d| <= 1e-3 |golden| (0 = 0 counts)
  std::uint64_t within_5e3 = 0;
  // The same over pairs with |golden| > kReferenceEpsilon.
  double sum_relative_above_epsilon = 0.0;
  double max_relative_above_epsilon = 0.0;

  NonFinitePairs nonfinite;

  Worst max_abs;  ///< largest |d|
  /// Largest |d| / max(|golden|, rms of golden's tile). A tile is a run of at most kTileElements
  /// elements; a tile of zeros takes the rms of what the shard held before it.
  Worst max_scaled;

  // Distance in units in the last place of the coarser dtype; bucket 0: equal, bucket k: distances
  // in [2^(k-1), 2^k). The last bucket holds everything beyond.
  static constexpr std::size_t kUlpBuckets = 18;
  tensor::DType ulp_dtype = tensor::DType::raw;  ///< raw when neither side is a float type
  std::array<std::uint64_t, kUlpBuckets> ulp_histogram{};
  std::uint64_t max_ulp = 0;

  /// Kullback-Leibler divergence of the normalised sides; NaN unless it was asked for.
  double kl_divergence = kNan;

  /// Upper edge of the bucket in which the given share (0 to 1) of the distances lies: 0, 1, 3, 7
  /// ...; max_ulp for the last bucket. 0 when nothing was counted.
  std::uint64_t ulp_quantile(double share) const;

  double cosine() const;            ///< clamped to [-1, 1]; 1 when both are zero; NaN for one
  double one_minus_cosine() const;  ///< without cancellation: valid far below 1e-16
  double relative_l2() const;       ///< ||d|| / ||golden||; 0 when d is 0; inf when only golden is
  double sqnr_db() const;           ///< -20 log10(relative_l2)
  double rmse() const;
  double mean_abs_error() const;
  double bias() const;
};

}  // namespace opdrift::metrics
