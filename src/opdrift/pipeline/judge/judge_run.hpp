#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "opdrift/base/parallel.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/pipeline/compare.hpp"
#include "opdrift/pipeline/judge/explain_run.hpp"
#include "opdrift/pipeline/judge/golden_model.hpp"
#include "opdrift/pipeline/judge/pair_values.hpp"
#include "opdrift/verdict/judge.hpp"
#include "opdrift/verdict/result.hpp"

namespace opdrift::pipeline {

/// What the note begins with that says why limits decided.
inline constexpr std::string_view kLimitsNote = "judged by limits: ";

struct JudgeRunOptions {
  verdict::JudgeOptions judge;
  bool explain = true;             ///< explanations and places of tensors that are wrong
  std::function<void()> complete;  ///< measures the rows that no value was; empty: all are measured
  std::function<std::string(const std::string& name)> label;  ///< of ExplainRunOptions
  EarlierStep earlier;                                        ///< of ExplainRunOptions
};

/// Judges a comparison by the replay budget and writes what was found into `result`: judgements and
/// explanations of its rows, the verdict on the run. `values` names the row of each value. After an
/// interruption the result has no verdict and is marked.
Status judge_run(const GraphProblem& problem, const PairValues& values,
                 const JudgeRunOptions& options, verdict::RunResult& result);

/// Adds the verdict on one step of a run to that on the steps before: the run is as good as its
/// worst step, findings of one kind are said once.
void merge_step(std::optional<verdict::RunVerdict>& run, verdict::RunVerdict step,
                const std::string& name);

/// The judgement on a row that no replay decides: what the limits said, and why they did.
verdict::Judgement by_limits(const verdict::TensorResult& row, const std::string& why);

/// The options of a comparison that concern judging.
JudgeRunOptions judge_run_options(const CompareOptions& options);

/// False when limits were asked for, or there is nothing to judge.
bool wants_verdict(const CompareOptions& options, const verdict::RunResult& result);

/// Whether the model among the graphs, if one was given, can be read, so that a slip of the pen is
/// told before the work and not after it. Fails as open_model does, and for several models.
Status check_model(const CompareOptions& options);

/// Gives the problem the target's own weights, if options name a model that has them.
Status take_target_weights(const CompareOptions& options, GraphProblem& problem);

/// The model that the options or the golden's manifest name. Fails when a given one cannot be read,
/// or when weights of the target were given and there is none.
Result<GoldenModel> model_of(const CompareOptions& options, const std::string& golden_path);

/// Behind all calls of judge_run: rows that hold no value of the graph keep what the limits said
/// and are labelled so, the rule is named and another limit than the usual one applied. When no
/// value was judged, `why` becomes a note, or an error where the options insist on a verdict.
Status conclude(const CompareOptions& options, verdict::RunResult& result,
                const std::string& why = "the graph knows none of the dump's tensors");

}  // namespace opdrift::pipeline
