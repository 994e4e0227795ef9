#include "opdrift/diagnose/flow/flow.hpp"

#include <algorithm>
#include <iterator>

#include "opdrift/diagnose/flow/next.hpp"

namespace opdrift::diagnose::flow {

namespace {

/// Outputs within the limits need no search.
StepResult check_base(const StepInput& input) {
  StepResult result;
  if (verdict_of(input, "base") != Verdict::pass) {
    return result;
  }
  result.conclusion = Conclusion::clean;
  result.confidence = Confidence::strong;
  result.checks.push_back(
      {"G",
       "the outputs of the base run are within the limits: operators that differ within need "
       "no action"});
  result.fixes.push_back({"postprocessing",
                          "if the application is wrong still, compare what it does with the "
                          "outputs",
                          std::nullopt});
  return result;
}

struct Step {
  char id;
  StepResult (*run)(const StepInput& input);
};

constexpr Step kSteps[] = {
    {'C', &check_consistency}, {'I', &check_boundary}, {'X', &check_export},
    {'A', &review_command},    {'A', &check_base},     {'P', &check_precision},
    {'B', &check_buffers},     {'F', &check_fusion},   {'D', &check_data},
    {'G', &check_golden},
};

void conclude(const StepInput& input, char step, StepResult&& result,
              const std::optional<Experiment>& missing, Diagnosis& diagnosis) {
  diagnosis.conclusion = result.conclusion;
  diagnosis.confidence = result.confidence;
  diagnosis.step = result.conclusion == Conclusion::clean ? 'G' : step;
  diagnosis.operators = std::move(result.operators);
  diagnosis.fixes = std::move(result.fixes);
  if (missing) {
    diagnosis.next.push_back(next_step(input, *missing));
  }
  if (result.next && (!missing || missing->role != result.next->role)) {
    diagnosis.next.push_back(next_step(input, *result.next));
  }
}

/// A conclusion that waits for a better one.
struct Tentative {
  char step = 'C';
  StepResult result;
};

/// Not located is no answer while an experiment is open that may give one.
bool decides(const StepResult& result, const std::optional<Experiment>& missing) {
  return result.conclusion && !result.tentative &&
         !(missing && *result.conclusion == Conclusion::unlocated);
}

}  // namespace

Diagnosis diagnose(const Facts& facts, const FlowOptions& options) {
  const StepInput input{facts, options};
  Diagnosis diagnosis;
  std::optional<Experiment> missing;
  std::optional<Tentative> tentative;
  const auto* const first =
      std::find_if(std::begin(kSteps), std::end(kSteps),
                   [&](const Step& step) { return step.id == options.first_step; });
  for (const auto* step = first; step != std::end(kSteps); ++step) {
    StepResult result = step->run(input);
    std::move(result.checks.begin(), result.checks.end(), std::back_inserter(diagnosis.checks));
    if (decides(result, missing)) {
      conclude(input, step->id, std::move(result), missing, diagnosis);
      return diagnosis;
    }
    if (result.next && (!missing || result.ends)) {
      missing = result.next;
      diagnosis.step = step->id;
    }
    if (result.ends) {
      break;
    }
    if (result.conclusion && result.tentative && !tentative) {
      tentative = Tentative{step->id, std::move(result)};
    }
  }
  if (tentative) {
    conclude(input, tentative->step, std::move(tentative->result), missing, diagnosis);
  } else if (missing) {
    diagnosis.next.push_back(next_step(input, *missing));
  }
  return diagnosis;
}

Status check_first_step(char step) {
  const bool known = std::any_of(std::begin(kSteps), std::end(kSteps),
                                 [&](const Step& one) { return one.id == step; });
  if (!known) {
    return Error{ErrorCode::invalid_argument, std::string("no step is called '") + step +
                                                  "'; there are C, I, X, A, P, B, F, D and G"};
  }
  return Unit{};
}

}  // namespace opdrift::diagnose::flow
