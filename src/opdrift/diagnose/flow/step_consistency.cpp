#include <map>

#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/flow/step.hpp"

// C1 two dumps of one model and input are equal bit by bit
// C2 all runs were given the same inputs
// C3, C4 (complete dumps, first NaN or Inf) come with the evidence as notes

namespace opdrift::diagnose::flow {

namespace {

StepResult not_repeatable(const RepeatFacts& repeat) {
  StepResult result;
  result.conclusion = Conclusion::nondeterministic;
  result.confidence = Confidence::strong;
  if (!repeat.first_difference.empty()) {
    result.operators.push_back(blame_name(repeat.first_difference));
  }
  result.fixes.push_back({"option", "build and run with --deterministic=1", std::nullopt});
  result.fixes.push_back(
      {"option",
       repeat.unrelated
           ? "the values look like those of another tensor: try --disable_reuse_memory=1 first"
           : "should the values look unrelated, try --disable_reuse_memory=1: memory that is "
             "overwritten also differs from run to run",
       std::nullopt});
  result.checks.push_back(
      {"C1", "two dumps of the same run differ" + (repeat.first_difference.empty()
                                                       ? std::string()
                                                       : ", first in " + repeat.first_difference)});
  return result;
}

void add_notes(const Facts& facts, StepResult& result) {
  for (const EvidenceNote& note : facts.notes) {
    result.checks.push_back({note.id, note.result});
  }
}

StepResult bad_evidence(const Facts& facts, std::string what) {
  StepResult result;
  add_notes(facts, result);
  result.conclusion = Conclusion::bad_evidence;
  result.confidence = Confidence::strong;
  result.checks.push_back({"C2", std::move(what)});
  result.fixes.push_back(
      {"evidence", "make the dumps again, all runs with the same input files", std::nullopt});
  return result;
}

/// Two runs whose inputs are not the same, in words; "" when all agree.
std::string different_digests(const Facts& facts) {
  const std::pair<const std::string, RunFacts>* first = nullptr;
  for (const auto& run : facts.runs) {
    if (run.second.input_digest.empty()) {
      continue;
    }
    if (first != nullptr && run.second.input_digest != first->second.input_digest) {
      return "the runs " + first->first + " and " + run.first + " were given different inputs";
    }
    first = first == nullptr ? &run : first;
  }
  return "";
}

/// With AIPP the model's own input is the raw image, which nobody else has.
bool may_differ(const Facts& facts, const std::string& pair) {
  const bool aipp = facts.options.get("insert_op_conf") || facts.aipp_input_cosine;
  return pair.find("noaipp") != std::string::npos ||
         (aipp && pair.find("golden") != std::string::npos);
}

std::string different_inputs(const StepInput& input) {
  for (const auto& [pair, operators] : input.facts.compare) {
    if (may_differ(input.facts, pair)) {
      continue;
    }
    for (const OperatorFacts& op : operators) {
      if (is_network_input(op) && is_different(op, input.options.limits.output)) {
        return "network input " + op.op + " differs in " + pair + " (cosine " +
               number_text(1.0 - output_error(op)) + ")";
      }
    }
  }
  return "";
}

bool digests_known(const Facts& facts) {
  std::size_t known = 0;
  for (const auto& [role, run] : facts.runs) {
    known += run.input_digest.empty() ? 0U : 1U;
  }
  return known > 1;
}

}  // namespace

StepResult check_consistency(const StepInput& input) {
  const Facts& facts = input.facts;
  if (facts.repeat && !facts.repeat->identical) {
    return not_repeatable(*facts.repeat);
  }
  for (const std::string& problem : {different_digests(facts), different_inputs(input)}) {
    if (!problem.empty()) {
      return bad_evidence(facts, problem);
    }
  }
  StepResult result;
  if (facts.repeat) {
    result.checks.push_back({"C1", "two dumps of the same run are equal"});
  }
  if (digests_known(facts)) {
    result.checks.push_back({"C2", "the runs were given the same inputs"});
  }
  add_notes(facts, result);
  return result;
}

}  // namespace opdrift::diagnose::flow
