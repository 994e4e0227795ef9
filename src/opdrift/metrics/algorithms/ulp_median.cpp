#include "opdrift/metrics/algorithms/errors.hpp"
#include "opdrift/metrics/algorithms/values.hpp"

namespace opdrift::metrics {

AlgorithmValue ulp_median(const AlgorithmInput& input) {
  const Measurement& m = input.measurement;
  if (m.ulp_dtype == tensor::DType::raw) {
    return no_value(AlgorithmNote::not_floating);
  }
  return over_finite_pairs(m,
                           m.finite_pairs == 0 ? kNan : static_cast<double>(m.ulp_quantile(0.5)));
}

}  // namespace opdrift::metrics
