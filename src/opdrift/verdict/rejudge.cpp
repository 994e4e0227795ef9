#include "opdrift/verdict/rejudge.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

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

double larger(double one, double other) {
  return std::isnan(one) || one < other ? other : one;
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
    if (!result.tensors[i].passed) {
      ++culprits;
      if (verdict.first_divergence.empty()) {
        verdict.first_divergence.push_back(i);
      }
    }
  }
  if (verdict.outcome == Outcome::inconclusive) {
    return;
  }
  verdict.outcome = culprits > 0 ? Outcome::fail : Outcome::pass;
  verdict.sentence =
      culprits > 0 ? count_of(culprits, "culprit", "culprits") + " among " +
                         count_of(result.tensors.size(), "tensor", "tensors")
                   : "no culprit among " + count_of(result.tensors.size(), "tensor", "tensors");
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
  if (judgement.label == Label::unjudged) {
    return Label::unjudged;
  }
  if (is_final(judgement)) {
    return judgement.label;
  }
  const bool norm = judgement.q_own > limit;
  const double cost = std::fmin(judgement.depth, std::hypot(judgement.rho, judgement.inherited));
  const bool above_precision = !(judgement.own <= cost);
  if (judgement.z > limit || (norm && above_precision)) {
    return Label::culprit;
  }
  if (judgement.label == Label::victim || judgement.label == Label::drift) {
    return judgement.label;
  }
  if (judgement.q_cum > limit) {
    return Label::victim;
  }
  const bool watch = larger(judgement.q_own, judgement.z) > limit / 2.0 ||
                     larger(judgement.q1, judgement.z1) > limit || norm;
  return watch ? Label::watch : Label::healthy;
}

void rejudge(const Rule& rule, RunResult& result) {
  for (TensorResult& tensor : result.tensors) {
    if (rule.replay_budget && tensor.judgement && tensor.judgement->tier != Tier::gates) {
      apply_limit(rule.limit, tensor);
    } else {
      apply_gates(rule.gates, tensor);
    }
  }
  result.rule = describe(rule);
  if (!rule.replay_budget) {
    result.verdict.reset();
    for (TensorResult& tensor : result.tensors) {
      tensor.judgement.reset();
    }
  } else if (result.verdict) {
    conclude(result);
  }
}

std::vector<Tolerance> smallest_tolerances(const RunResult& result) {
  std::vector<Tolerance> tolerances;
  std::vector<bool> larger_is_better;
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
        tolerances.push_back({value.name, value.value, i});
        larger_is_better.push_back(value.larger_is_better);
      }
    }
    for (std::size_t g = 0; g < values.size(); ++g) {
      const double value = values[g].value;
      const double known = tolerances[g].limit;
      if (std::isnan(value) || (larger_is_better[g] ? value < known : value > known)) {
        tolerances[g].limit = std::isnan(known) ? known : value;
        tolerances[g].tensor = i;
      }
    }
  }
  std::erase_if(tolerances, [](const Tolerance& one) { return std::isnan(one.limit); });
  return tolerances;
}

}  // namespace opdrift::verdict
