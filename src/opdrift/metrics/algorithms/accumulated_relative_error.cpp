#include "opdrift/metrics/algorithms/errors.hpp"
#include "opdrift/metrics/algorithms/values.hpp"

namespace opdrift::metrics {

AlgorithmValue accumulated_relative_error(const AlgorithmInput& input) {
  if (refuses_booleans(input)) {
    return no_value(AlgorithmNote::boolean_unsupported);
  }
  return with_note(relative_errors(input).sum, AlgorithmNote::none);
}

}  // namespace opdrift::metrics
