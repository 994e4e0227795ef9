#include "opdrift/pipeline/stats/tensor_summary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

namespace opdrift::pipeline {

namespace {

using metrics::kNan;
using metrics::Measurement;

/// Names of statistics in the order they are asked.
constexpr std::array<const char*, 4> kStatisticNames = {"max", "min", "mean", "L2 norm"};

using Values = std::array<std::optional<double>, 4>;

Values values_of(const TensorSummary& summary) {
  return {summary.max, summary.min, summary.mean, summary.l2};
}

std::uint64_t gap(std::uint64_t a, std::uint64_t b) {
  return a > b ? a - b : b - a;
}

std::string with_number(const char* what, double value) {
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(), "%s %.4g", what, value);
  return text.data();
}

/// 0 for no difference, infinite when there is nothing to relate it to.
double ratio(double difference, double scale) {
  if (difference == 0.0) {
    return 0.0;
  }
  return scale == 0.0 ? std::numeric_limits<double>::infinity() : difference / scale;
}

class SummaryPair {
 public:
  SummaryPair(const TensorSummary& golden, const TensorSummary& target)
      : golden_(golden), target_(target), g_(values_of(golden)), t_(values_of(target)) {
    for (std::size_t i = 0; i < g_.size(); ++i) {
      known_[i] = g_[i] && t_[i];
      finite_[i] = known_[i] && std::isfinite(*g_[i]) && std::isfinite(*t_[i]);
    }
  }

  bool has_checksums() const { return !golden_.checksum.empty() && !target_.checksum.empty(); }
  bool same_checksum() const {
    return has_checksums() && golden_.checksum == target_.checksum &&
           golden_.dtype == target_.dtype;
  }
  bool has_numbers() const { return std::find(known_.begin(), known_.end(), true) != known_.end(); }

  Measurement measure() const {
    Measurement m;
    m.count = golden_.count;
    m.golden = side_stats(golden_);
    m.target = side_stats(target_);
    m.class_mismatches = class_mismatches();
    m.finite_pairs = std::min(m.golden.finite, m.target.finite);
    m.sum_golden2 = m.golden.sum_squares;
    m.sum_target2 = m.target.sum_squares;
    m.sum_golden = m.golden.sum;
    m.sum_target = m.target.sum;
    m.sum_d = m.sum_target - m.sum_golden;
    const double distance = same_checksum() ? 0.0 : distance_estimate();
    m.sum_d2 = distance * distance;
    m.sum_abs_d = kNan;
    m.sum_product =
        sketched() || same_checksum() ? (m.sum_golden2 + m.sum_target2 - m.sum_d2) / 2.0 : kNan;
    m.max_abs.value = same_checksum() ? 0.0 : extreme_gap();
    m.max_relative = same_checksum() ? 0.0 : extremes_ratio();
    m.max_scaled.value = kNan;
    return m;
  }

  /// Largest relative difference of the extremes; NaN when they are not known.
  double extremes_ratio() const {
    double scale = 0.0;
    for (std::size_t i = 0; i < 2; ++i) {
      scale = finite_[i] ? std::max(scale, std::abs(*g_[i])) : scale;
    }
    return finite_[0] || finite_[1] ? ratio(extreme_gap(), scale) : kNan;
  }

  /// Relative difference of one extreme, 0 for max and 1 for min; NaN when it is not known.
  double extreme_ratio(std::size_t which) const {
    if (!known_[which]) {
      return kNan;
    }
    const double g = *g_[which];
    const double t = *t_[which];
    if (g == t || (std::isnan(g) && std::isnan(t))) {
      return 0.0;
    }
    return finite_[which] ? ratio(std::abs(t - g), std::abs(g))
                          : std::numeric_limits<double>::infinity();
  }

  bool sketched() const { return golden_.sketch != nullptr && target_.sketch != nullptr; }

