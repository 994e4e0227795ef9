#include "opdrift/metrics/algorithms/errors.hpp"
#include "opdrift/metrics/algorithms/values.hpp"

namespace opdrift::metrics {

AlgorithmValue relative_l2(const AlgorithmInput& input) {
  return over_finite_pairs(input.measurement, input.measurement.relative_l2());
}

}  // namespace opdrift::metrics
