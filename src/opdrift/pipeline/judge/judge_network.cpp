#include "opdrift/pipeline/judge/judge_network.hpp"

#include <string>
#include <utility>

#include "opdrift/base/text.hpp"
#include "opdrift/pipeline/judge/judge_run.hpp"
#include "opdrift/pipeline/network/open_row.hpp"

namespace opdrift::pipeline {

namespace {

/// "relu1:0" as a name that values are looked up by.
match::NamedTensor golden_name(const std::string& text) {
  match::NamedTensor name;
  const std::size_t colon = text.rfind(':');
  const auto index = colon == std::string::npos ? std::nullopt : parse_u64(text.substr(colon + 1));
  name.operator_name = text.substr(0, colon);
  name.index = static_cast<std::uint32_t>(index.value_or(0));
  return name;
}

class NetworkJudge {
 public:
  NetworkJudge(const NetworkInputs& inputs, const NetworkOptions& network,
               const NetworkResult& compared)
      : inputs_(inputs), network_(network), compared_(compared) {}

  Status run(const OnnxProblem& problem, const std::vector<std::optional<std::size_t>>& row_of_job,
             const JudgeRunOptions& options, verdict::RunResult& result) {
    PairValues values(
        problem, [this](std::size_t job) { return open_job(job); },
        [this](std::size_t entry) { return open_golden(entry); });
    if (place_pairs(problem, row_of_job, values) == 0) {
      return Unit{};
    }
    place_goldens(problem, values);
    return judge_run(problem, values, options, result);
  }

 private:
  std::size_t place_pairs(const OnnxProblem& problem,
                          const std::vector<std::optional<std::size_t>>& row_of_job,
                          PairValues& values) const {
    const ValueNames names(problem);
    std::size_t placed = 0;
    for (std::size_t j = 0; j < compared_.jobs.size(); ++j) {
      const NetworkRow& row = compared_.rows[compared_.jobs[j].row];
      if (!row.output || !row.measurement) {
        continue;
      }
      if (const auto value = names.find(golden_name(row.golden_tensor))) {
        values.set_pair(*value, j, row_of_job[j]);
        ++placed;
      }
    }
    place_inputs(problem, values);
    return placed;
  }

  /// Network inputs are dumped by the operators that read them, where no operator made them.
  void place_inputs(const OnnxProblem& problem, PairValues& values) const {
    for (std::size_t j = 0; j < compared_.jobs.size(); ++j) {
      const NetworkRow& row = compared_.rows[compared_.jobs[j].row];
      const match::NamedTensor name = golden_name(row.golden_tensor);
      const auto input = problem.value_of.find(name.operator_name);
      if (row.output || !row.measurement || input == problem.value_of.end()) {
        continue;
      }
      if (problem.problem.values[input->second].role ==
          verdict::ProblemValue::Role::network_input) {
        values.set_pair(input->second, j, std::nullopt);
      }
    }
  }

  /// Golden tensors that no operator of the device made: what happened inside fused operators.
  void place_goldens(const OnnxProblem& problem, PairValues& values) {
    for (const verdict::ProblemOperator& op : problem.problem.operators) {
      for (std::uint32_t i = 0; i < op.outputs.size(); ++i) {
        const auto entry = inputs_.golden->find(inputs_.golden->key_of(op.op->name, i));
        if (entry && op.outputs[i] != verdict::kAbsent) {
          values.set_golden(op.outputs[i], goldens_.size());
          goldens_.push_back({*entry, i});
        }
      }
    }
    for (verdict::ValueId value = 0; value < problem.problem.values.size(); ++value) {
      const verdict::ProblemValue& input = problem.problem.values[value];
      const auto entry = inputs_.golden->find(inputs_.golden->key_of(input.name, 0));
      if (entry && input.role == verdict::ProblemValue::Role::network_input) {
        values.set_golden(value, goldens_.size());
        goldens_.push_back({*entry, 0});
      }
    }
  }

  Result<AlignedPair> open_job(std::size_t job) const {
    const RowJob& where = compared_.jobs[job];
    OPDRIFT_TRY(Aligned aligned, open_row(inputs_, network_, compared_.rows[where.row], where));
    return std::move(aligned.pair);
  }

  Result<tensor::View> open_golden(std::size_t position) const {
    const GoldenPlace& place = goldens_[position];
    OPDRIFT_TRY(const std::shared_ptr<const OpenedDump> opened, inputs_.golden->open(place.entry));
    const bool file_per_output = inputs_.golden->kind() != io::FolderKind::offline;
    const io::FileTensor* found =
        find_tensor(*opened, io::TensorRole::output, file_per_output ? 0 : place.output);
    if (found == nullptr) {
      return Error{ErrorCode::out_of_range, "no such output", opened->dump.path};
    }
    OPDRIFT_TRY(const tensor::Tensor tensor, load_tensor(*opened, *found));
    return tensor::stored_view(tensor);
  }

  struct GoldenPlace {
    std::size_t entry = 0;
    std::uint32_t output = 0;
  };

  const NetworkInputs& inputs_;
  const NetworkOptions& network_;
  const NetworkResult& compared_;
  std::vector<GoldenPlace> goldens_;
};

}  // namespace

Status judge_network(const NetworkInputs& inputs, const NetworkOptions& network,
                     const NetworkResult& compared,
                     const std::vector<std::optional<std::size_t>>& row_of_job,
                     const CompareOptions& options, verdict::RunResult& result) {
  OPDRIFT_TRY(const std::optional<OnnxProblem> problem,
              problem_of(options, network.golden_path, result));
  if (!problem) {
    return Unit{};
  }
  OPDRIFT_CHECK_OK(NetworkJudge(inputs, network, compared)
                       .run(*problem, row_of_job, judge_run_options(options), result));
  return conclude(options, result);
}

}  // namespace opdrift::pipeline
