#include "opdrift/metrics/algorithms/errors.hpp"
#include "opdrift/metrics/algorithms/values.hpp"

namespace opdrift::metrics {

AlgorithmValue mean_absolute_error(const AlgorithmInput& input) {
  if (refuses_booleans(input)) {
    return no_value(AlgorithmNote::boolean_unsupported);
  }
  const Measurement& m = input.measurement;
  return with_note(with_nonfinite_differences(m, m.mean_abs_error()), AlgorithmNote::none);
}

}  // namespace opdrift::metrics
