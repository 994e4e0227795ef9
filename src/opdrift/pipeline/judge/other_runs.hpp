#pragma once

#include <memory>
#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/pipeline/compare.hpp"
#include "opdrift/pipeline/dump_index.hpp"
#include "opdrift/pipeline/judge/graph_problem.hpp"
#include "opdrift/verdict/problem.hpp"
#include "opdrift/verdict/result.hpp"

/// Further runs as evidence: goldens of other seeds or machines, and a baseline that computes in
/// the target's precision. How far they are from the golden tells what a fair run may do.
namespace opdrift::pipeline {

/// Rows that were not judged by a replay are judged by the golden-pair rule against the baseline
/// or, without one, the further golden that is farthest away (docs/verdict.md). Fails when a run
/// cannot be read, when it has no tensor in common with the golden, and when cancelled.
Status judge_by_other_runs(const std::string& golden, const CompareOptions& options,
                           verdict::RunResult& result);

/// The values of a further golden.
class GoldenRun : public verdict::ValueSource {
 public:
  /// Fails when the dump cannot be read at all.
  static Result<std::unique_ptr<GoldenRun>> open(const std::string& path,
                                                 const GraphProblem& problem, std::size_t jobs);

  bool has(verdict::RunSide side, verdict::ValueId value) const override;
  Result<tensor::View> view(verdict::RunSide side, verdict::ValueId value) const override;

 private:
  GoldenRun() = default;

  DumpIndex index_;
  std::vector<std::optional<std::size_t>> tensors_;  // by ValueId
};

}  // namespace opdrift::pipeline
