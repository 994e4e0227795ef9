#include <cmath>

#include "opdrift/metrics/algorithms/values.hpp"

namespace opdrift::metrics {

namespace {

/// Norm of a side; NaN when a value is not finite. The reference squares in float32, where the
/// square of anything below 2^-75 is zero.
double norm(const SideStats& side, std::uint64_t count, bool reference) {
  if (side.finite != count) {
    return kNan;
  }
  const bool squares_vanish =
      reference && side.dtype != tensor::DType::boolean && count > 0 && side.max_abs() < 0x1p-75;
  return squares_vanish ? 0.0 : std::sqrt(side.sum_squares);
}

AlgorithmValue reference_cosine(const AlgorithmInput& input) {
  const Measurement& m = input.measurement;
  const double target_norm = norm(m.target, m.count, true);
  const double golden_norm = norm(m.golden, m.count, true);
  if (target_norm <= kReferenceEpsilon && golden_norm < kReferenceEpsilon) {
    AlgorithmValue same;
    same.value = 1.0;
    same.text = "1.0";
    return same;
  }
  if (std::sqrt(target_norm) <= kReferenceEpsilon) {
    return no_value(AlgorithmNote::target_all_zero);
  }
  if (std::sqrt(golden_norm) <= kReferenceEpsilon) {
    return no_value(AlgorithmNote::golden_all_zero);
  }
  return with_note(m.finite_pairs == m.count ? m.cosine() : kNan, AlgorithmNote::none);
}

}  // namespace

// Both zero is agreement; zero against anything else has no angle.
AlgorithmValue cosine_similarity(const AlgorithmInput& input) {
  const Measurement& m = input.measurement;
  if (input.scalar_tensor) {
    return with_note(1.0, AlgorithmNote::scalar_tensor);
  }
  if (input.reference) {
    return reference_cosine(input);
  }
  const bool finite = m.finite_pairs == m.count;
  if (finite && m.sum_target2 == 0.0 && m.sum_golden2 != 0.0) {
    return no_value(AlgorithmNote::target_all_zero);
  }
  if (finite && m.sum_golden2 == 0.0 && m.sum_target2 != 0.0) {
    return no_value(AlgorithmNote::golden_all_zero);
  }
  return with_note(finite ? m.cosine() : kNan, AlgorithmNote::none);
}

}  // namespace opdrift::metrics
