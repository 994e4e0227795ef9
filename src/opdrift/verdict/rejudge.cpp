#include "opdrift/verdict/rejudge.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>

#include "opdrift/base/text.hpp"

namespace opdrift::verdict {

namespace {

/// Causes that no limit makes go away.
bool is_final(const Judgement& judgement) {
  switch (judgement.cause) {
    case Cause::overflow:
    case Cause::nan_made:
    case Cause::golden_overflow:
    case Cause::saturated:
    case Cause::shape:
    case Cause::different: return true;
    default: return judgement.new_classes > 0;
  }
}

void apply_gates(const Gates& gates, TensorResult& tensor) {
  if (!tensor.measurement) {
    return;
  }
  GateOutcome outcome =
      apply(gates, *tensor.measurement, tensor.profile ? &*tensor.profile : nullptr);
  tensor.passed = outcome.passed;
  tensor.reason = std::move(outcome.reason);
}

/// Whether q_own and z' of this tensor are ratios of a replay, which a limit applies to.
bool was_replayed(const TensorResult& tensor) {
  return tensor.judgement && tensor.judgement->label != Label::unjudged &&
         (tensor.judgement->tier == Tier::replay || tensor.judgement->tier == Tier::sampled);
}

void apply_limit(double limit, TensorResult& tensor) {
  Judgement& judgement = *tensor.judgement;
  judgement.label = label_at(judgement, limit);
  tensor.passed = judgement.label != Label::culprit;
  tensor.reason = judgement.label == Label::healthy ? std::string() : judgement.sentence;
}

std::string count_of(std::size_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

/// The verdict on the run follows its tensors; what was found about the device stays.
void conclude(RunResult& result) {
  RunVerdict& verdict = *result.verdict;
  verdict.first_divergence.clear();
  std::size_t culprits = 0;
  for (std::size_t i = 0; i < result.tensors.size(); ++i) {
    const auto& judgement = result.tensors[i].judgement;
    if (judgement && judgement->label == Label::culprit) {
      ++culprits;
      if (verdict.first_divergence.empty()) {
        verdict.first_divergence.push_back(i);
      }
    }
  }
  const std::string all = count_of(result.tensors.size(), "tensor", "tensors");
  if (culprits > 0) {
    verdict.outcome = Outcome::fail;
    verdict.sentence = count_of(culprits, "culprit", "culprits") + " among " + all;
  } else if (verdict.missing_outputs > 0) {
    verdict.outcome = Outcome::fail;
    verdict.sentence =
        count_of(verdict.missing_outputs, "output", "outputs") + " of the network on one side only";
  } else if (verdict.inputs_differ) {
    verdict.outcome = Outcome::inconclusive;
    verdict.sentence = "the two runs were not given the same inputs";
  } else if (verdict.outcome != Outcome::inconclusive) {
    verdict.outcome = Outcome::pass;
    verdict.sentence = "no culprit among " + all;
  }
  settle(result);
}

}  // namespace

Result<Rule> parse_rule(std::string_view text) {
  Rule rule;
  constexpr std::string_view kVerdict = "verdict";
  if (text == kVerdict) {
    rule.replay_budget = true;
    return rule;
  }
  if (text.substr(0, kVerdict.size() + 1) == "verdict=") {
    const auto limit = parse_double(text.substr(kVerdict.size() + 1));
    if (!limit || !(*limit > 0.0)) {
      return Error{ErrorCode::invalid_argument,
                   "rule '" + std::string(text) + "': expected a limit above 0, as in verdict=4"};
    }
    rule.replay_budget = true;
    rule.limit = *limit;
    return rule;
  }
  OPDRIFT_TRY(rule.gates, parse_gates(text));
  return rule;
}

std::string describe(const Rule& rule) {
  if (!rule.replay_budget) {
    return describe(rule.gates);
  }
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(),
                "replay budget: an operator's own error within %g times its budget", rule.limit);
  return text.data();
}

Label label_at(const Judgement& judgement, double limit) {
  if (judgement.label == Label::unjudged || is_final(judgement)) {
    return judgement.label;
  }
  // Written so that a ratio that is no number is beyond every limit.
  const bool norm = !(judgement.q_own <= limit);
  const double cost = std::fmin(judgement.depth, std::hypot(judgement.rho, judgement.inherited));
  if (!(judgement.z <= limit) || (norm && !(judgement.own <= cost))) {
    return Label::culprit;
  }
  if (judgement.label == Label::victim || judgement.label == Label::drift) {
    return judgement.label;
  }
  const bool wider = judgement.cause == Cause::wider_inputs;
  const double before = wider ? std::fmax(judgement.q1, judgement.z1) : 0.0;
  const bool watch =
      norm || !(std::fmax(judgement.q_own, judgement.z) <= limit / 2.0) || !(before <= limit);
  return watch ? Label::watch : Label::healthy;
}

namespace {

/// Tensors of which allclose cannot be said: "beyond the limits" would be a lie about them.
std::size_t left_open(const AllClose& allclose, const RunResult& result) {
  return static_cast<std::size_t>(
      std::count_if(result.tensors.begin(), result.tensors.end(), [&](const TensorResult& tensor) {
        return tensor.measurement && !tensor.profile && undecided(allclose, *tensor.measurement);
      }));
}

}  // namespace

Status rejudge(const Rule& rule, RunResult& result) {
  if (rule.replay_budget && !result.verdict) {
    return Error{ErrorCode::invalid_argument,
                 "the result was not judged by the replay budget; compare again with the golden's "
                 "model"};
  }
  if (const std::size_t open = rule.gates.allclose ? left_open(*rule.gates.allclose, result) : 0;
      open > 0) {
    return Error{ErrorCode::invalid_argument,
                 "allclose cannot be decided for " + std::to_string(open) + " of " +
                     count_of(result.tensors.size(), "tensor", "tensors") +
                     " from what the result keeps; compare again with --profile"};
  }
  for (TensorResult& tensor : result.tensors) {
    if (!rule.replay_budget || !tensor.judgement || tensor.judgement->tier == Tier::gates) {
      apply_gates(rule.gates, tensor);
    } else if (was_replayed(tensor)) {
      apply_limit(rule.limit, tensor);
    }
  }
  result.rule = describe(rule);
  if (rule.replay_budget) {
    conclude(result);
    return Unit{};
  }
  result.verdict.reset();
  for (TensorResult& tensor : result.tensors) {
    tensor.judgement.reset();
  }
  return Unit{};
}

void settle(RunResult& result) {
  if (!result.verdict || result.verdict->outcome == Outcome::fail || result.failed() == 0) {
    return;
  }
  result.verdict->outcome = Outcome::fail;
  result.verdict->sentence = count_of(result.failed(), "tensor", "tensors") +
                             " could not be judged by a replay and failed otherwise; " +
                             result.verdict->sentence;
}

namespace {

/// The smallest tolerance, and no less: where it was rounded down the last bits are put back.
double passing_rtol(const ErrorProfile& profile, double atol) {
  double rtol = profile.smallest_rtol(atol).high;
  for (double more = 1e-16;
       more < 1e-12 && std::isfinite(rtol) && profile.decide(atol, rtol) != Decision::pass;
       more *= 2.0) {
    rtol += more * rtol;
  }
  return rtol;
}

/// The relative tolerance of allclose that every tensor passes with; nothing without profiles.
std::optional<Tolerance> smallest_allclose(const RunResult& result) {
  Tolerance smallest{"allclose", 0.0, 0};
  bool any = false;
  for (std::size_t i = 0; i < result.tensors.size(); ++i) {
    const TensorResult& tensor = result.tensors[i];
    const bool agrees = tensor.measurement && tensor.measurement->max_abs.value == 0.0;
    if (!tensor.measurement || (!tensor.profile && agrees)) {
      continue;
    }
    if (!tensor.profile) {
      return std::nullopt;
    }
    const double needed = passing_rtol(*tensor.profile, default_atol(*tensor.measurement));
    if (!any || !(needed <= smallest.limit)) {
      smallest.limit = needed;
      smallest.tensor = i;
    }
    any = true;
  }
  return any && std::isfinite(smallest.limit) ? std::optional(smallest) : std::nullopt;
}

}  // namespace

std::string Tolerance::text() const {
  std::array<char, 32> digits{};
  for (int precision = 6; precision <= 17; ++precision) {
    std::snprintf(digits.data(), digits.size(), "%.*g", precision, limit);
    const double shown = parse_double(digits.data()).value_or(limit);
    if (larger_is_better ? shown <= limit : shown >= limit) {
      break;
    }
  }
  return std::string(name) + "=" + digits.data();
}

std::vector<Tolerance> smallest_tolerances(const RunResult& result) {
  std::vector<Tolerance> tolerances;
  for (std::size_t i = 0; i < result.tensors.size(); ++i) {
    if (!result.tensors[i].measurement) {
      continue;
    }
    if (result.tensors[i].measurement->class_mismatches > 0) {
      return {};
    }
    const std::vector<GateValue> values = gate_values(*result.tensors[i].measurement);
    if (tolerances.empty()) {
      for (const GateValue& value : values) {
        tolerances.push_back({value.name, value.value, i, value.larger_is_better});
      }
    }
    for (std::size_t g = 0; g < values.size(); ++g) {
      const double value = values[g].value;
      const double known = tolerances[g].limit;
      if (std::isnan(value) || (values[g].larger_is_better ? value < known : value > known)) {
        tolerances[g].limit = std::isnan(known) ? known : value;
        tolerances[g].tensor = i;
      }
    }
  }
  std::erase_if(tolerances, [](const Tolerance& one) { return std::isnan(one.limit); });
  if (const auto allclose = smallest_allclose(result)) {
    tolerances.push_back(*allclose);
  }
  return tolerances;
}

}  // namespace opdrift::verdict
