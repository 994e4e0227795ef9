#include "opdrift/metrics/measurement.hpp"

#include <algorithm>
#include <cmath>

namespace opdrift::metrics {

double SideStats::mean() const {
  return finite == 0 ? kNan : sum / static_cast<double>(finite);
}

double SideStats::rms() const {
  return finite == 0 ? kNan : std::sqrt(sum_squares / static_cast<double>(finite));
}

double SideStats::standard_deviation() const {
  return finite == 0 ? kNan : std::sqrt(sum_centred_squares / static_cast<double>(finite));
}

double SideStats::max_abs() const {
  return finite == 0 ? kNan : std::max(std::abs(min), std::abs(max));
}

double Measurement::cosine() const {
  if (sum_golden2 == 0.0 && sum_target2 == 0.0) {
    return finite_pairs == count ? 1.0 : kNan;
  }
  if (sum_golden2 == 0.0 || sum_target2 == 0.0) {
    return kNan;
  }
  const double norms = std::sqrt(sum_golden2) * std::sqrt(sum_target2);
  return std::clamp(sum_product / norms, -1.0, 1.0);
}

double Measurement::one_minus_cosine() const {
  if (sum_golden2 == 0.0 || sum_target2 == 0.0) {
    return 1.0 - cosine();
  }
  // 2 |g| |t| (1 - cos) = |t - g|^2 - (|t| - |g|)^2; nothing cancels while the two agree.
  const double golden_norm = std::sqrt(sum_golden2);
  const double target_norm = std::sqrt(sum_target2);
  const double length_gap = (sum_target2 - sum_golden2) / (target_norm + golden_norm);
  const double direction = std::max(0.0, sum_d2 - length_gap * length_gap);
  return std::min(2.0, direction / (2.0 * golden_norm * target_norm));
}

double Measurement::relative_l2() const {
  if (sum_d2 == 0.0) {
    return 0.0;
  }
  if (sum_golden2 == 0.0) {
    return std::numeric_limits<double>::infinity();
  }
  return std::sqrt(sum_d2 / sum_golden2);
}

double Measurement::sqnr_db() const {
  return -20.0 * std::log10(relative_l2());
}

double Measurement::rmse() const {
  return finite_pairs == 0 ? kNan : std::sqrt(sum_d2 / static_cast<double>(finite_pairs));
}

double Measurement::mean_abs_error() const {
  return finite_pairs == 0 ? kNan : sum_abs_d / static_cast<double>(finite_pairs);
}

double Measurement::bias() const {
  return finite_pairs == 0 ? kNan : sum_d / static_cast<double>(finite_pairs);
}

}  // namespace opdrift::metrics
