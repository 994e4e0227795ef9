#include "opdrift/verdict/judge/steps.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "opdrift/replay/number_format.hpp"

namespace opdrift::verdict::judging {

namespace {

using replay::ValueClass;

constexpr double kSecondLook = 2.0;
constexpr double kBeyondDoubt = 16.0;  // four times what a culprit needs
constexpr double kHuge = 1e60;

// A finite target at its largest number where the result lies beyond it.
bool saturated(double target, double expected, tensor::DType dtype) {
  const double largest = replay::largest_finite(dtype);
  return largest > 0.0 && std::abs(target) == largest &&
         !(std::abs(expected) < largest + replay::ulp(largest, dtype) / 2.0) &&
         !std::isnan(expected);
}

Cause cause_of_class(double golden, double target, double expected, const Formats& formats) {
  if (!std::isfinite(golden) && std::isfinite(target)) {
    return Cause::golden_overflow;
  }
  const bool beyond =
      std::isfinite(expected) && !std::isfinite(replay::round_to(expected, formats.target));
  return std::isinf(target) && beyond ? Cause::overflow : Cause::nan_made;
}

struct ClassOf {
  bool differs = false;
  bool fresh = false;
  Cause cause = Cause::none;
};

ClassOf judge_class(const Elements& elements, std::size_t i, const Formats& formats) {
  const double g = elements.golden[i];
  const double t = elements.target[i];
  const double ft = elements.target_replay[i];
  const ValueClass own = replay::class_of(t);
  if (replay::class_of(g) == own) {
    const bool clamped = own == ValueClass::finite && g != t && saturated(t, ft, formats.target) &&
                         !saturated(g, elements.golden_replay[i], formats.golden);
    return {clamped, clamped, clamped ? Cause::saturated : Cause::none};
  }
  const bool golden_kept = replay::class_of(g) == replay::class_of(elements.golden_replay[i]);
  // What becomes of a NaN that meets a comparison (Relu, Max, MaxPool) is up to the device.
  const bool target_kept = own == replay::class_of(ft) || std::isnan(ft);
  const bool golden_made = !golden_kept && !std::isfinite(g) && std::isfinite(t);
  if (target_kept && !golden_made) {
    return {true, false, Cause::inherited_class};
  }
  return {true, true, golden_made ? Cause::golden_overflow : cause_of_class(g, t, ft, formats)};
}

void point_at(const Elements& elements, std::size_t i, Judgement& judgement) {
  judgement.worst = elements.position(i);
  judgement.worst_golden = elements.golden[i];
  judgement.worst_target = elements.target[i];
  judgement.worst_expected = elements.target_replay[i];
}

replay::Evidence evidence_of(const Elements& elements) {
  return {elements.golden, elements.target, elements.golden_replay, elements.target_replay,
          elements.missing};
}

double mean_square(std::span<const double> values) {
  const double norm = replay::norm(values);
  return values.empty() ? 0.0 : norm * norm / static_cast<double>(values.size());
}

replay::Ratios ratios_of(const Elements& elements, std::span<const double> d,
                         std::span<const double> sigma2) {
  const std::vector<std::uint8_t> finite = replay::finite_pairs(elements.golden, elements.target);
  replay::Ratios all = replay::ratios(d, sigma2, finite, elements.population);
  if (elements.random == 0) {
    return all;
  }
  const replay::Ratios drawn =
      replay::ratios(d.first(elements.random), sigma2.first(elements.random),
                     std::span(finite).first(elements.random), elements.population);
  const double share = std::sqrt(elements.share());
  all.q_own = drawn.q_own;
  all.own_norm = drawn.own_norm * share;
  all.budget = drawn.budget * share;
  return all;
}

double difference_norm(const Elements& elements, std::span<const double> one,
                       std::span<const double> other) {
  const std::size_t count = elements.random == 0 ? one.size() : elements.random;
  std::vector<double> difference(count, 0.0);
  for (std::size_t i = 0; i < count; ++i) {
    const double d = one[i] - other[i];
    difference[i] =
        std::isfinite(d) && std::isfinite(elements.golden[i]) && std::isfinite(elements.target[i])
            ? d
            : 0.0;
  }
  return replay::norm(difference) * std::sqrt(elements.share());
}

void count_subnormals(const Elements& elements, tensor::DType dtype, Found& found) {
  const double normal = replay::smallest_normal(dtype);
  for (const double t : elements.target) {
    found.subnormals += t != 0.0 && std::abs(t) < normal ? 1U : 0U;
  }
}

void keep(const replay::Ratios& ratios, Found& found) {
  found.judgement.q_own = ratios.q_own;
  found.judgement.z = ratios.z_scaled;
  found.own_norm = ratios.own_norm;
}

// Few random draws fall into few channels. What the whole tensor errs by beyond them is the
// operator's own as far as it is where errors stand out. Only for what leaves no doubt, so that it
// changes how much is said, not who is blamed.
void count_missed(const Elements& elements, std::span<const double> d, double budget,
                  Found& found) {
  if (elements.random == 0 || !beyond_doubt(found.judgement)) {
    return;
  }
  double drawn = 0.0;
  double standing_out = 0.0;
  double own = 0.0;
  for (std::size_t i = 0; i < d.size(); ++i) {
    const double e = elements.target[i] - elements.golden[i];
    const double squared = std::isfinite(e) ? e * e : 0.0;
    drawn += i < elements.random ? squared : 0.0;
    standing_out += i < elements.random ? 0.0 : squared;
    own += i < elements.random ? 0.0 : d[i] * d[i];
  }
  const double missed = found.error_norm * found.error_norm - drawn * elements.share();
  if (!(missed > 0.0) || !(standing_out > 0.0) || !(budget > 0.0) || !std::isfinite(missed)) {
    return;
  }
  const double mine = missed * std::min(1.0, own / standing_out);
  found.own_norm = std::sqrt(found.own_norm * found.own_norm + mine);
  found.judgement.q_own = std::max(found.judgement.q_own, found.own_norm / budget);
}

// A replay that is not finite where the golden is says that it is not this operator.
bool replay_breaks(const Elements& elements) {
  std::size_t broken = 0;
  for (std::size_t i = 0; i < elements.golden.size(); ++i) {
    broken +=
        std::isfinite(elements.golden[i]) && !std::isfinite(elements.golden_replay[i]) ? 1U : 0U;
  }
  return broken * 100 > elements.golden.size();
}

// ||g - f(g_in)|| over what the operator may add without it. A finite number: huge, not infinite.
double self_check(const Elements& elements, std::span<const double> sigma2, double self_norm,
                  double mean_error) {
  if (replay_breaks(elements)) {
    return kHuge;
  }
  double own = 0.0;
  const std::size_t count = elements.random == 0 ? sigma2.size() : elements.random;
  for (std::size_t i = 0; i < count; ++i) {
    const double c = elements.golden[i] - elements.golden_replay[i];
    own += std::isfinite(c) ? std::max(0.0, sigma2[i] - c * c - mean_error) : sigma2[i];
  }
  own = std::sqrt(own * elements.share());
  return self_norm == 0.0 ? 0.0 : std::min(self_norm / std::max(own, 1e-150), kHuge);
}

}  // namespace

double Elements::share() const {
  return random == 0 ? 1.0 : static_cast<double>(population) / static_cast<double>(random);
}

std::span<const double> Elements::of_norm(std::span<const double> list) const {
  return random == 0 ? list : list.first(random);
}

bool exceeds(const Judgement& judgement) {
  return !(judgement.q_own <= kSecondLook && judgement.z <= kSecondLook);
}

bool beyond_doubt(const Judgement& judgement) {
  return std::max(judgement.q_own, judgement.z) > kBeyondDoubt;
}

void compare_classes(const Elements& elements, const Formats& formats, Found& found) {
  std::unordered_set<std::uint64_t> counted;  // an element may be drawn and stand out as well
  for (std::size_t i = 0; i < elements.golden.size(); ++i) {
    const ClassOf result = judge_class(elements, i, formats);
    const bool regular = !result.differs && std::isfinite(elements.golden[i]);
    if (regular || !counted.insert(elements.position(i)).second) {
      continue;
    }
    if (!result.differs) {
      ++found.shared_nonfinite;
    } else if (!result.fresh) {
      ++found.judgement.inherited_classes;
    } else if (++found.judgement.new_classes == 1) {
      found.class_cause = result.cause;
      point_at(elements, i, found.judgement);
    }
  }
}

void weigh(const Elements& elements, const Formats& formats, const WiderSpread& wider,
           Found& found) {
  const replay::Precision& precision = formats.precision;
  const tensor::DType dtype = precision.coarser();
  const replay::OwnError own = replay::own_error(evidence_of(elements), dtype);
  std::vector<double> error(elements.golden.size(), 0.0);
  for (std::size_t i = 0; i < error.size(); ++i) {
    error[i] = own.part[i] != 0 ? elements.golden[i] - elements.golden_replay[i] : 0.0;
  }
  const double mean_error = mean_square(elements.of_norm(error));
  std::vector<double> sigma2 =
      replay::variance(evidence_of(elements), elements.inner, precision, mean_error);
  const replay::Ratios first = ratios_of(elements, own.d, sigma2);
  Judgement& judgement = found.judgement;
  keep(first, found);
  found.budget = first.budget;
  judgement.q1 = first.q_own;
  judgement.z1 = first.z_scaled;
  judgement.flushed = own.flushed;
  found.inherited_norm = difference_norm(elements, elements.target_replay, elements.golden_replay);
  found.self_norm = difference_norm(elements, elements.golden, elements.golden_replay);
  judgement.self_check = self_check(elements, sigma2, found.self_norm, mean_error);
  count_subnormals(elements, dtype, found);
  const replay::Bias bias = replay::truncation_bias(elements.target, own.d, dtype);
  judgement.bias = bias.mean;
  judgement.bias_count = bias.count;
  if (judgement.new_classes == 0 && !elements.golden.empty()) {
    point_at(elements, first.worst, judgement);
  }
  if (!exceeds(judgement) || !wider) {
    count_missed(elements, own.d, first.budget, found);
    return;
  }
  const Result<std::vector<double>> spread = wider();
  if (!spread) {
    return;
  }
  for (std::size_t i = 0; i < sigma2.size(); ++i) {
    sigma2[i] += (*spread)[i];
  }
  const replay::Ratios wide = ratios_of(elements, own.d, sigma2);
  keep(wide, found);
  count_missed(elements, own.d, wide.budget, found);
  judgement.wider_inputs = !exceeds(judgement);
}

}  // namespace opdrift::verdict::judging
