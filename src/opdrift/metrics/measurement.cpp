#include "opdrift/metrics/measurement.hpp"

#include <algorithm>
#include <cmath>

namespace opdrift::metrics {

namespace {

/// Sum over the pairs for which `wanted(golden, target)` holds.
template <typename Wanted>
std::uint64_t sum_where(const NonFinitePairs& pairs, Wanted wanted) {
  std::uint64_t sum = 0;
  for (std::size_t g = 0; g < pairs.counts.size(); ++g) {
    for (std::size_t t = 0; t < pairs.counts[g].size(); ++t) {
      if (wanted(static_cast<GoldenClass>(g), static_cast<TargetClass>(t))) {
        sum += pairs.counts[g][t];
      }
    }
  }
  return sum;
}

bool is_inf(GoldenClass golden) {
  return golden == GoldenClass::positive_inf || golden == GoldenClass::negative_inf;
}

bool is_inf(TargetClass target) {
  return target == TargetClass::positive_inf || target == TargetClass::negative_inf;
}

bool same_infinity(GoldenClass golden, TargetClass target) {
  return (golden == GoldenClass::positive_inf && target == TargetClass::positive_inf) ||
         (golden == GoldenClass::negative_inf && target == TargetClass::negative_inf);
}

bool has_nan(GoldenClass golden, TargetClass target) {
  return golden == GoldenClass::nan || target == TargetClass::nan;
}

}  // namespace

std::uint64_t NonFinitePairs::at(GoldenClass golden, TargetClass target) const {
  return counts[static_cast<std::size_t>(golden)][static_cast<std::size_t>(target)];
}

std::uint64_t NonFinitePairs::total() const {
  return sum_where(*this, [](GoldenClass, TargetClass) { return true; });
}

std::uint64_t NonFinitePairs::with_nan() const {
  return sum_where(*this, has_nan);
}

std::uint64_t NonFinitePairs::with_golden_inf() const {
  return sum_where(*this, [](GoldenClass golden, TargetClass) { return is_inf(golden); });
}

std::uint64_t NonFinitePairs::with_target_inf() const {
  return sum_where(*this, [](GoldenClass, TargetClass target) { return is_inf(target); });
}

std::uint64_t NonFinitePairs::with_same_infinity() const {
  return sum_where(*this, same_infinity);
}

std::uint64_t NonFinitePairs::with_infinite_gap() const {
  return sum_where(*this, [](GoldenClass golden, TargetClass target) {
    return !has_nan(golden, target) && !same_infinity(golden, target);
  });
}

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

std::uint64_t Measurement::ulp_quantile(double share) const {
  std::uint64_t total = 0;
  for (const std::uint64_t bucket : ulp_histogram) {
    total += bucket;
  }
  const double wanted = share * static_cast<double>(total);
  std::uint64_t seen = 0;
  for (std::size_t k = 0; k + 1 < kUlpBuckets; ++k) {
    seen += ulp_histogram[k];
    if (static_cast<double>(seen) >= wanted) {
      return std::min(max_ulp, (std::uint64_t{1} << k) - 1);
    }
  }
  return max_ulp;
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
  if (std::isnan(sum_product)) {  // estimated from statistics: the angle is not known
    return kNan;
  }
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
