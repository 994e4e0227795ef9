#include "opdrift/metrics/algorithms/errors.hpp"
#include "opdrift/metrics/algorithms/values.hpp"

namespace opdrift::metrics {

AlgorithmValue max_scaled_error(const AlgorithmInput& input) {
  const Worst& worst = input.measurement.max_scaled;
  return over_finite_pairs(input.measurement, worst.index == kNoIndex ? kNan : worst.value);
}

}  // namespace opdrift::metrics
