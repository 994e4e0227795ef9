#include "opdrift/pipeline/judge/judge_run.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "opdrift/graph/graph_file.hpp"
#include "opdrift/pipeline/judge/explain_run.hpp"
#include "opdrift/pipeline/judge/golden_model.hpp"
#include "opdrift/pipeline/judge/network_view.hpp"
#include "opdrift/pipeline/judge/onnx_problem.hpp"
#include "opdrift/pipeline/judge/overflow_summary.hpp"
#include "opdrift/verdict/rejudge.hpp"

namespace opdrift::pipeline {

namespace {

using verdict::Cause;
using verdict::Judgement;
using verdict::Label;
using verdict::Outcome;
using verdict::RunVerdict;
using verdict::Tier;
using verdict::ValueId;

std::string given_model(const CompareOptions& options) {
  const auto model =
      std::find_if(options.graphs.begin(), options.graphs.end(),
                   [](const std::string& path) { return !graph::is_graph_file(path); });
  return model == options.graphs.end() ? std::string() : *model;
}

/// The error of every golden tensor that was judged where it was made.
std::unordered_map<std::string, const metrics::Measurement*> judged_outputs(
    const verdict::RunResult& result) {
  std::unordered_map<std::string, const metrics::Measurement*> outputs;
  for (const verdict::TensorResult& row : result.tensors) {
    if (row.judgement && row.measurement && row.role == "output") {
      outputs.emplace(row.golden_path + '\n' + row.tensor_name, &*row.measurement);
    }
  }
  return outputs;
}

/// An input that is no worse than the output it is a copy of.
bool is_copy(const metrics::Measurement& input, const metrics::Measurement& output) {
  constexpr double kSlack = 1.0 + 1e-6;  // sums taken in another order
  return input.class_mismatches <= output.class_mismatches &&
         input.relative_l2() <= output.relative_l2() * kSlack;
}

/// Rows that hold no value of the graph. What operators read was judged where it was made.
void judge_the_rest(verdict::RunResult& result) {
  const auto outputs = judged_outputs(result);
  for (verdict::TensorResult& row : result.tensors) {
    if (row.judgement) {
      continue;
    }
    const auto output = outputs.find(row.golden_path + '\n' + row.tensor_name);
    if (row.role == "input" && row.measurement && output != outputs.end() &&
        is_copy(*row.measurement, *output->second)) {
      row.judgement = Judgement{};
      row.judgement->sentence = "judged where it was made";
      row.passed = true;
      row.reason = row.judgement->sentence;
    } else {
      row.judgement =
          by_limits(row, row.statistics_only ? "only statistics are there" : "not in the graph");
    }
  }
}

void take_judgement(Judgement judgement, verdict::TensorResult& row) {
  row.passed = judgement.label != Label::culprit;
  row.reason = judgement.label == Label::healthy ? std::string() : judgement.sentence;
  row.judgement = std::move(judgement);
}

/// Order of outcomes, worst last.
int badness(Outcome outcome) {
  switch (outcome) {
    case Outcome::pass: return 0;
    case Outcome::inconclusive: return 1;
    case Outcome::fail: return 2;
  }
  return 2;
}

/// Findings of one kind are said once, by the step that shows them most.
void merge_findings(std::vector<verdict::Finding>& all, std::vector<verdict::Finding> more) {
  for (verdict::Finding& finding : more) {
    const auto same = std::find_if(all.begin(), all.end(), [&](const verdict::Finding& known) {
      return known.kind == finding.kind;
    });
    if (same == all.end()) {
      all.push_back(std::move(finding));
    } else if (finding.operators > same->operators) {
      *same = std::move(finding);
    }
  }
}

}  // namespace

Judgement by_limits(const verdict::TensorResult& row, const std::string& why) {
  Judgement judgement;
  judgement.tier = !row.measurement      ? Tier::none
                   : row.statistics_only ? Tier::statistics
                                         : Tier::gates;
  judgement.cause = row.passed ? Cause::none : Cause::gate;
  if (!row.measurement && !row.reason.empty()) {
    judgement.sentence = row.reason;  // there is nothing that a limit could be asked about
    return judgement;
  }
  judgement.sentence =
      why + ", judged by limits" + (row.reason.empty() ? std::string() : ": " + row.reason);
  return judgement;
}

Status judge_run(const GraphProblem& problem, const PairValues& values,
                 const JudgeRunOptions& options, verdict::RunResult& result) {
  auto answer = verdict::judge(problem.problem, values, options.judge);
  if (options.complete) {
    options.complete();
  }
  if (result.interrupted) {
    return Unit{};
  }
  if (!answer && answer.error().code == ErrorCode::cancelled) {
    result.interrupted = true;  // what was measured is kept
    return Unit{};
  }
  OPDRIFT_TRY(verdict::JudgedRun judged, std::move(answer));
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
  describe_network(problem, values, result);
  if (result.overflow.sentence.empty()) {
    result.overflow = overflow_summary(problem, values, result, options.judge.jobs);
  }
  if (options.explain) {
    explain_run(problem, values,
                {.jobs = options.judge.jobs,
                 .cancel = options.judge.cancel,
                 .label = options.label,
                 .earlier = options.earlier},
                result);
  }
  return Unit{};
}

void merge_step(std::optional<RunVerdict>& run, RunVerdict step, const std::string& name) {
  if (!name.empty()) {
    step.sentence = name + ": " + step.sentence;
  }
  if (!run) {
    run = std::move(step);
    return;
  }
  merge_findings(run->findings, std::move(step.findings));
  const bool worse = badness(step.outcome) > badness(run->outcome);
  run->unjudged += step.unjudged;
  if (!worse && run->outcome == Outcome::pass) {
    run->sentence = run->unjudged == 0
                        ? "in every step, every operator stays within what its precision explains"
                        : "in every step, every operator that could be judged stays within what "
                          "its precision explains";
  }
  run->missing_outputs += step.missing_outputs;
  run->inputs_differ = run->inputs_differ || step.inputs_differ;
  if (worse) {
    run->outcome = step.outcome;
    run->sentence = std::move(step.sentence);
    run->first_divergence = std::move(step.first_divergence);
  }
}

JudgeRunOptions judge_run_options(const CompareOptions& options) {
  JudgeRunOptions run;
  run.explain = options.explain;
  run.judge.assume = options.assume;
  run.judge.jobs = options.jobs;
  run.judge.cancel = options.cancel;
  if (options.progress) {
    run.judge.progress = [&options](std::uint64_t done, std::uint64_t total) {
      options.progress(done, total, 0);
    };
  }
  return run;
}

bool wants_verdict(const CompareOptions& options, const verdict::RunResult& result) {
  return options.decided_by != DecidedBy::gates && !result.tensors.empty() && !result.interrupted;
}

Status check_model(const CompareOptions& options) {
  const auto models =
      std::count_if(options.graphs.begin(), options.graphs.end(),
                    [](const std::string& path) { return !graph::is_graph_file(path); });
  if (models > 1) {
    return Error{
        ErrorCode::invalid_argument,
        "expected at most one ONNX model among the graphs, found " + std::to_string(models)};
  }
  if (models == 1) {
    OPDRIFT_CHECK_OK(io::onnx::open_model(given_model(options)));
  }
  if (!options.target_weights.empty()) {
    if (options.decided_by == DecidedBy::gates) {
      return Error{ErrorCode::invalid_argument,
                   "weights of the target are for the verdict; limits do not look at them",
                   options.target_weights};
    }
    OPDRIFT_CHECK_OK(io::onnx::open_model(options.target_weights));
  }
  return Unit{};
}

Status take_target_weights(const CompareOptions& options, GraphProblem& problem) {
  if (!options.target_weights.empty()) {
    OPDRIFT_TRY(const io::onnx::Model model, io::onnx::open_model(options.target_weights));
    OPDRIFT_CHECK_OK(add_target_parameters(model, problem));
  }
  return Unit{};
}

Result<GoldenModel> model_of(const CompareOptions& options, const std::string& golden_path) {
  OPDRIFT_TRY(GoldenModel found, golden_model(given_model(options), golden_path));
  if (!found.model && !options.target_weights.empty()) {
    return Error{ErrorCode::invalid_argument,
                 "weights of the target need the golden's ONNX model beside them: give it with "
                 "--graph",
                 options.target_weights};
  }
  return found;
}

Status conclude(const CompareOptions& options, verdict::RunResult& result, const std::string& why) {
  if (!result.verdict && result.interrupted) {
    result.notes.emplace_back("judging was interrupted: the limits stand");
    return Unit{};
  }
  if (!result.verdict && options.decided_by == DecidedBy::verdict) {
    return Error{ErrorCode::invalid_argument, "--rule verdict: " + why};
  }
  if (!result.verdict) {
    result.notes.push_back(std::string(kLimitsNote) + why);
    return Unit{};
  }
  judge_the_rest(result);
  verdict::Rule rule;
  rule.replay_budget = true;
  rule.limit = options.limit;
  rule.gates = options.gates;
  result.rule = verdict::describe(rule);
  if (options.limit != verdict::Rule{}.limit) {
    return verdict::rejudge(rule, result);
  }
  verdict::settle(result);
  return Unit{};
}

}  // namespace opdrift::pipeline
