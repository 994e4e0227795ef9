#include "opdrift/metrics/algorithms/values.hpp"

namespace opdrift::metrics {

AlgorithmValue kullback_leibler_divergence(const AlgorithmInput& input) {
  if (refuses_booleans(input)) {
    return no_value(AlgorithmNote::boolean_unsupported);
  }
  if (input.measurement.count == 0) {
    return no_value(AlgorithmNote::empty_tensor);
  }
  return with_note(input.measurement.kl_divergence, AlgorithmNote::none);
}

}  // namespace opdrift::metrics
