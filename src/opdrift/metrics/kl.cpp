#include "opdrift/metrics/kl.hpp"

#include <algorithm>
#include <cmath>

#include "opdrift/metrics/kernels/scalar.hpp"

namespace opdrift::metrics {

namespace {

/// p ln(p/q) - p + q.
double gap_of(double p, double q) {
  return std::max(0.0, p * std::log1p((p - q) / q) - (p - q));
}

bool all_finite(const Measurement& measured) {
  return measured.count > 0 && measured.finite_pairs == measured.count;
}

void set_side(const SideStats& side, double& min, double& factor) {
  const double range = side.max - side.min;
  min = range == 0.0 ? 0.0 : side.min;
  factor = range == 0.0 ? 1.0 : 1.0 / range;
}

bool factor_fits(double factor) {
  return factor > 0x1p-120 && factor < 0x1p120;
}

}  // namespace

std::optional<kernels::KlMap> kl_map(const Measurement& measured) {
  if (!all_finite(measured)) {
    return std::nullopt;
  }
  kernels::KlMap map;
  set_side(measured.target, map.target_min, map.target_factor);
  set_side(measured.golden, map.golden_min, map.golden_factor);
  return map;
}

bool fits_float(const kernels::KlMap& map) {
  return factor_fits(map.target_factor) && factor_fits(map.golden_factor);
}

void KlMeter::take(const Block& block) {
  if (block.golden.f64 != nullptr) {
    kernels::scalar_kl(block.golden.f64, block.target.f64, block.count, map_, sums_);
    return;
  }
  const bool vectors = table_ != nullptr && fits_float(map_);
  const std::size_t whole = vectors ? block.count / kernels::kGrain * kernels::kGrain : 0;
  if (whole > 0) {
    table_->kl(block.golden.f32, block.target.f32, whole, map_, sums_);
  }
  for (std::size_t i = whole; i < block.count; ++i) {
    const auto golden = static_cast<double>(block.golden.f32[i]);
    const auto target = static_cast<double>(block.target.f32[i]);
    kernels::scalar_kl(&golden, &target, 1, map_, sums_);
  }
}

void KlMeter::merge(const KlMeter& later) {
  sums_.target += later.sums_.target;
  sums_.golden += later.sums_.golden;
  sums_.gap += later.sums_.gap;
}

double KlMeter::divergence() const {
  const double value = (sums_.gap - gap_of(sums_.target, sums_.golden)) / sums_.target;
  return std::abs(value) < kReferenceEpsilon ? 0.0 : value;
}

}  // namespace opdrift::metrics
