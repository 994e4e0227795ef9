#include "opdrift/metrics/algorithms/errors.hpp"
#include "opdrift/metrics/algorithms/values.hpp"

namespace opdrift::metrics {

AlgorithmValue bias(const AlgorithmInput& input) {
  return over_finite_pairs(input.measurement, input.measurement.bias());
}

}  // namespace opdrift::metrics
