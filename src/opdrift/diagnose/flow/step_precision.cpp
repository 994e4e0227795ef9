#include <algorithm>

#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/fixes/precision_modes.hpp"
#include "opdrift/diagnose/flow/precision_cause.hpp"
#include "opdrift/diagnose/flow/step.hpp"

// Does the model pass in high precision? Then the operators that need it are found one per round:
//
//   K = {}, candidate = base
//   repeat  d = first operator of candidate.vs.high that differs; none: K is the fix
//           K += original names of d; candidate = mixed_<k>, built with K

namespace opdrift::diagnose::flow {

namespace {

constexpr std::string_view kMixed = "mixed_";
constexpr std::string_view kHigh = "high";
constexpr std::string_view kBase = "base";

/// Everything is good in one comparison against the golden.
bool all_good(const OperatorList& operators, double limit) {
  return std::none_of(operators.begin(), operators.end(),
                      [&](const OperatorFacts& op) { return is_different(op, limit); }) &&
         std::any_of(operators.begin(), operators.end(), comparable);
}

/// The high precision run equals the golden everywhere and the base run does not.
bool proved_by_golden(const StepInput& input) {
  const OperatorList* const high = comparison(input.facts, kHigh, "golden");
  const OperatorList* const base = comparison(input.facts, kBase, "golden");
  const double limit = input.options.limits.golden;
  return high != nullptr && base != nullptr && all_good(*high, limit) &&
         std::any_of(base->begin(), base->end(),
                     [&](const OperatorFacts& op) { return is_different(op, limit); });
}

std::uint64_t round_of(std::string_view role) {
  return role.substr(0, kMixed.size()) == kMixed ? parse_u64(role.substr(kMixed.size())).value_or(0)
                                                 : 0;
}

/// The last round of the keep list that was run; 0 for none.
std::uint64_t last_round(const Facts& facts) {
  std::uint64_t last = 0;
  for (const auto& [role, run] : facts.runs) {
    last = std::max(last, round_of(role));
  }
  for (const auto& [pair, operators] : facts.compare) {
    const std::size_t cut = pair.find(".vs.high");
    last = std::max(last, cut == std::string::npos ? 0 : round_of(pair.substr(0, cut)));
  }
  return last;
}

/// A passing round, or one in which no operator differs any more.
StepResult finished(const StepInput& input, bool flipped) {
  const std::vector<std::string>& keep = input.facts.keep;
  StepResult result;
  result.conclusion = Conclusion::precision;
  result.confidence = flipped || keep.empty() ? Confidence::proved : Confidence::strong;
  for (const std::string& name : keep) {
    result.operators.push_back(blame_name(name));
  }
  if (!keep.empty()) {
    result.fixes.push_back({"keep_dtype",
                            "this list is the fix: --keep_dtype=keep_dtype.cfg "
                            "--precision_mode=force_fp16",
                            keep_file(keep)});
  }
  result.fixes.push_back(high_precision_fix(input));
  return result;
}

/// No operator of the last round differs.
StepResult nothing_differs(const StepInput& input, const std::string& candidate) {
  const bool fails = verdict_of(input, candidate) == Verdict::fail;
  StepResult result = finished(input, false);
  std::string text = "no operator of " + candidate + " differs from high any more";
  if (fails && candidate != kBase) {
    result.confidence = Confidence::suspected;
    text +=
        ", though its verdict is fail: small errors of many operators, for which only a more "
        "precise mode helps";
  }
  result.checks.push_back({"P", std::move(text)});
  return result;
}

bool contains_all(const std::vector<std::string>& list, const std::vector<std::string>& names) {
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  });
}

/// The operators of this round: the first that differs, or all whose error is their own.
std::vector<const OperatorFacts*> operators_of_round(const StepInput& input,
                                                     const OperatorList& operators) {
  const double limit = input.options.limits.difference;
  if (input.options.greedy) {
    return own_differences(operators, limit);
  }
  const auto first = std::find_if(operators.begin(), operators.end(), [&](const auto& op) {
    return !is_network_input(op) && is_different(op, limit);
  });
  return first == operators.end() ? std::vector<const OperatorFacts*>{}
                                  : std::vector<const OperatorFacts*>{&*first};
}

Experiment next_round(std::uint64_t round, std::vector<std::string> keep,
                      std::vector<const OperatorFacts*> unreached) {
  const std::string why =
      unreached.empty() ? "builds the model with these operators in the original precision; its "
                          "dump is the next candidate, a pass proves the list"
                        : "these operators are on the keep list and differ still: the list does "
                          "not reach them, customize_dtypes beats it";
  return {std::string(kMixed) + std::to_string(round), why, std::move(keep), std::move(unreached)};
}

