#include "opdrift/diagnose/bisect/output_rule.hpp"

#include <cmath>
#include <cstdio>

#include "opdrift/metrics/measure.hpp"
#include "opdrift/metrics/registry.hpp"
#include "opdrift/tensor/view.hpp"

namespace opdrift::diagnose {

namespace {

struct Limit {
  std::string_view algorithm;  ///< name in the registry
  std::string_view words;
  double limit;
  bool larger_is_better;
};

constexpr Limit kLimits[] = {
    {"CosineSimilarity", "cosine", 0.99, true},
    {"RelativeEuclideanDistance", "relative Euclidean distance", 0.05, false},
    {"KullbackLeiblerDivergence", "Kullback-Leibler divergence", 0.005, false},
    {"RootMeanSquareError", "root mean square error", 1.0, false},
    {"MeanRelativeError", "mean relative error", 1.0, false},
};

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

bool is_scalar(const tensor::Shape& shape) {
  for (const std::uint64_t extent : shape) {
    if (extent != 1) {
      return false;
    }
  }
  return true;
}

/// With elements that are NaN or infinite on both sides: the limits over all others.
OutputRule::Judged over_finite(const metrics::Measurement& measured) {
  const double cosine = measured.cosine();
  const double distance = measured.relative_l2();
  const bool good = cosine >= 0.99 && distance <= 0.05 && measured.rmse() <= 1.0;
  return {good, "over finite elements: cosine " + number(cosine) +
                    ", relative Euclidean distance " + number(distance)};
}

OutputRule::Judged by_limits(const metrics::Measurement& measured, bool scalar) {
  const metrics::AlgorithmInput input{measured, scalar, true};
  std::string cosine;
  for (const Limit& limit : kLimits) {
    const metrics::Algorithm* algorithm = metrics::find_algorithm(limit.algorithm);
    OPDRIFT_CHECK(algorithm != nullptr);
    const double value = algorithm->compute(input).value;
    const bool within = limit.larger_is_better ? value >= limit.limit : value <= limit.limit;
    const std::string text = std::string(limit.words) + " " + number(value);
    if (!std::isnan(value) && !within) {
      return {false, text + (limit.larger_is_better ? " < " : " > ") + number(limit.limit)};
    }
    cosine = cosine.empty() ? text : cosine;
  }
  return {true, cosine};
}

}  // namespace

Result<OutputRule> OutputRule::parse(std::string_view text) {
  OutputRule rule;
  if (!text.empty()) {
    OPDRIFT_TRY(rule.gates_, verdict::parse_gates(text));
  }
  return rule;
}

std::string OutputRule::describe() const {
  if (gates_) {
    return verdict::describe(*gates_);
  }
  std::string text;
  for (const Limit& limit : kLimits) {
    text += (text.empty() ? "" : ", ") + std::string(limit.words) +
            (limit.larger_is_better ? " >= " : " <= ") + number(limit.limit);
  }
  return text;
}

Result<OutputRule::Judged> OutputRule::judge(const tensor::Tensor& golden,
                                             const tensor::Tensor& target) const {
  if (golden.desc.shape != target.desc.shape) {
    return Judged{false, "shape (" + tensor::to_string(target.desc.shape) + ") instead of (" +
                             tensor::to_string(golden.desc.shape) + ")"};
  }
  OPDRIFT_TRY(const tensor::View golden_view, tensor::stored_view(golden));
  OPDRIFT_TRY(const tensor::View target_view, tensor::stored_view(target));
  metrics::MeasureOptions options;
  options.kl_divergence = !gates_;
  OPDRIFT_TRY(const metrics::Measurement measured,
              metrics::measure(golden_view, target_view, options));
  if (measured.equal_bits == measured.count) {
    return Judged{true, "equal"};
  }
  if (measured.class_mismatches > 0) {
    return Judged{false, std::to_string(measured.class_mismatches) +
                             " elements NaN or infinite on one side only"};
  }
  if (gates_) {
    const verdict::GateOutcome outcome = verdict::apply(*gates_, measured);
    return Judged{outcome.passed,
                  outcome.passed ? "cosine " + number(measured.cosine()) : outcome.reason};
  }
  if (measured.finite_pairs < measured.count) {
    return over_finite(measured);
  }
  return by_limits(measured, is_scalar(golden.desc.shape));
}

}  // namespace opdrift::diagnose