  /// |t - g| over |g|, estimated or bounded from below; NaN when nothing is known.
  double relative_distance() const {
    if (!finite_[3]) {
      return kNan;
    }
    return ratio(distance_estimate(), *g_[3]);
  }

 private:
  /// By the counts; without them by statistics that are not finite on one side only.
  std::uint64_t class_mismatches() const {
    if (golden_.classes && target_.classes) {
      const metrics::ClassCounts& g = *golden_.classes;
      const metrics::ClassCounts& t = *target_.classes;
      const std::uint64_t infinities =
          gap(g.positive_inf, t.positive_inf) + gap(g.negative_inf, t.negative_inf);
      return std::max(gap(g.nan, t.nan), infinities);
    }
    for (std::size_t i = 0; i < g_.size(); ++i) {
      const bool same =
          known_[i] && (*g_[i] == *t_[i] || (std::isnan(*g_[i]) && std::isnan(*t_[i])));
      if (known_[i] && !finite_[i] && !same) {
        return 1;
      }
    }
    return 0;
  }

  double extreme_gap() const {
    double largest = finite_[0] || finite_[1] ? 0.0 : kNan;
    for (std::size_t i = 0; i < 2; ++i) {
      largest = finite_[i] ? std::max(largest, std::abs(*t_[i] - *g_[i])) : largest;
    }
    return largest;
  }

  double distance_estimate() const {
    double bound = finite_[3] ? std::abs(*t_[3] - *g_[3]) : kNan;
    const auto at_least = [&](double term) {
      bound = std::isnan(bound) ? term : std::max(bound, std::isnan(term) ? 0.0 : term);
    };
    at_least(extreme_gap());
    if (finite_[2]) {
      at_least(std::sqrt(static_cast<double>(golden_.count)) * std::abs(*t_[2] - *g_[2]));
    }
    if (sketched()) {
      const auto estimate = metrics::estimate_distance(*golden_.sketch, *target_.sketch);
      if (estimate && finite_[3] && std::isfinite(estimate->relative_l2)) {
        return std::max(estimate->relative_l2 * *g_[3], bound);
      }
    }
    return bound;
  }

  const TensorSummary& golden_;
  const TensorSummary& target_;
  Values g_;
  Values t_;
  std::array<bool, 4> known_{};
  std::array<bool, 4> finite_{};
};

std::string list_of_values(const TensorSummary& golden, const TensorSummary& target) {
  const Values g = values_of(golden);
  const Values t = values_of(target);
  std::string text;
  for (std::size_t i = 0; i < g.size(); ++i) {
    if (g[i] && t[i] && *g[i] != *t[i]) {
      text += (text.empty() ? "" : ", ") + with_number(kStatisticNames[i], *t[i]) +
              with_number(" for", *g[i]);
    }
  }
  return text;
}

/// The gate of dumps reduced to their extremes.
std::string extremes_failure(const SummaryPair& pair, double limit, const TensorSummary& golden,
                             const TensorSummary& target) {
  for (const std::size_t which : {0U, 1U}) {
    const double moved = pair.extreme_ratio(which);
    if (!std::isnan(moved) && !(moved <= limit)) {
      const std::string name = std::string(kStatisticNames[which]) + " moved by";
      return with_number(name.c_str(), moved) + with_number(" >", limit) + " (" +
             list_of_values(golden, target) + ")";
    }
  }
  return {};
}

/// The default gate: every ratio that is known stays within the limit of the types.
std::string default_failure(const SummaryPair& pair, const TensorSummary& golden,
                            const TensorSummary& target) {
  if (pair.same_checksum()) {
    return {};
  }
  const double reduced =
      std::max(golden.extremes_limit.value_or(0.0), target.extremes_limit.value_or(0.0));
  if (reduced > 0.0) {
    return extremes_failure(pair, reduced, golden, target);
  }
  const double limit = verdict::default_relative_l2(golden.dtype, target.dtype);
  const bool exact = limit == 0.0 && golden.dtype == target.dtype;
  if (pair.has_checksums() && (exact || !pair.has_numbers())) {
    const bool words = golden.dtype == tensor::DType::raw;
    return (words ? "values differ: " : "check sums differ: ") + target.checksum + " for " +
           golden.checksum;
  }
  const char* relative = pair.sketched() ? "relative L2 about" : "relative L2 at least";
  const std::array<std::pair<const char*, double>, 2> ratios = {
      {{relative, pair.relative_distance()}, {"extremes moved by", pair.extremes_ratio()}}};
  for (const auto& [name, value] : ratios) {
    if (!std::isnan(value) && !(value <= limit)) {
      return with_number(name, value) + with_number(" >", limit) + " (" +
             list_of_values(golden, target) + ")";
    }
  }
  return {};
}

}  // namespace

