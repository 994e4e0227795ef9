#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/diagnose/flow/classes.hpp"
#include "opdrift/diagnose/flow/diagnosis.hpp"
#include "opdrift/diagnose/flow/facts.hpp"
#include "opdrift/diagnose/flow/limits.hpp"

/// A step of the flow looks at the facts and concludes, asks for a run, or lets the next one go on.
namespace opdrift::diagnose::flow {

struct FlowOptions {
  Limits limits;
  char first_step = 'C';
  bool greedy = false;  ///< keep list: all origins of a round at once
  bool strict = false;  ///< the high precision run is float32 throughout
};

struct StepInput {
  const Facts& facts;
  const FlowOptions& options;
};

/// A run to make, and the keep list it is made with (of mixed_<k>).
struct Experiment {
  std::string role;
  std::string why;
  std::vector<std::string> keep;
  std::vector<const OperatorFacts*> customize;  ///< operators that keep_dtype did not reach
};

struct StepResult {
  std::optional<Conclusion> conclusion;
  Confidence confidence = Confidence::suspected;
  std::vector<BlamedOperator> operators;
  std::vector<Fix> fixes;
  /// With a conclusion: what confirms it. Without: the run that is missing.
  std::optional<Experiment> next;
  /// Without a conclusion: later steps have nothing to say any more.
  bool ends = false;
  /// With a conclusion: it counts only when no later step concludes.
  bool tentative = false;
  std::vector<Check> checks;
};

/// The run's verdict: as given, else by its output cosine, else unknown.
Verdict verdict_of(const StepInput& input, std::string_view role);

/// A row for what the network is given, not for an operator.
bool is_network_input(const OperatorFacts& op);

/// AIPP makes the input of the base run, as far as the facts tell.
bool uses_aipp(const Facts& facts);

/// Null when there is no comparison, or an empty one.
const OperatorList* comparison(const Facts& facts, std::string_view candidate,
                               std::string_view reference);

/// Operators that differ from a reference run by themselves: their inputs are no different. When
/// all that differ have inherited it, the first of them.
std::vector<const OperatorFacts*> own_differences(const OperatorList& operators, double limit);

BlamedOperator blame(const OperatorFacts& op, double limit);
std::vector<BlamedOperator> blame_all(const std::vector<const OperatorFacts*>& operators,
                                      double limit);
/// An operator of which only the name is known.
BlamedOperator blame_name(const std::string& name);

/// Original names of operators, each once.
std::vector<std::string> original_names(const std::vector<const OperatorFacts*>& operators);

/// "0.9876": a cosine, and any other number of a sentence.
std::string number_text(double value);

/// A missing run of that role.
StepResult ask_for(std::string role, std::string why);
/// Two dumps that have to be compared before anything else can be said.
StepResult ask_for_dump(std::string_view candidate, std::string_view reference, std::string why);

StepResult check_consistency(const StepInput& input);  // C
StepResult check_boundary(const StepInput& input);     // I
StepResult check_export(const StepInput& input);       // X
StepResult review_command(const StepInput& input);     // A
StepResult check_precision(const StepInput& input);    // P
StepResult check_buffers(const StepInput& input);      // B
StepResult check_fusion(const StepInput& input);       // F
StepResult check_data(const StepInput& input);         // D
StepResult check_golden(const StepInput& input);       // G

}  // namespace opdrift::diagnose::flow
