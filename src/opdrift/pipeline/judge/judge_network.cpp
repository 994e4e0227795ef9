#include "opdrift/pipeline/judge/judge_network.hpp"

#include <string>
#include <unordered_map>
#include <utility>

#include "opdrift/base/text.hpp"
#include "opdrift/io/model_file.hpp"
#include "opdrift/pipeline/judge/atc_problem.hpp"
#include "opdrift/pipeline/judge/judge_run.hpp"
#include "opdrift/pipeline/judge/onnx_problem.hpp"
#include "opdrift/pipeline/network/open_row.hpp"
#include "opdrift/pipeline/pairing.hpp"

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

  /// Operators are those of the original model.
  Status by_model(const GraphProblem& problem,
                  const std::vector<std::optional<std::size_t>>& row_of_job,
                  const JudgeRunOptions& options, verdict::RunResult& result) {
    PairValues values(
        problem, [this](std::size_t job) { return open_job(job); },
        [this](std::size_t entry) { return open_golden(entry); }, known_pairs());
    if (place_pairs(problem, row_of_job, values) == 0) {
      return Unit{};
    }
    place_goldens(problem, values);
    result.notes.insert(result.notes.end(), problem.notes.begin(), problem.notes.end());
    return judge_run(problem, values, options, result);
  }

  /// Operators are those of the target, with the weights that the target dumped.
  Status by_target_graph(const std::vector<std::optional<std::size_t>>& row_of_job,
                         const JudgeRunOptions& options, verdict::RunResult& result) {
    OPDRIFT_TRY(graph::Graph graph, io::read_graph_file(network_.graph_json, {.attributes = true}));
    std::unordered_map<std::string, std::size_t> outputs;  // jobs by value name
    for (std::size_t j = 0; j < compared_.jobs.size(); ++j) {
      const NetworkRow& row = compared_.rows[compared_.jobs[j].row];
      if (row.output && row.measurement) {
        outputs.emplace(atc_value(row.operator_name, row.tensor), j);
      }
    }
    const AtcLookup lookup{
        [&](const std::string& name, std::uint32_t output) {
          return outputs.contains(atc_value(name, output));
        },
        [&](const std::string& name, std::uint32_t input) { return dumped_input(name, input); }};
    const GraphProblem problem = atc_problem(std::move(graph), lookup);
    PairValues values(
        problem, [this](std::size_t job) { return open_job(job); },
        [this](std::size_t entry) { return open_golden(entry); }, known_pairs());
    std::size_t placed = 0;
    for (const auto& [name, job] : outputs) {
      const auto value = problem.value_of.find(name);
      if (value != problem.value_of.end()) {
        values.set_pair(value->second, job, row_of_job[job]);
        ++placed;
      }
    }
    place_target_inputs(problem, values);
    if (placed == 0) {
      return Unit{};
    }
    result.notes.insert(result.notes.end(), problem.notes.begin(), problem.notes.end());
    return judge_run(problem, values, options, result);
  }

 private:
  /// What an operator dumped of one of its inputs, unfolded to the shape it had in the model.
  Result<tensor::View> dumped_input(const std::string& name, std::uint32_t input) const {
    const auto entry = inputs_.target->find(inputs_.target->key_of(name, 0));
    if (!entry) {
      return Error{ErrorCode::not_found, "no dump of operator", name};
    }
    OPDRIFT_TRY(const std::shared_ptr<const OpenedDump> opened, inputs_.target->open(*entry));
    const io::FileTensor* found = find_tensor(*opened, io::TensorRole::input, input);
    if (found == nullptr) {
      return Error{ErrorCode::out_of_range, "no such input", opened->dump.path};
    }
    OPDRIFT_TRY(const tensor::Tensor tensor, load_tensor(*opened, *found));
    OPDRIFT_TRY(AlignedPair pair, align_pair(tensor, tensor));
    return std::move(pair.target);
  }

  /// Network inputs are known from the operators that read them.
  void place_target_inputs(const GraphProblem& problem, PairValues& values) const {
    std::unordered_map<std::string, std::size_t> inputs;  // jobs by "operator:input:number"
    for (std::size_t j = 0; j < compared_.jobs.size(); ++j) {
      const NetworkRow& row = compared_.rows[compared_.jobs[j].row];
      if (!row.output && row.measurement) {
        inputs.emplace(row.operator_name + ":" + std::to_string(row.tensor), j);
      }
    }
    for (const verdict::ProblemOperator& op : problem.problem.operators) {
      auto gap = op.op->absent_inputs.begin();
      std::size_t number = 0;  // dumps count what is fed
      for (const verdict::ValueId input : op.inputs) {
        if (gap != op.op->absent_inputs.end() && *gap <= number) {
          ++gap;
          continue;
        }
        const auto job = inputs.find(op.op->name + ":" + std::to_string(number++));
        if (input != verdict::kAbsent && job != inputs.end() &&
            problem.problem.values[input].role != verdict::ProblemValue::Role::parameter) {
          values.set_pair(input, job->second, std::nullopt);
        }
      }
    }
  }

  std::size_t place_pairs(const GraphProblem& problem,
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
  void place_inputs(const GraphProblem& problem, PairValues& values) const {
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
  void place_goldens(const GraphProblem& problem, PairValues& values) {
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

  Result<AlignedPair> map_job(std::size_t job) const {
    const RowJob& where = compared_.jobs[job];
    OPDRIFT_TRY(Aligned aligned, open_row(inputs_, network_, compared_.rows[where.row], where));
    return std::move(aligned.pair);
  }

  Result<AlignedPair> open_job(std::size_t job) const {
    OPDRIFT_TRY(AlignedPair pair, map_job(job));
    read_in(pair);
    return pair;
  }

  KnownPairs known_pairs() const {
    KnownPairs known;
    known.outline = [this](std::size_t job) -> Result<OutlinedPair> {
      if (job < compared_.measured.size() && compared_.measured[job].outline) {
        return *compared_.measured[job].outline;
      }
      OPDRIFT_TRY(const AlignedPair pair, map_job(job));
      return outline_of(pair);
    };
    known.measured = [this](std::size_t job) {
      const NetworkRow& row = compared_.rows[compared_.jobs[job].row];
      return job < compared_.measured.size() && row.measurement
                 ? verdict::MeasuredValue{&*row.measurement, compared_.measured[job].peaks}
                 : verdict::MeasuredValue{};
    };
    return known;
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
  if (!wants_verdict(options, result)) {
    return Unit{};
  }
  OPDRIFT_TRY(const GoldenModel model, model_of(options, network.golden_path));
  NetworkJudge judge(inputs, network, compared);
  if (model.model) {
    GraphProblem problem = onnx_problem(*model.model);
    OPDRIFT_CHECK_OK(take_target_weights(options, problem));
    OPDRIFT_CHECK_OK(judge.by_model(problem, row_of_job, judge_run_options(options), result));
  }
  if (!result.verdict && !result.interrupted) {
    OPDRIFT_CHECK_OK(judge.by_target_graph(row_of_job, judge_run_options(options), result));
  }
  return conclude(options, result);
}

}  // namespace opdrift::pipeline
