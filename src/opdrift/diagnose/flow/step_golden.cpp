#include <algorithm>
#include <cmath>

#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/flow/precision_cause.hpp"
#include "opdrift/diagnose/flow/step.hpp"

// The whole network against the golden: where does the error come from?

namespace opdrift::diagnose::flow {

namespace {

/// Operators of an interval, each once.
std::vector<BlamedOperator> interval_operators(const std::vector<std::string>& interval) {
  std::vector<BlamedOperator> operators;
  for (const std::string& name : interval) {
    const bool known = std::any_of(operators.begin(), operators.end(),
                                   [&](const auto& one) { return one.facts.op == name; });
    if (!known && !name.empty()) {
      operators.push_back(blame_name(name));
    }
  }
  return operators;
}

/// The facts of operators that only a name was known of.
void fill_in(const OperatorList* operators, double limit, std::vector<BlamedOperator>& blamed) {
  if (operators == nullptr) {
    return;
  }
  for (BlamedOperator& one : blamed) {
    const auto known = std::find_if(operators->begin(), operators->end(),
                                    [&](const OperatorFacts& op) { return op.op == one.facts.op; });
    if (known != operators->end()) {
      one = blame(*known, limit);
    }
  }
}

std::vector<Fix> sensitive_fixes(const std::vector<BlamedOperator>& blamed) {
  std::vector<const OperatorFacts*> operators;
  for (const BlamedOperator& one : blamed) {
    operators.push_back(&one.facts);
  }
  std::vector<Fix> fixes;
  GeneratedFile file = customize_file(operators);
  const bool known = !file.content.empty();
  fixes.push_back({"customize_dtypes",
                   "float32 for this operator: --customize_dtypes=customize_dtypes.cfg",
                   known ? std::optional(std::move(file)) : std::nullopt});
  fixes.push_back({"keep_dtype", "or keep its original precision: --keep_dtype=keep_dtype.cfg",
                   keep_file(original_names(operators))});
  fixes.push_back({"fusion_switch", "or keep it from being fused", std::nullopt});
  return fixes;
}

/// What the bisection and the single operator at its end say. Nothing when it has not ended.
std::optional<StepResult> after_bisection(const StepInput& input, const OperatorList* operators) {
  const auto& bisect = input.facts.bisect;
  if (!bisect || !bisect->single_op_ok) {
    return std::nullopt;
  }
  const double limit = input.options.limits.golden;
  StepResult result;
  result.confidence = Confidence::strong;
  result.operators = interval_operators(bisect->interval);
  if (result.operators.empty() && operators != nullptr) {
    const std::size_t first = survey(*operators, limit).first_different;
    if (first < operators->size()) {
      result.operators.push_back(blame((*operators)[first], limit));
    }
  }
  fill_in(operators, limit, result.operators);
  if (*bisect->single_op_ok) {
    result.conclusion = Conclusion::sensitive;
    result.checks.push_back({"G", "the bisection ended and the operator alone is good"});
    result.fixes = sensitive_fixes(result.operators);
  } else {
    result.conclusion = Conclusion::single_operator;
    result.checks.push_back({"G", "the operator alone is bad as well"});
    result.fixes.push_back({"report", "report the operator with its inputs", std::nullopt});
  }
  return result;
}

/// The net outputs are known to be wrong by numbers.
bool outputs_known_bad(const StepInput& input) {
  const double limit = input.options.limits.output;
  const auto base = input.facts.runs.find("base");
  const bool by_run = base != input.facts.runs.end() && base->second.output_cosine &&
                      !(*base->second.output_cosine >= limit);
  const auto& boundary = input.facts.boundary;
  return by_run || (boundary && boundary->output_cosine && !(*boundary->output_cosine >= limit));
}

/// The net outputs are good, whatever lies within.
bool outputs_known_good(const StepInput& input) {
  const auto base = input.facts.runs.find("base");
  return verdict_of(input, "base") == Verdict::pass ||
         (base != input.facts.runs.end() && base->second.output_cosine &&
          *base->second.output_cosine >= input.options.limits.output);
}

StepResult clean(std::string how) {
  StepResult result;
  result.conclusion = Conclusion::clean;
  result.confidence = Confidence::strong;
  result.checks.push_back({"G", std::move(how)});
  result.fixes.push_back({"postprocessing",
                          "if the application is wrong still, compare what it does with the "
                          "outputs",
                          std::nullopt});
  return result;
}

/// Nothing that can be compared is to blame; the operators that could not be compared are listed.
StepResult unlocated(const OperatorList& operators, std::size_t end, double limit,
                     std::string how) {
  StepResult result;
  result.conclusion = Conclusion::unlocated;
  for (std::size_t i = 0; i < end; ++i) {
    if (!comparable(operators[i]) && !is_different(operators[i], limit)) {
      result.operators.push_back(blame(operators[i], limit));
    }
  }
  result.checks.push_back({"G", std::move(how)});
  result.fixes.push_back(
      {"evidence",
       "dump the operators without a counterpart, or bisect over them; for those the golden cannot "
       "run, take dumped tensors of the online run as golden",
       std::nullopt});
  return result;
}

StepResult accumulated(const StepInput& input, const OperatorFacts& op) {
  const double limit = input.options.limits.golden;
  const auto& bisect = input.facts.bisect;
  StepResult result;
  result.conclusion = Conclusion::accumulated;
  result.confidence = Confidence::strong;
  result.operators.push_back(blame(op, limit));
  result.checks.push_back({"G", op.op + " is the first operator out of the limit (cosine " +
                                    number_text(1.0 - output_error(op)) +
                                    "), but its inputs are at " +
                                    number_text(1.0 - input_error(op)) + " already"});
  const std::string why =
      bisect && !bisect->interval.empty()
          ? "the bisection ended at " + join(bisect->interval, " to ") +
                ": is the single operator there good on its dumped inputs?"
          : "cut the model at " + op.op + ": does the first part alone make the outputs bad?";
  result.next = Experiment{"bisect", why, {}, {}};
  return result;
}

StepResult operator_itself(const StepInput& input, const OperatorFacts& op) {
  const double limit = input.options.limits.golden;
  StepResult result;
  result.conclusion = Conclusion::single_operator;
  const bool inputs_known = !std::isnan(input_error(op));
  result.confidence = inputs_known ? Confidence::strong : Confidence::suspected;
  result.operators.push_back(blame(op, limit));
  result.checks.push_back({"G", precision_evidence(op, input.options.limits) +
                                    (inputs_known ? "; its inputs are good"
                                                  : "; its inputs are not known, all operators "
                                                    "before it are good")});
  result.fixes.push_back({"report",
                          "run the operator alone on its dumped inputs; bad again: report it with "
                          "them",
                          std::nullopt});
  return result;
}

/// The operator the walk upstream from the first bad one ends at; null when it leaves what can be
/// compared.
const OperatorFacts* source_of_error(const OperatorList& operators, const Survey& found) {
  const OperatorClass first = found.classes[found.first_different];
  if (first == OperatorClass::unknown) {
    return &operators[found.first_different];
  }
  for (std::size_t i = found.first_different; i < operators.size(); ++i) {
    if (found.classes[i] == OperatorClass::origin || found.classes[i] == OperatorClass::drifter) {
      return &operators[i];
    }
  }
  return nullptr;
}

void describe(const OperatorList& operators, const Survey& found, StepResult& result) {
  if (!operators.empty()) {
    result.checks.push_back({"G", counts_text(found)});
  }
  if (found.largest_amplifier < operators.size()) {
    result.checks.push_back({"G", operators[found.largest_amplifier].op +
                                      " amplifies the error of its inputs " +
                                      number_text(found.largest_factor) + " times"});
  }
}

StepResult first_bad(const StepInput& input, const OperatorList& operators, const Survey& found) {
  const double limit = input.options.limits.golden;
  const OperatorFacts* const source = source_of_error(operators, found);
  if (source == nullptr) {
    return unlocated(operators, found.first_different, limit,
                     operators[found.first_different].op +
                         " is the first bad operator, but its inputs are bad already and nothing "
                         "before it is known to be");
  }
  const OperatorClass c = found.classes[static_cast<std::size_t>(source - operators.data())];
  return c == OperatorClass::drifter ? accumulated(input, *source)
                                     : operator_itself(input, *source);
}

StepResult judge(const StepInput& input, const OperatorList& operators) {
  const double limit = input.options.limits.golden;
  const Survey found = survey(operators, limit);
  StepResult result;
  if (outputs_known_good(input)) {
    result = clean("the net outputs are within the limits");
  } else if (found.first_different < operators.size()) {
    result = first_bad(input, operators, found);
  } else if (outputs_known_bad(input) ||
             std::none_of(operators.begin(), operators.end(), comparable)) {
    result = unlocated(operators, operators.size(), limit,
                       "the outputs are wrong and no operator that can be compared is");
  } else {
    result = clean("every operator agrees with the golden");
  }
  describe(operators, found, result);
  return result;
}

/// With AIPP the model's own input is the raw image, which the golden does not have.
std::optional<OperatorList> golden_comparison(const Facts& facts) {
  const auto found = facts.compare.find("base.vs.golden");
  if (found == facts.compare.end()) {
    return std::nullopt;
  }
  OperatorList operators = found->second;
  if (uses_aipp(facts)) {
    operators.erase(std::remove_if(operators.begin(), operators.end(), is_network_input),
                    operators.end());
  }
  return operators;
}

}  // namespace

StepResult check_golden(const StepInput& input) {
  const std::optional<OperatorList> kept = golden_comparison(input.facts);
  const OperatorList* const operators = kept ? &*kept : nullptr;
  if (auto result = after_bisection(input, operators)) {
    return std::move(*result);
  }
  if (operators == nullptr) {
    return ask_for("dump base.vs.golden",
                   "compare the base run with a golden operator by operator");
  }
  return judge(input, *operators);
}

}  // namespace opdrift::diagnose::flow
