#pragma once

#include <cstddef>
#include <optional>

#include "opdrift/metrics/block_source.hpp"
#include "opdrift/metrics/measurement.hpp"

/// Kullback-Leibler divergence of the target from the golden, both made into distributions:
///
///   r = max - min;  v' = (v - min) / r, or v when r = 0;  v' = max(v', 2^-23);  v'' = v' / sum v'
///   KL = sum p'' ln(p'' / q''), p from the target, q from the golden; |KL| < 2^-52 counts as 0
///
/// A value that is not finite on either side gives NaN, and so does an empty tensor. Computed as
///
///   KL = (sum [p' ln(p'/q') - p' + q'] - [P ln(P/Q) - P + Q]) / P,  P = sum p', Q = sum q'
///
/// where every bracket of the sum is at least 0, so one pass suffices and small divergences keep
/// their digits. Vector levels work in float: off by at most 2^-15 of the value + 2^-34.
namespace opdrift::metrics {

/// Second pass over a pair whose first pass yielded `measured`.
class KlMeter final : public BlockSink {
 public:
  KlMeter(const kernels::KlMap& map, const kernels::KernelTable* table)
      : map_(map), table_(table) {}

  void take(const Block& block) override;
  void merge(const KlMeter& later);
  double divergence() const;

 private:
  kernels::KlMap map_;
  const kernels::KernelTable* table_;
  kernels::KlSums sums_;
};

/// The maps onto [0, 1]; nothing when the divergence is NaN.
std::optional<kernels::KlMap> kl_map(const Measurement& measured);

/// True when the map can be applied in float.
bool fits_float(const kernels::KlMap& map);

}  // namespace opdrift::metrics
