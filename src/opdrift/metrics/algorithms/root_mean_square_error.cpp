#include "opdrift/metrics/algorithms/errors.hpp"
#include "opdrift/metrics/algorithms/values.hpp"

namespace opdrift::metrics {

AlgorithmValue root_mean_square_error(const AlgorithmInput& input) {
  if (refuses_booleans(input)) {
    return no_value(AlgorithmNote::boolean_unsupported);
  }
  const Measurement& m = input.measurement;
  return with_note(with_nonfinite_differences(m, m.rmse()), AlgorithmNote::none);
}

}  // namespace opdrift::metrics
