#include "opdrift/pipeline/judge/other_runs.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "opdrift/pipeline/judge/judge_run.hpp"
#include "opdrift/pipeline/judge/pair_values.hpp"
#include "opdrift/verdict/golden_pair.hpp"
#include "opdrift/verdict/rejudge.hpp"

namespace opdrift::pipeline {

namespace {

using verdict::Label;
using verdict::RunSide;
using verdict::Tier;
using verdict::ValueId;

/// What a row is about, the same in every comparison with one golden.
std::string key_of(const verdict::TensorResult& row) {
  return row.step + '\n' + row.golden_operator + '\n' + row.role + '\n' +
         std::to_string(row.index) + '\n' + row.golden_path;
}

using Distances = std::unordered_map<std::string, metrics::Measurement>;

Status add_run(const std::string& run, const std::string& golden, const CompareOptions& options,
               Distances& distances) {
  CompareOptions plain;
  plain.decided_by = DecidedBy::gates;
  plain.jobs = options.jobs;
  plain.cancel = options.cancel;
  plain.max_elements = options.max_elements;
  OPDRIFT_TRY(const verdict::RunResult compared, compare_dumps(run, golden, plain));
  if (compared.tensors.empty()) {
    return Error{ErrorCode::mismatch, "no tensor in common with the golden", run};
  }
  for (const verdict::TensorResult& row : compared.tensors) {
    if (!row.measurement) {
      continue;
    }
    const auto [known, added] = distances.emplace(key_of(row), *row.measurement);
    if (!added && !(row.measurement->relative_l2() <= known->second.relative_l2())) {
      known->second = *row.measurement;
    }
  }
  return Unit{};
}

bool judged_by_replay(const verdict::TensorResult& row) {
  return row.judgement && row.judgement->tier != Tier::gates && row.judgement->tier != Tier::none &&
         row.judgement->label != Label::unjudged;
}

/// The verdict on a run whose rows were judged one by one.
verdict::RunVerdict verdict_of(const verdict::RunResult& result) {
  verdict::RunVerdict verdict;
  std::size_t culprits = 0;
  for (std::size_t i = 0; i < result.tensors.size(); ++i) {
    if (result.tensors[i].judgement && result.tensors[i].judgement->label == Label::culprit) {
      ++culprits;
      if (verdict.first_divergence.empty()) {
        verdict.first_divergence.push_back(i);
      }
    }
  }
  verdict.outcome = culprits == 0 ? verdict::Outcome::pass : verdict::Outcome::fail;
  verdict.sentence =
      culprits == 0 ? "every tensor is as near to the golden as a fair run is"
                    : std::to_string(culprits) + " of " + std::to_string(result.tensors.size()) +
                          " tensors are farther from the golden than a fair run; without a "
                          "model, inherited errors cannot be told from an operator's own";
  return verdict;
}

}  // namespace

Status judge_by_other_runs(const std::string& golden, const CompareOptions& options,
                           verdict::RunResult& result) {
  if (options.decided_by == DecidedBy::gates ||
      (options.baseline.empty() && options.more_goldens.empty())) {
    return Unit{};
  }
  Distances distances;
  if (!options.baseline.empty()) {
    OPDRIFT_CHECK_OK(add_run(options.baseline, golden, options, distances));
  } else {
    for (const std::string& run : options.more_goldens) {
      OPDRIFT_CHECK_OK(add_run(run, golden, options, distances));
    }
  }
  const auto fair =
      options.baseline.empty() ? verdict::FairRun::golden : verdict::FairRun::baseline;
  std::size_t finer = 0;
  bool judged = false;
  for (verdict::TensorResult& row : result.tensors) {
    const auto distance = distances.find(key_of(row));
    if (!row.measurement || judged_by_replay(row) || distance == distances.end()) {
      continue;
    }
    if (!verdict::same_precision(*row.measurement, distance->second)) {
      ++finer;
      continue;
    }
    judged = true;
    row.judgement = verdict::judge_golden_pair(*row.measurement, distance->second, fair);
    row.passed = row.judgement->label != Label::culprit;
    row.reason = row.judgement->label == Label::healthy ? "" : row.judgement->sentence;
  }
  if (finer > 0) {
    result.notes.push_back(
        "the further runs are of a finer type than the target in " + std::to_string(finer) +
        " tensors and say nothing of what that costs; give a run of its precision with "
        "--baseline-precision");
  }
  if (result.verdict) {
    verdict::settle(result);
  } else if (judged) {
    std::erase_if(result.notes, [](const std::string& note) {
      return note.starts_with(kLimitsNote);  // no longer
    });
    result.verdict = verdict_of(result);
    verdict::settle(result);
    result.rule =
        "golden pair: at most 2 times as far from the golden as a fair run (3 for bfloat16 "
        "and small tensors), beyond 4 a culprit";
  }
  return Unit{};
}

Result<std::unique_ptr<GoldenRun>> GoldenRun::open(const std::string& path,
                                                   const GraphProblem& problem, std::size_t jobs) {
  std::unique_ptr<GoldenRun> run(new GoldenRun());
  OPDRIFT_TRY(run->index_, index_dump(path, RunSide::golden, jobs));
  run->tensors_.resize(problem.problem.values.size());
  const ValueNames names(problem);
  for (std::size_t i = 0; i < run->index_.tensors.size(); ++i) {
    const IndexedTensor& tensor = run->index_.tensors[i];
    const auto value = names.find(tensor.name);
    if (value && !tensor.problem && !tensor.summary && !run->tensors_[*value]) {
      run->tensors_[*value] = i;
    }
  }
  return run;
}

bool GoldenRun::has(RunSide side, ValueId value) const {
  return side == RunSide::golden && tensors_[value].has_value();
}

Result<tensor::View> GoldenRun::view(RunSide side, ValueId value) const {
  if (!has(side, value)) {
    return Error{ErrorCode::not_found, "the further golden lacks the value", index_.path};
  }
  OPDRIFT_TRY(const tensor::Tensor tensor, load(index_.tensors[*tensors_[value]]));
  return tensor::stored_view(tensor);
}

}  // namespace opdrift::pipeline