StepResult blame_round(const StepInput& input, const std::vector<const OperatorFacts*>& operators,
                       std::uint64_t round) {
  const Limits& limits = input.options.limits;
  StepResult result;
  result.conclusion = precision_cause(*operators.front(), limits);
  result.confidence = Confidence::strong;
  result.operators = blame_all(operators, limits.difference);
  std::vector<std::string> keep = input.facts.keep;
  std::vector<const OperatorFacts*> unreached;
  for (const OperatorFacts* const op : operators) {
    result.checks.push_back({"P", precision_evidence(*op, limits)});
    if (round > 0 && contains_all(input.facts.keep, op->original)) {
      unreached.push_back(op);
    }
  }
  for (const std::string& name : original_names(operators)) {
    if (!contains_all(keep, {name})) {
      keep.push_back(name);
    }
  }
  result.fixes = precision_fixes(input, *result.conclusion, operators, keep);
  if (result.conclusion != Conclusion::overflow_const) {
    result.next = next_round(round + 1, std::move(keep), std::move(unreached));
  }
  return result;
}

/// Until there is a dump of the high precision run: what the golden says.
void add_view_of_golden(const StepInput& input, StepResult& result) {
  const OperatorList* const golden = comparison(input.facts, kBase, "golden");
  if (golden == nullptr) {
    return;
  }
  for (const OperatorFacts* const op : operators_of_round(input, *golden)) {
    result.checks.push_back({"P", "against the golden the first one is " +
                                      precision_evidence(*op, input.options.limits)});
  }
}

StepResult keep_list_loop(const StepInput& input) {
  const std::uint64_t round = last_round(input.facts);
  const std::string candidate =
      round == 0 ? std::string(kBase) : std::string(kMixed) + std::to_string(round);
  if (round > 0 && verdict_of(input, candidate) == Verdict::pass) {
    StepResult result = finished(input, true);
    result.checks.push_back({"P", candidate + " passes"});
    return result;
  }
  const OperatorList* const operators = comparison(input.facts, candidate, kHigh);
  if (operators == nullptr) {
    StepResult result = ask_for_dump(
        candidate, kHigh, "precision is the cause; which operator needs it the two dumps tell");
    add_view_of_golden(input, result);
    return result;
  }
  const auto blamed = operators_of_round(input, *operators);
  return blamed.empty() ? nothing_differs(input, candidate) : blame_round(input, blamed, round);
}

/// There is no word on whether the high precision run passes. Where its dump shows an operator that
/// needs the precision, that is the answer unless a later step knows better.
StepResult unjudged(const StepInput& input) {
  const bool known = input.facts.runs.count(std::string(kHigh)) > 0;
  const OperatorList* const operators = comparison(input.facts, kBase, kHigh);
  const std::string why =
      known || operators != nullptr
          ? "the run in high precision is there, whether it passes is not known: give "
            "--verdict high=pass or high=fail, or a golden"
          : "does the model pass in high precision?";
  const auto blamed = operators == nullptr ? std::vector<const OperatorFacts*>{}
                                           : operators_of_round(input, *operators);
  if (blamed.empty()) {
    return ask_for(std::string(kHigh), why);
  }
  StepResult result = blame_round(input, blamed, 0);
  result.tentative = true;
  result.confidence = Confidence::suspected;
  result.next = Experiment{std::string(kHigh), why, {}, {}};
  return result;
}

}  // namespace

StepResult check_precision(const StepInput& input) {
  Verdict high = verdict_of(input, kHigh);
  std::string how = "the run in high precision passes";
  if (high == Verdict::unknown && proved_by_golden(input)) {
    high = Verdict::pass;
    how = "the run in high precision equals the golden everywhere, the base run does not";
  }
  StepResult result;
  if (high == Verdict::fail) {
    result.checks.push_back({"P", "the run in high precision fails as well"});
    return result;
  }
  if (high == Verdict::pass) {
    result = keep_list_loop(input);
    result.checks.insert(result.checks.begin(), {"P", how});
    return result;
  }
  const fixes::PrecisionMode* const mode = fixes::chosen_precision(input.facts.options);
  if (mode != nullptr && mode->strict) {
    result.checks.push_back({"P", "the base run is in high precision already"});
    return result;
  }
  return unjudged(input);
}

}  // namespace opdrift::diagnose::flow
