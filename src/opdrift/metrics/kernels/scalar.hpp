#pragma once

#include <cstddef>

#include "opdrift/metrics/kernels/block.hpp"
#include "opdrift/metrics/kernels/ulp_format.hpp"

/// The kernels in plain double arithmetic: level `scalar`, dtypes that do not fit a float, the last
/// elements of a tensor, and blocks whose values leave the range of the float kernels. Also the
/// yardstick the vector kernels are tested with. Any count; values are finite
/// unless it is said otherwise.
namespace opdrift::metrics::kernels {

void scalar_sums(const double* golden, const double* target, std::size_t count, BlockTotals& out);
void scalar_shape(const double* golden, const double* target, std::size_t count,
                  const ShapeLimits& limits, BlockTotals& out);
void scalar_ulp(const double* golden, const double* target, std::size_t count,
                const UlpFormat& format, BlockTotals& out);
double scalar_centred_squares(const double* values, std::size_t count, double mean);
void scalar_kl(const double* golden, const double* target, std::size_t count, const KlMap& map,
               KlSums& out);

/// Sorts pairs of any class.
void scalar_split_classes(const float* golden, const float* target, std::size_t count,
                          ClassSplit<float>& split);
void scalar_split_classes(const double* golden, const double* target, std::size_t count,
                          ClassSplit<double>& split);

/// |d| / max(|golden|, scale); 0 when d is 0, infinite beside a zero golden without scale.
double scaled_error(double golden, double target, double scale);

}  // namespace opdrift::metrics::kernels
