#include <algorithm>
#include <map>

#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/flow/step.hpp"

// C1 two dumps of one model and input are equal bit by bit
// C2 all runs were given the same inputs
// C3, C4 (complete dumps, first NaN or Inf) come with the evidence as notes
// C5 pieces of evidence that contradict each other are named; the flow goes on

namespace opdrift::diagnose::flow {

namespace {

// Rounding an input to bfloat16 costs less than 1e-5 of its cosine.
constexpr double kSameInput = 0.999;
constexpr double kSameTensor = 1.0 - 1e-9;

void add_notes(const Facts& facts, StepResult& result) {
  for (const EvidenceNote& note : facts.notes) {
    result.checks.push_back({note.id, note.result});
  }
}

StepResult not_repeatable(const StepInput& input, const RepeatFacts& repeat) {
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
  if (verdict_of(input, "noreuse") == Verdict::pass) {
    result.checks.push_back(
        {"C1", "without memory reuse the model passes: overwritten memory is the likely reason"});
  }
  add_notes(input.facts, result);
  return result;
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

/// With AIPP a model takes the raw image; what the others take is made of it beforehand.
bool takes_raw_image(const Facts& facts, const std::string& role) {
  return uses_aipp(facts) && role != "golden" && role != "framework" && role != "noaipp";
}

/// Two runs whose inputs are not the same, in words; "" when all agree.
std::string different_digests(const Facts& facts) {
  std::map<bool, std::pair<std::string, std::string>> first;  // raw or not: role and digest
  for (const auto& [role, run] : facts.runs) {
    if (run.input_digest.empty()) {
      continue;
    }
    const auto [known, fresh] =
        first.try_emplace(takes_raw_image(facts, role), role, run.input_digest);
    if (!fresh && run.input_digest != known->second.second) {
      return "the runs " + known->second.first + " and " + role + " were given different inputs";
    }
  }
  return "";
}

/// Both sides of a comparison take the same kind of input.
bool comparable_inputs(const Facts& facts, const std::string& pair) {
  const std::size_t cut = pair.find(".vs.");
  return cut == std::string::npos || takes_raw_image(facts, pair.substr(0, cut)) ==
                                         takes_raw_image(facts, pair.substr(cut + 4));
}

std::string different_inputs(const StepInput& input) {
  const double limit = std::max(kSameInput, input.options.limits.output);
  for (const auto& [pair, operators] : input.facts.compare) {
    if (!comparable_inputs(input.facts, pair)) {
      continue;
    }
    for (const OperatorFacts& op : operators) {
      if (is_network_input(op) && is_different(op, limit)) {
        return "network input " + op.op + " differs in " + pair + " (cosine " +
               number_text(1.0 - output_error(op)) + ")";
      }
    }
  }
  return "";
}

bool digests_known(const Facts& facts) {
  return std::count_if(facts.runs.begin(), facts.runs.end(),
                       [](const auto& run) { return !run.second.input_digest.empty(); }) > 1;
}

/// The task's metric says one thing, the outputs say another.
std::string metric_against_outputs(const StepInput& input, const std::string& role,
                                   const RunFacts& run) {
  if (run.verdict == Verdict::unknown || !run.output_cosine) {
    return "";
  }
  const bool good = *run.output_cosine >= input.options.limits.output;
  if (good == (run.verdict == Verdict::pass)) {
    return "";
  }
  return role +
         (good ? " fails though its outputs agree with the golden (cosine "
               : " passes though its outputs do not agree with the golden (cosine ") +
         number_text(*run.output_cosine) + "): the verdict given counts";
}

/// Two runs agree in every operator, and one of them passes.
std::string verdicts_of_equal_runs(const StepInput& input, const std::string& pair,
                                   const OperatorList& operators) {
  const std::size_t cut = pair.find(".vs.");
  const std::string candidate = pair.substr(0, cut);
  const std::string reference = cut == std::string::npos ? "" : pair.substr(cut + 4);
  const Verdict one = verdict_of(input, candidate);
  const Verdict other = verdict_of(input, reference);
  const bool equal = std::any_of(operators.begin(), operators.end(), comparable) &&
                     std::none_of(operators.begin(), operators.end(), [](const auto& op) {
                       return is_different(op, kSameTensor) || !comparable(op);
                     });
  const bool opposite = one != other && one != Verdict::unknown && other != Verdict::unknown;
  return equal && opposite ? candidate + " and " + reference +
                                 " agree in every operator, but only one of them passes: the "
                                 "dumps or the verdicts are those of other runs"
                           : "";
}

void add_contradictions(const StepInput& input, StepResult& result) {
  std::vector<std::string> found;
  for (const auto& [role, run] : input.facts.runs) {
    found.push_back(metric_against_outputs(input, role, run));
  }
  for (const auto& [pair, operators] : input.facts.compare) {
    found.push_back(verdicts_of_equal_runs(input, pair, operators));
  }
  for (std::string& one : found) {
    if (!one.empty()) {
      result.checks.push_back({"C5", std::move(one)});
    }
  }
}

}  // namespace

StepResult check_consistency(const StepInput& input) {
  const Facts& facts = input.facts;
  if (facts.repeat && !facts.repeat->identical) {
    return not_repeatable(input, *facts.repeat);
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
  add_contradictions(input, result);
  return result;
}

}  // namespace opdrift::diagnose::flow
