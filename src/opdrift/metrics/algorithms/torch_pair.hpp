#pragma once

#include <cstddef>
#include <cstdint>

#include "opdrift/base/parallel.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/tensor/view.hpp"

/// What msprobe measures between a golden g and a target m, element by element in logical order.
///
/// Sums in double over the values as stored (bfloat16 and smaller widened exactly; complex: the
/// modulus, or the real part alone):
///
///   product = sum g m      golden2 = sum g^2      target2 = sum m^2      distance2 = sum (m - g)^2
///   max_abs = max |m - g|
///   r = |(m - g) / g| in arithmetic P; where g = 0, eps(P) is added to both m and g first
///   P = float, or double when a side is integer, bool or double; eps = 2^-23 or 2^-52
///   within_1e3, within_5e3 = number of elements with r < 0.001, r < 0.005
///
/// Values that are not finite enter as 0 on both sides; whether they stand at equal places is told
/// apart for NaN and for infinities (of either sign).
///
/// With `float32`, for the graph comparison: every value is rounded to float first, and over
/// elements with |g| > 2^-23
///
///   ratio = |m / g - 1|    difference = |m - g|        largest and sum of each
///   softmax divergence = sum p (ln p - ln q), p = softmax(g), q = softmax(m), at least 0
///
/// and largest, smallest and sum of each side (in torch's order of additions up to 32,768 elements,
/// else in double). NaN and infinities make those of a side NaN or
/// infinite, as float arithmetic would; the divergence then means nothing.
///
/// Sums are exact to about n 2^-53 of their terms; `ratio`, `difference` and r (P = float) carry
/// the float rounding the reference has; the divergence is off by at most about 2^-20 of itself +
/// 2^-22.
namespace opdrift::metrics {

struct TorchPairSums {
  std::uint64_t count = 0;
  std::uint64_t golden_nonfinite = 0;
  std::uint64_t target_nonfinite = 0;
  bool nan_places_differ = false;
  bool inf_places_differ = false;
  bool inf_signs_differ = false;  ///< +inf against -inf somewhere

  double product = 0.0;
  double golden2 = 0.0;
  double target2 = 0.0;
  double distance2 = 0.0;
  double max_abs = 0.0;
  double max_relative = 0.0;
  std::uint64_t within_1e3 = 0;
  std::uint64_t within_5e3 = 0;

  double max_ratio = 0.0;
  double sum_ratio = 0.0;
  double max_difference = 0.0;
  double sum_difference = 0.0;
  double golden_max = 0.0;  ///< 0 when count is 0
  double golden_min = 0.0;
  double golden_sum = 0.0;
  double target_max = 0.0;
  double target_min = 0.0;
  double target_sum = 0.0;
  double divergence = 0.0;
};

struct TorchPairOptions {
  bool float32 = false;    ///< add what the graph comparison needs
  bool real_part = false;  ///< complex elements count with their real part only
  std::size_t jobs = 1;
  const CancelFlag* cancel = nullptr;
};

/// Both views must have the same element count; fails with `mismatch`, unsupported_dtype or
/// `cancelled`. The result does not depend on the number of threads.
Result<TorchPairSums> measure_torch_pair(const tensor::View& golden, const tensor::View& target,
                                         const TorchPairOptions& options = {});

}  // namespace opdrift::metrics
