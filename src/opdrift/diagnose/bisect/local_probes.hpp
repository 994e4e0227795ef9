#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "opdrift/base/parallel.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/diagnose/bisect/cut_plan.hpp"
#include "opdrift/diagnose/bisect/output_rule.hpp"
#include "opdrift/diagnose/bisect/search.hpp"
#include "opdrift/engine/inputs.hpp"
#include "opdrift/engine/run_model.hpp"
#include "opdrift/engine/surgery/workpiece.hpp"

/// Probes that are run here: part T of the network runs as target, all else as golden.
///
///   1. golden gives T what it reads from outside
///   2. T runs as target
///   3. golden runs what depends on T, fed with T's values
///   4. the final outputs are judged against those of an all-golden run
namespace opdrift::diagnose {

struct LocalOptions {
  std::string model;
  std::string target_model;  ///< a model with the same operators; "" for `model`
  engine::RunSettings golden;
  engine::RunSettings target;
  engine::InputOptions inputs;
  std::string start;    ///< operator; "" for all that read an input
  std::string end;      ///< operator; "" for all that make an output
  std::string check;    ///< command that judges a target part instead of running it here; ""
  std::string library;  ///< of ONNX Runtime
  OutputRule rule;
  const CancelFlag* cancel = nullptr;
};

/// What one probe showed.
struct ProbeResult {
  Outcome outcome = Outcome::skip;
  std::string reason;
};

/// Golden and target, ready to be mixed.
class LocalProbes {
 public:
  /// Opens the models and runs the golden one. Fails with what that may fail with, and with
  /// mismatch when the two models differ in their operators.
  static Result<std::unique_ptr<LocalProbes>> create(const LocalOptions& options);
  LocalProbes(const LocalProbes&) = delete;
  LocalProbes& operator=(const LocalProbes&) = delete;
  ~LocalProbes();

  const engine::Workpiece& piece() const;
  const CutPlan& plan() const;

  /// Runs `target_nodes` as target and all else as golden. Values that no input can take
  /// (sequences) and parts the library refuses are `skip`; a command may also say so.
  Result<ProbeResult> probe(const engine::NodeSet& target_nodes);

  /// Runs the whole target model with some operators in f32.
  Result<ProbeResult> probe_kept(const engine::KeptOperators& keep);

 private:
  class State;
  explicit LocalProbes(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace opdrift::diagnose
