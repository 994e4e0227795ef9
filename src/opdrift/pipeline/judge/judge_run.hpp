#pragma once

#include <optional>
#include <string>

#include "opdrift/base/parallel.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/pipeline/compare.hpp"
#include "opdrift/pipeline/judge/onnx_problem.hpp"
#include "opdrift/pipeline/judge/pair_values.hpp"
#include "opdrift/verdict/judge.hpp"
#include "opdrift/verdict/result.hpp"

namespace opdrift::pipeline {

struct JudgeRunOptions {
  verdict::JudgeOptions judge;
  bool explain = true;  ///< explanations and places of tensors that are wrong
};

/// Judges a comparison by the replay budget and writes what was found into `result`: judgements and
/// explanations of its rows, the verdict on the run, notes. `values` names the row of each value.
Status judge_run(const OnnxProblem& problem, const PairValues& values,
                 const JudgeRunOptions& options, verdict::RunResult& result);

/// The options of a comparison that concern judging.
JudgeRunOptions judge_run_options(const CompareOptions& options);

/// The problem of the model that the options or the golden's manifest name. Without one the limits
/// stay in force and a note in `result` says why. Fails when the model cannot be read, and when the
/// options ask for a verdict that cannot be had.
Result<std::optional<OnnxProblem>> problem_of(const CompareOptions& options,
                                              const std::string& golden_path,
                                              verdict::RunResult& result);

/// Behind all calls of judge_run: rows that hold no value of the graph keep what the limits said
/// and are labelled so, the rule is named and another limit than the usual one applied. Fails when
/// no value was judged although the options ask for a verdict.
Status conclude(const CompareOptions& options, verdict::RunResult& result);

}  // namespace opdrift::pipeline
