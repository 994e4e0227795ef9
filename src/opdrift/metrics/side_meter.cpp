#include "opdrift/metrics/side_meter.hpp"

#include <algorithm>
#include <cmath>

namespace opdrift::metrics {

SideLimits side_limits(tensor::DType dtype) {
  const tensor::DTypeInfo& row = tensor::info(tensor::component_dtype(dtype));
  const bool floating = row.kind == tensor::DTypeKind::floating;
  return {floating ? row.min_normal : 0.0, floating ? row.max_finite : 0.0};
}

void add_totals(SideStats& stats, const SideTotals& totals) {
  if (totals.count == 0) {
    return;
  }
  const auto count = static_cast<double>(totals.count);
  double centred = totals.sum_centred_squares;
  if (stats.finite > 0) {
    const auto seen = static_cast<double>(stats.finite);
    const double gap = totals.sum / count - stats.sum / seen;
    centred += gap * gap * (seen * count / (seen + count));
  }
  stats.sum_centred_squares += centred;
  stats.min = stats.finite == 0 ? totals.min : std::min(stats.min, totals.min);
  stats.max = stats.finite == 0 ? totals.max : std::max(stats.max, totals.max);
  stats.sum += totals.sum;
  stats.sum_squares += totals.sum_squares;
  stats.finite += totals.count;
  stats.classes.zero += totals.zero;
  stats.classes.subnormal += totals.small > totals.zero ? totals.small - totals.zero : 0;
  stats.classes.saturated += totals.saturated;
}

void add_stats(SideStats& stats, const SideStats& other) {
  SideTotals totals;
  totals.count = other.finite;
  totals.min = other.min;
  totals.max = other.max;
  totals.sum = other.sum;
  totals.sum_squares = other.sum_squares;
  totals.sum_centred_squares = other.sum_centred_squares;
  add_totals(stats, totals);
  stats.classes.nan += other.classes.nan;
  stats.classes.positive_inf += other.classes.positive_inf;
  stats.classes.negative_inf += other.classes.negative_inf;
  stats.classes.zero += other.classes.zero;
  stats.classes.subnormal += other.classes.subnormal;
  stats.classes.saturated += other.classes.saturated;
}

bool close_together(double min, double max) {
  // Otherwise the variance of n values is at least (max - min)^2 / 2n, and the subtraction loses
  // no more than log2(32 n) bits: 16 of 53 for a block.
  return (max - min) * 4.0 < std::max(std::abs(min), std::abs(max));
}

}  // namespace opdrift::metrics
