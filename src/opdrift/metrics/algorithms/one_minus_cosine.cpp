#include "opdrift/metrics/algorithms/errors.hpp"
#include "opdrift/metrics/algorithms/values.hpp"

namespace opdrift::metrics {

AlgorithmValue one_minus_cosine(const AlgorithmInput& input) {
  return over_finite_pairs(input.measurement, input.measurement.one_minus_cosine());
}

}  // namespace opdrift::metrics
