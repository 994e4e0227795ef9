#include "opdrift/pipeline/judge/judge_pairs.hpp"

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "opdrift/base/natural_order.hpp"
#include "opdrift/metrics/resident.hpp"
#include "opdrift/pipeline/judge/judge_run.hpp"
#include "opdrift/pipeline/judge/onnx_problem.hpp"
#include "opdrift/pipeline/judge/other_runs.hpp"
#include "opdrift/pipeline/judge/step_check.hpp"

namespace opdrift::pipeline {

namespace {

using verdict::RunVerdict;

class PairJudge {
 public:
  explicit PairJudge(const MeasuredPairs& pairs)
      : pairs_(pairs),
        golden_(pairs.golden),
        target_(pairs.target),
        pairing_(pairs.pairing),
        options_(pairs.options) {}

  Status run(const GraphProblem& problem, verdict::RunResult& result) {
    const ValueNames names(problem);
    JudgeRunOptions judge_options = judge_run_options(options_);
    judge_options.complete = pairs_.complete;
    if (steps().size() == 1) {
      judge_options.judge.progress = nullptr;  // that of measuring counts the same rows
    }
    std::vector<std::unique_ptr<GoldenRun>> goldens;
    for (const std::string& path : options_.more_goldens) {
      OPDRIFT_TRY(goldens.emplace_back(), GoldenRun::open(path, problem, options_.jobs));
      judge_options.judge.more_goldens.push_back(goldens.back().get());
    }
    std::optional<RunVerdict> verdict;
    std::unique_ptr<PairValues> earlier;
    for (const std::string& step : steps()) {
      auto values = std::make_unique<PairValues>(
          problem, [this](std::size_t pair) { return open_pair(pair); },
          [this](std::size_t tensor) { return open_golden(tensor); },
          KnownPairs{[this](std::size_t pair) { return outline(pair); },
                     [this](std::size_t pair) { return measured(pair); },
                     [this](std::size_t pair) { return stored_target(pair); }});
      if (place(step, names, *values) == 0) {
        continue;
      }
      result.verdict.reset();
      OPDRIFT_CHECK_OK(judge_run(problem, *values, judge_options, result));
      if (!result.verdict) {
        return Unit{};  // interrupted
      }
      merge_step(verdict, std::move(*result.verdict), step);
      earlier = std::move(values);
      judge_options.earlier = {earlier.get(), step};
    }
    result.verdict = std::move(verdict);
    if (const auto finding = step_ledger(golden_, target_, pairing_); finding && result.verdict) {
      result.verdict->findings.push_back(*finding);
    }
    result.notes.insert(result.notes.end(), problem.notes.begin(), problem.notes.end());
    return Unit{};
  }

  /// Inputs of a graph that is a part of the network: both sides computed them, so they may differ
  /// by more than the rounding of what was given to both.
  void note_inner_inputs(GraphProblem& problem) const {
    for (const IndexedTensor& tensor : golden_.tensors) {
      const match::NamedTensor& name = tensor.name;
      const auto value = problem.value_of.find(name.tensor_name);
      const bool made = name.output && !name.tensor_name.empty() &&
                        name.operator_name != name.tensor_name && tensor.operator_type != "Input";
      if (made && value != problem.value_of.end()) {
        verdict::ProblemValue& own = problem.problem.values[value->second];
        if (own.role == verdict::ProblemValue::Role::network_input) {
          own.role = verdict::ProblemValue::Role::computed;
        }
      }
    }
  }

  using Steps = std::set<std::string, bool (*)(std::string_view, std::string_view)>;

  Steps steps() const {
    Steps steps(&natural_less);
    for (const IndexPair& pair : pairing_.pairs) {
      if (has_tensors(pair)) {
        steps.insert(golden_.tensors[pair.golden].name.step);
      }
    }
    return steps;
  }

 private:
  /// False for tensors of which only statistics were kept, and for pairs within the target.
  bool has_tensors(const IndexPair& pair) const {
    return !pair.own_golden && !golden_.tensors[pair.golden].summary &&
           !target_.tensors[pair.target].summary;
  }

