#include "opdrift/metrics/algorithms/errors.hpp"
#include "opdrift/metrics/algorithms/values.hpp"

namespace opdrift::metrics {

// The mean is over all elements, those with a golden of zero included.
AlgorithmValue mean_relative_error(const AlgorithmInput& input) {
  if (refuses_booleans(input)) {
    return no_value(AlgorithmNote::boolean_unsupported);
  }
  const std::uint64_t count = input.measurement.count;
  const double mean = relative_errors(input).sum / static_cast<double>(count);
  return with_note(count == 0 ? kNan : mean, AlgorithmNote::none);
}

}  // namespace opdrift::metrics
