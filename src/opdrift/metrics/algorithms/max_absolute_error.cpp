#include "opdrift/metrics/algorithms/errors.hpp"
#include "opdrift/metrics/algorithms/values.hpp"

namespace opdrift::metrics {

AlgorithmValue max_absolute_error(const AlgorithmInput& input) {
  if (refuses_booleans(input)) {
    return no_value(AlgorithmNote::boolean_unsupported);
  }
  if (input.measurement.count == 0) {
    return no_value(AlgorithmNote::empty_tensor);
  }
  return with_note(with_nonfinite_differences(input.measurement, input.measurement.max_abs.value),
                   AlgorithmNote::none);
}

}  // namespace opdrift::metrics
