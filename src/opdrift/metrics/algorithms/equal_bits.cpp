#include "opdrift/metrics/algorithms/values.hpp"

namespace opdrift::metrics {

// Share of all elements.
AlgorithmValue equal_bits(const AlgorithmInput& input) {
  const Measurement& m = input.measurement;
  const double share = static_cast<double>(m.equal_bits) / static_cast<double>(m.count);
  return with_note(m.count == 0 ? kNan : share, AlgorithmNote::none);
}

}  // namespace opdrift::metrics
