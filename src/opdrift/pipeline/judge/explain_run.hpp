#pragma once

#include <functional>
#include <string>

#include "opdrift/base/parallel.hpp"
#include "opdrift/pipeline/judge/graph_problem.hpp"
#include "opdrift/pipeline/judge/pair_values.hpp"
#include "opdrift/verdict/result.hpp"

namespace opdrift::pipeline {

/// The step before the one that is explained: what a stale buffer still holds.
struct EarlierStep {
  const PairValues* values = nullptr;  ///< of the same problem; nullptr: none
  std::string name;
};

struct ExplainRunOptions {
  std::size_t jobs = 0;
  const CancelFlag* cancel = nullptr;
  /// How a value is called in sentences; by the operator that makes it and its own name where this
  /// is not set. Values of one label are one tensor.
  std::function<std::string(const std::string& name)> label;
  EarlierStep earlier;
};

/// Explains the culprits of a judged run, parameters among them, and network inputs that differ:
/// what would make the wrong tensor out of the right one, and where in the tensor the error lies.
/// The first culprits of the graph are looked at (16 at most; the rest is noted); when there is
/// one, every tensor of the target (and of the step before) is read once more to see whether a
/// culprit holds another one's data.
void explain_run(const GraphProblem& problem, const PairValues& values,
                 const ExplainRunOptions& options, verdict::RunResult& result);

}  // namespace opdrift::pipeline