  /// Tells `values` where the values of one step are. Returns how many pairs have one.
  std::size_t place(const std::string& step, const ValueNames& names, PairValues& values) const {
    std::size_t placed = 0;
    for (std::size_t p = 0; p < pairing_.pairs.size(); ++p) {
      const IndexPair& pair = pairing_.pairs[p];
      if (!has_tensors(pair) || golden_.tensors[pair.golden].name.step != step) {
        continue;
      }
      if (const auto value = names.find(golden_.tensors[pair.golden].name)) {
        values.set_pair(*value, p, pairs_.row_of_pair[p]);
        ++placed;
      }
    }
    for (const AloneTensor& alone : pairing_.alone) {
      if (alone.side != verdict::RunSide::golden ||
          golden_.tensors[alone.position].name.step != step) {
        continue;
      }
      if (const auto value = names.find(golden_.tensors[alone.position].name)) {
        values.set_golden(*value, alone.position);
      }
    }
    return placed;
  }

  /// Pairs that were not selected have no row, but others read them.
  Result<AlignedPair> open_pair(std::size_t pair) const {
    const auto row = pairs_.row_of_pair[pair];
    return row ? pairs_.open(*row) : open_unselected(pair);
  }

  Result<OutlinedPair> outline(std::size_t pair) const {
    if (const auto row = pairs_.row_of_pair[pair]) {
      return pairs_.outline(*row);
    }
    OPDRIFT_TRY(const AlignedPair aligned, open_unselected(pair));
    return outline_of(aligned);
  }

  verdict::MeasuredValue measured(std::size_t pair) const {
    const auto row = pairs_.row_of_pair[pair];
    return row ? pairs_.measured(*row) : verdict::MeasuredValue{};
  }

  Result<tensor::View> stored_target(std::size_t pair) const {
    OPDRIFT_TRY(const tensor::Tensor target, load(target_.tensors[pairing_.pairs[pair].target]));
    OPDRIFT_TRY(const tensor::View view, tensor::stored_view(target));
    return metrics::resident_views(view, {}, 0).front();
  }

  Result<AlignedPair> open_unselected(std::size_t pair) const {
    OPDRIFT_TRY(const tensor::Tensor golden, load(golden_.tensors[pairing_.pairs[pair].golden]));
    OPDRIFT_TRY(const tensor::Tensor target, load(target_.tensors[pairing_.pairs[pair].target]));
    OPDRIFT_TRY(AlignedPair aligned, align_pair(golden, target));
    keep_rows(pairing_.pairs[pair].rows, aligned);
    return aligned;
  }

  Result<tensor::View> open_golden(std::size_t position) const {
    OPDRIFT_TRY(const tensor::Tensor golden, load(golden_.tensors[position]));
    return tensor::stored_view(golden);
  }

  const MeasuredPairs& pairs_;
  const DumpIndex& golden_;
  const DumpIndex& target_;
  const Pairing& pairing_;
  const CompareOptions& options_;
};

}  // namespace

Status judge_pairs(const MeasuredPairs& pairs, verdict::RunResult& result) {
  if (!wants_verdict(pairs.options, result)) {
    pairs.complete();
    return Unit{};
  }
  OPDRIFT_TRY(const GoldenModel model, model_of(pairs.options, pairs.golden.path));
  PairJudge judge(pairs);
  if (!model.model || judge.steps().size() > 1) {
    pairs.complete();
    if (result.interrupted) {
      return Unit{};
    }
  }
  if (!model.model) {
    return conclude(pairs.options, result,
                    model.note.empty() ? "no model tells what the operators should compute; give "
                                         "the golden's with --graph"
                                       : model.note);
  }
  if (judge.steps().size() > 1) {
    if (std::vector<verdict::Finding> findings = check_steps(result); !findings.empty()) {
      say_out_of_step(std::move(findings), result);
      return conclude(pairs.options, result);
    }
  }
  GraphProblem problem = onnx_problem(*model.model);
  OPDRIFT_CHECK_OK(take_target_weights(pairs.options, problem));
  judge.note_inner_inputs(problem);
  OPDRIFT_CHECK_OK(judge.run(problem, result));
  pairs.complete();
  return conclude(pairs.options, result);
}

}  // namespace opdrift::pipeline
