#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "opdrift/tensor/dtype.hpp"

namespace opdrift::metrics {

inline constexpr std::uint64_t kNoIndex = ~std::uint64_t{0};
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

  Worst max_abs;     ///< largest |d|
  Worst max_scaled;  ///< largest |d| / max(|golden|, rms of golden's tile)

  // Distance in units in the last place of the coarser dtype; bucket 0: equal, bucket k: distances
  // in [2^(k-1), 2^k). The last bucket holds everything beyond.
  static constexpr std::size_t kUlpBuckets = 18;
  tensor::DType ulp_dtype = tensor::DType::raw;  ///< raw when neither side is a float type
  std::array<std::uint64_t, kUlpBuckets> ulp_histogram{};
  std::uint64_t max_ulp = 0;

  /// Kullback-Leibler divergence of the normalised sides; NaN unless it was asked for.
  double kl_divergence = kNan;

  double cosine() const;            ///< clamped to [-1, 1]; 1 when both are zero; NaN for one
  double one_minus_cosine() const;  ///< without cancellation: valid far below 1e-16
  double relative_l2() const;       ///< ||d|| / ||golden||; 0 when d is 0; inf when only golden is
  double sqnr_db() const;           ///< -20 log10(relative_l2)
  double rmse() const;
  double mean_abs_error() const;
  double bias() const;
};

}  // namespace opdrift::metrics
