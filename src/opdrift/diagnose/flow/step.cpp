#include "opdrift/diagnose/flow/step.hpp"

#include <algorithm>
#include <cmath>

#include "opdrift/verdict/explain/refit.hpp"

namespace opdrift::diagnose::flow {

Verdict verdict_of(const StepInput& input, std::string_view role) {
  const auto run = input.facts.runs.find(std::string(role));
  if (run == input.facts.runs.end()) {
    return Verdict::unknown;
  }
  if (run->second.verdict != Verdict::unknown || !run->second.output_cosine) {
    return run->second.verdict;
  }
  return *run->second.output_cosine >= input.options.limits.output ? Verdict::pass : Verdict::fail;
}

bool is_network_input(const OperatorFacts& op) {
  return op.type == "Data" || op.type == "Input";
}

bool uses_aipp(const Facts& facts) {
  return facts.options.get("insert_op_conf").has_value() || facts.aipp_input_cosine.has_value() ||
         facts.runs.count("noaipp") > 0;
}

const OperatorList* comparison(const Facts& facts, std::string_view candidate,
                               std::string_view reference) {
  const auto found = facts.compare.find(pair_key(candidate, reference));
  return found == facts.compare.end() || found->second.empty() ? nullptr : &found->second;
}

std::vector<const OperatorFacts*> own_differences(const OperatorList& operators, double limit) {
  std::vector<const OperatorFacts*> own;
  const OperatorFacts* first = nullptr;
  for (const OperatorFacts& op : operators) {
    if (!is_network_input(op) && is_different(op, limit)) {
      first = first == nullptr ? &op : first;
      if (!has_bad_input(op, limit) && (first == &op || !std::isnan(input_error(op)))) {
        own.push_back(&op);
      }
    }
  }
  if (own.empty() && first != nullptr) {
    own.push_back(first);
  }
  return own;
}

BlamedOperator blame(const OperatorFacts& op, double limit) {
  return {op, std::string(to_string(classify(op, limit)))};
}

std::vector<BlamedOperator> blame_all(const std::vector<const OperatorFacts*>& operators,
                                      double limit) {
  std::vector<BlamedOperator> blamed;
  for (const OperatorFacts* const op : operators) {
    blamed.push_back(blame(*op, limit));
  }
  return blamed;
}

BlamedOperator blame_name(const std::string& name) {
  BlamedOperator blamed;
  blamed.facts.op = name;
  blamed.facts.original = {name};
  return blamed;
}

std::vector<std::string> original_names(const std::vector<const OperatorFacts*>& operators) {
  std::vector<std::string> names;
  for (const OperatorFacts* const op : operators) {
    for (const std::string& name : op->original) {
      if (std::find(names.begin(), names.end(), name) == names.end()) {
        names.push_back(name);
      }
    }
  }
  return names;
}

std::string number_text(double value) {
  if (std::isnan(value)) {
    return "NaN";
  }
  return verdict::refit::number(value, 6);
}

StepResult ask_for(std::string role, std::string why) {
  StepResult result;
  result.next = Experiment{std::move(role), std::move(why), {}, {}};
  return result;
}

StepResult ask_for_dump(std::string_view candidate, std::string_view reference, std::string why) {
  StepResult result = ask_for("dump " + pair_key(candidate, reference), std::move(why));
  result.ends = true;
  return result;
}

}  // namespace opdrift::diagnose::flow
