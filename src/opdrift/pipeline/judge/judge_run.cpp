#include "opdrift/pipeline/judge/judge_run.hpp"

#include <algorithm>
#include <utility>

#include "opdrift/pipeline/judge/explain_run.hpp"
#include "opdrift/pipeline/judge/golden_model.hpp"
#include "opdrift/pipeline/judge/overflow_summary.hpp"
#include "opdrift/verdict/rejudge.hpp"

namespace opdrift::pipeline {

namespace {

using verdict::Cause;
using verdict::Judgement;
using verdict::Label;
using verdict::Tier;
using verdict::ValueId;

/// What the limits said of a tensor that stands outside the graph.
Judgement outside_graph(const verdict::TensorResult& row) {
  Judgement judgement;
  judgement.tier = !row.measurement      ? Tier::none
                   : row.statistics_only ? Tier::statistics
                                         : Tier::gates;
  judgement.cause = row.passed ? Cause::none : Cause::gate;
  judgement.sentence = (row.statistics_only ? "only statistics are there, judged by limits"
                                            : "not in the graph, judged by limits") +
                       (row.reason.empty() ? std::string() : ": " + row.reason);
  return judgement;
}

std::string given_model(const CompareOptions& options) {
  const auto model = std::find_if(options.graphs.begin(), options.graphs.end(),
                                  [](const std::string& path) { return !looks_like_json(path); });
  return model == options.graphs.end() ? std::string() : *model;
}

void take_judgement(Judgement judgement, verdict::TensorResult& row) {
  row.passed = judgement.label != Label::culprit;
  row.reason = judgement.label == Label::healthy ? std::string() : judgement.sentence;
  row.judgement = std::move(judgement);
}

}  // namespace

Status judge_run(const GraphProblem& problem, const PairValues& values,
                 const JudgeRunOptions& options, verdict::RunResult& result) {
  OPDRIFT_TRY(verdict::JudgedRun judged, verdict::judge(problem.problem, values, options.judge));
  for (ValueId value = 0; value < judged.values.size(); ++value) {
    const std::optional<std::size_t> row = values.row_of(value);
    if (row && judged.values[value] && result.tensors[*row].measurement) {
      take_judgement(std::move(*judged.values[value]), result.tensors[*row]);
    }
  }
  std::vector<std::size_t> first_rows;
  for (const std::size_t value : judged.run.first_divergence) {
    if (const auto row = values.row_of(static_cast<ValueId>(value))) {
      first_rows.push_back(*row);
    }
  }
  judged.run.first_divergence = std::move(first_rows);
  result.verdict = std::move(judged.run);
  result.overflow = overflow_summary(problem, values, result);
  if (options.explain) {
    explain_run(problem, values, {.jobs = options.judge.jobs, .cancel = options.judge.cancel},
                result);
  }
  result.notes.insert(result.notes.end(), problem.notes.begin(), problem.notes.end());
  return Unit{};
}

JudgeRunOptions judge_run_options(const CompareOptions& options) {
  JudgeRunOptions run;
  run.explain = options.explain;
  run.judge.assume = options.assume;
  run.judge.jobs = options.jobs;
  run.judge.cancel = options.cancel;
  return run;
}

bool wants_verdict(const CompareOptions& options, const verdict::RunResult& result) {
  return options.decided_by != DecidedBy::gates && !result.tensors.empty() && !result.interrupted;
}

Result<GoldenModel> model_of(const CompareOptions& options, const std::string& golden_path) {
  return golden_model(given_model(options), golden_path);
}

Status conclude(const CompareOptions& options, verdict::RunResult& result, const std::string& why) {
  if (!result.verdict && options.decided_by == DecidedBy::verdict) {
    return Error{ErrorCode::invalid_argument, "--rule verdict: " + why};
  }
  if (!result.verdict) {
    result.notes.push_back("judged by limits: " + why);
    return Unit{};
  }
  for (verdict::TensorResult& row : result.tensors) {
    if (!row.judgement) {
      row.judgement = outside_graph(row);
    }
  }
  verdict::Rule rule;
  rule.replay_budget = true;
  rule.limit = options.limit;
  rule.gates = options.gates;
  result.rule = verdict::describe(rule);
  if (options.limit != verdict::Rule{}.limit) {
    verdict::rejudge(rule, result);
  }
  return Unit{};
}

}  // namespace opdrift::pipeline
