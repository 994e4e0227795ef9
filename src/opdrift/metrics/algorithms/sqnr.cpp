#include "opdrift/metrics/algorithms/errors.hpp"
#include "opdrift/metrics/algorithms/values.hpp"

namespace opdrift::metrics {

AlgorithmValue sqnr(const AlgorithmInput& input) {
  return over_finite_pairs(input.measurement, input.measurement.sqnr_db());
}

}  // namespace opdrift::metrics
