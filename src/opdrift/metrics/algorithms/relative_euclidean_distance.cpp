#include <cmath>
#include <limits>

#include "opdrift/metrics/algorithms/values.hpp"

namespace opdrift::metrics {

namespace {

double distance_over_norm(const Measurement& m) {
  if (m.nonfinite.with_nan() + m.nonfinite.with_golden_inf() > 0) {
    return kNan;
  }
  if (m.nonfinite.with_target_inf() > 0) {
    return std::numeric_limits<double>::infinity();
  }
  return std::sqrt(m.sum_d2 / m.sum_golden2);
}

}  // namespace

// 0 beside a golden of zeros, whatever the target holds; the note says that it means nothing.
AlgorithmValue relative_euclidean_distance(const AlgorithmInput& input) {
  const Measurement& m = input.measurement;
  const double smallest_norm = input.reference ? kReferenceEpsilon : 0.0;
  const bool golden_zero =
      m.golden.finite == m.count && std::sqrt(m.golden.sum_squares) <= smallest_norm;
  if (golden_zero) {
    const bool worth_a_note = !input.reference && m.count > 0 && m.equal_bits != m.count;
    return with_note(0.0, worth_a_note ? AlgorithmNote::golden_all_zero : AlgorithmNote::none);
  }
  if (refuses_booleans(input)) {
    return no_value(AlgorithmNote::boolean_subtraction);
  }
  return with_note(distance_over_norm(m), AlgorithmNote::none);
}

}  // namespace opdrift::metrics
