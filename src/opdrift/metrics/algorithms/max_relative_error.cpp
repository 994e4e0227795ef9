#include "opdrift/metrics/algorithms/errors.hpp"
#include "opdrift/metrics/algorithms/values.hpp"

namespace opdrift::metrics {

AlgorithmValue max_relative_error(const AlgorithmInput& input) {
  if (refuses_booleans(input)) {
    return no_value(AlgorithmNote::boolean_unsupported);
  }
  if (input.measurement.count == 0) {
    return no_value(AlgorithmNote::empty_tensor);
  }
  return with_note(relative_errors(input).max, AlgorithmNote::none);
}

}  // namespace opdrift::metrics
