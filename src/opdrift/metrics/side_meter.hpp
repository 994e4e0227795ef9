#pragma once

#include <cstddef>
#include <cstdint>

#include "opdrift/metrics/measurement.hpp"
#include "opdrift/tensor/dtype.hpp"

namespace opdrift::metrics {

/// Finite values of one side of a block.
struct SideTotals {
  std::uint64_t count = 0;
  double min = kNan;
  double max = kNan;
  double sum = 0.0;
  double sum_squares = 0.0;
  double sum_centred_squares = 0.0;
  std::uint64_t zero = 0;
  std::uint64_t small = 0;  ///< below the smallest normal, zeros included
  std::uint64_t saturated = 0;
};

/// What the dtype of a side says about its values.
struct SideLimits {
  double min_normal = 0.0;  ///< 0 for integers
  double max_finite = 0.0;  ///< 0 when saturation has no meaning
};

SideLimits side_limits(tensor::DType dtype);

/// Adds a block to `stats`. Squares about the mean are merged pairwise (Chan, Golub, LeVeque 1979),
/// all terms positive, so nothing cancels.
void add_totals(SideStats& stats, const SideTotals& totals);

/// Adds what another part of the tensor yielded.
void add_stats(SideStats& stats, const SideStats& other);

/// True when the sum of squares about the mean must be summed again: the values lie so close
/// together, compared with their size, that sum_squares - sum^2 / count loses digits.
bool close_together(double min, double max);

}  // namespace opdrift::metrics
