#pragma once

#include "opdrift/metrics/algorithms/algorithm.hpp"

/// What pairs that are not finite do to sums and maxima over all elements. |t - g| of a pair:
///
///   NaN on either side, or infinities of one sign     NaN
///   any other infinity                                inf
///
/// |t / g - 1| of a pair (reference in brackets where it differs):
///
///   golden NaN                          NaN [0]
///   golden inf    target finite         1           target inf or NaN   NaN
///   golden 0      target finite         0           target inf or NaN   inf, NaN [0]
///   golden other  target inf, NaN       inf, NaN
///   golden in (0, kReferenceEpsilon]    like any other [like 0]
namespace opdrift::metrics {

/// NaN, inf or `finite`: the value of a sum or maximum of |t - g| whose finite part is `finite`.
double with_nonfinite_differences(const Measurement& measurement, double finite);

/// Sum and maximum of |t / g - 1| over all elements.
struct RelativeErrors {
  double sum = 0.0;
  double max = 0.0;
};

RelativeErrors relative_errors(const AlgorithmInput& input);

/// A measure over finite pairs: missing when the sides differ in class anywhere, with a note when
/// pairs were left out.
AlgorithmValue over_finite_pairs(const Measurement& measurement, double value);

}  // namespace opdrift::metrics