TensorSummary summary_of(const TensorRecord& record) {
  TensorSummary summary;
  summary.dtype = tensor::dtype_by_name(record.dtype).value_or(tensor::DType::raw);
  summary.shape = record.shape;
  summary.count = record.count;
  const auto number = [](double value) {
    return std::isnan(value) ? std::nullopt : std::optional(value);
  };
  summary.min = number(record.min);
  summary.max = number(record.max);
  summary.mean = number(record.mean);
  summary.l2 = number(record.l2);
  summary.classes = metrics::ClassCounts{.nan = record.nan,
                                         .positive_inf = record.positive_inf,
                                         .negative_inf = record.negative_inf,
                                         .zero = record.zero,
                                         .subnormal = record.subnormal};
  summary.checksum = record.checksum_text();
  if (record.sketch) {
    summary.sketch = std::make_shared<const metrics::Sketch>(*record.sketch);
  }
  return summary;
}

metrics::SideStats side_stats(const TensorSummary& summary) {
  metrics::SideStats side;
  side.dtype = summary.dtype;
  side.classes = summary.classes.value_or(metrics::ClassCounts{});
  side.finite = summary.count -
                std::min(summary.count,
                         side.classes.nan + side.classes.positive_inf + side.classes.negative_inf);
  const auto finite = static_cast<double>(side.finite);
  side.min = summary.min.value_or(kNan);
  side.max = summary.max.value_or(kNan);
  side.sum = summary.mean ? *summary.mean * finite : kNan;
  side.sum_squares = summary.l2 ? *summary.l2 * *summary.l2 : kNan;
  side.sum_centred_squares =
      std::max(side.sum_squares - side.sum * summary.mean.value_or(kNan), 0.0);
  return side;
}

Result<TensorSummary> summarise(const tensor::View& view) {
  OPDRIFT_TRY(const TensorRecord record, measure_record(view));
  return summary_of(record);
}

Result<SummaryComparison> compare_summaries(const TensorSummary& golden,
                                            const TensorSummary& target,
                                            const verdict::Gates& gates) {
  if (golden.count_known && target.count_known && golden.count != target.count) {
    return Error{ErrorCode::mismatch, "expected " + std::to_string(golden.count) + " elements (" +
                                          tensor::to_string(golden.shape, "x") + "), found " +
                                          std::to_string(target.count) + " (" +
                                          tensor::to_string(target.shape, "x") + ")"};
  }
  const SummaryPair pair(golden, target);
  if (!pair.has_numbers() && !pair.has_checksums()) {
    return Error{ErrorCode::unsupported, "the two sides have no statistic in common"};
  }
  SummaryComparison comparison;
  comparison.measurement = pair.measure();
  verdict::Gates asked = gates;
  asked.default_relative_l2 = false;
  verdict::GateOutcome outcome = verdict::apply(asked, comparison.measurement);
  if (outcome.passed && gates.default_relative_l2) {
    outcome.reason = default_failure(pair, golden, target);
    outcome.passed = outcome.reason.empty();
  }
  comparison.passed = outcome.passed;
  comparison.reason = outcome.passed ? "" : "statistics only: " + outcome.reason;
  return comparison;
}

}  // namespace opdrift::pipeline
