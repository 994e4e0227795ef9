#include "opdrift/diagnose/check_op/single_compare.hpp"

#include <memory>
#include <set>
#include <utility>

#include "opdrift/diagnose/check_op/feed.hpp"
#include "opdrift/diagnose/check_op/piece_model.hpp"
#include "opdrift/io/dump.hpp"
#include "opdrift/pipeline/judge/judge_run.hpp"
#include "opdrift/pipeline/judge/onnx_problem.hpp"
#include "opdrift/pipeline/judge/pair_values.hpp"
#include "opdrift/pipeline/pairing.hpp"

namespace opdrift::diagnose {

namespace {

using pipeline::AlignedPair;
using pipeline::DumpIndex;
using pipeline::IndexedTensor;

std::uint64_t bytes_of(const tensor::TensorDesc& desc) {
  const std::uint64_t count = tensor::element_count(desc.shape).value_or(0U);
  return tensor::storage_bytes(desc.dtype, count).value_or(0);
}

/// A tensor of the target in the type that the operator makes.
Result<Bytes> bytes_as(const IndexedTensor& tensor, tensor::DType dtype) {
  OPDRIFT_TRY(const tensor::Tensor loaded, pipeline::load(tensor));
  OPDRIFT_TRY(const tensor::View view, pipeline::logical_view(loaded));
  OPDRIFT_TRY(tensor::Tensor fed, as_fed(view, dtype));
  return std::move(fed.bytes);
}

class PieceComparison {
 public:
  PieceComparison(const io::onnx::Model& model, const std::vector<Piece>& pieces,
                  const SingleRuns& runs, const DumpIndex& target)
      : model_(model), pieces_(pieces), runs_(runs), target_(target) {
    results_ = std::make_shared<io::FileDump>();
    results_->path = model.path;
    for (const SingleValue& value : runs.values) {
      io::FileTensor tensor;
      tensor.desc = value.tensor.desc;
      tensor.bytes = value.tensor.bytes;
      tensor.size_bytes = bytes_of(value.tensor.desc);
      if (value.same) {
        const IndexedTensor& twin = target.tensors[output_of(value).tensor];
        tensor.loader = [&twin, dtype = value.tensor.desc.dtype] { return bytes_as(twin, dtype); };
      }
      results_->tensors.push_back(std::move(tensor));
    }
  }

  Result<verdict::RunResult> run(const pipeline::CompareOptions& options,
                                 std::vector<std::optional<std::size_t>>& rows) {
    rows.assign(runs_.values.size(), std::nullopt);
    pipeline::Pairing pairs = pairing();
    pairs.judge = [&](const pipeline::MeasuredPairs& measured, verdict::RunResult& result) {
      rows = measured.row_of_pair;
      return judge(measured, result);
    };
    return pipeline::compare_pairs(golden_index(), target_index(), std::move(pairs), options);
  }

 private:
  const PieceOutput& output_of(const SingleValue& value) const {
    return pieces_[value.piece].outputs[value.output];
  }

  DumpIndex golden_index() const {
    DumpIndex index;
    index.path = model_.path;
    index.kind = "single operators";
    index.has_order = true;
    for (std::size_t i = 0; i < runs_.values.size(); ++i) {
      const SingleValue& value = runs_.values[i];
      const io::onnx::Node& node = model_.graph.nodes[pieces_[value.piece].node];
      IndexedTensor tensor;
      tensor.name.operator_name = node.name;
      tensor.name.tensor_name = output_of(value).value;
      tensor.name.index = output_of(value).index;
      tensor.operator_type = node.op_type;
      tensor.position = i;
      tensor.order = i;
      tensor.size_bytes = bytes_of(value.tensor.desc);
      tensor.desc = value.tensor.desc;
      tensor.container = results_;
      index.tensors.push_back(std::move(tensor));
    }
    return index;
  }

  DumpIndex target_index() const {
    DumpIndex index;
    index.path = target_.path;
    index.kind = target_.kind;
    for (const SingleValue& value : runs_.values) {
      index.tensors.push_back(target_.tensors[output_of(value).tensor]);
    }
    return index;
  }

  pipeline::Pairing pairing() const {
    pipeline::Pairing pairing;
    for (std::size_t i = 0; i < runs_.values.size(); ++i) {
      pairing.pairs.push_back({i, i, "same inputs", false});
    }
    return pairing;
  }

  Status judge(const pipeline::MeasuredPairs& measured, verdict::RunResult& result) const {
    const pipeline::CompareOptions& options = measured.options;
    const std::size_t outputs = measured.pairing.pairs.size();
    if (!pipeline::wants_verdict(options, result)) {
      return Unit{};
    }
    const std::vector<const Piece*> run = pieces_that_ran();
    const io::onnx::Model model = model_of_pieces(model_, run, runs_.given, PieceNames::marked);
    const pipeline::GraphProblem problem = pipeline::onnx_problem(model);
    std::vector<const PieceInput*> inputs = inputs_of(run);
    pipeline::PairValues values(
        problem,
        [&](std::size_t pair) {
          return pair < outputs ? open_output(measured, pair) : open_input(*inputs[pair - outputs]);
        },
        [](std::size_t) -> Result<tensor::View> {
          return Error{ErrorCode::not_found, "no tensor of the golden stands alone"};
        });
    for (std::size_t i = 0; i < runs_.values.size(); ++i) {
      set(problem, output_of(runs_.values[i]).name, i, measured.row_of_pair[i], values);
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      set(problem, inputs[i]->name, outputs + i, std::nullopt, values);
    }
    pipeline::JudgeRunOptions judge_options = pipeline::judge_run_options(options);
    judge_options.label = &without_marks;
    OPDRIFT_CHECK_OK(pipeline::judge_run(problem, values, judge_options, result));
    return pipeline::conclude(options, result);
  }

  std::vector<const Piece*> pieces_that_ran() const {
    std::set<std::size_t> positions;
    for (const SingleValue& value : runs_.values) {
      positions.insert(value.piece);
    }
    std::vector<const Piece*> run;
    for (const std::size_t position : positions) {
      run.push_back(&pieces_[position]);
    }
    return run;
  }

  static std::vector<const PieceInput*> inputs_of(const std::vector<const Piece*>& pieces) {
    std::set<std::string> names;
    std::vector<const PieceInput*> inputs;
    for (const Piece* piece : pieces) {
      for (const PieceInput& input : piece->inputs) {
        if (names.insert(input.name).second) {
          inputs.push_back(&input);
        }
      }
    }
    return inputs;
  }

  static void set(const pipeline::GraphProblem& problem, const std::string& name, std::size_t pair,
                  std::optional<std::size_t> row, pipeline::PairValues& values) {
    const auto found = problem.value_of.find(name);
    if (found != problem.value_of.end()) {
      values.set_pair(found->second, pair, row);
    }
  }

  static Result<AlignedPair> open_output(const pipeline::MeasuredPairs& measured,
                                         std::size_t pair) {
    OPDRIFT_TRY(const tensor::Tensor golden_tensor, pipeline::load(measured.golden.tensors[pair]));
    OPDRIFT_TRY(const tensor::Tensor target_tensor, pipeline::load(measured.target.tensors[pair]));
    return pipeline::align_pair(golden_tensor, target_tensor);
  }

  Result<AlignedPair> open_input(const PieceInput& input) const {
    OPDRIFT_TRY(const tensor::Tensor tensor, pipeline::load(target_.tensors[input.tensor]));
    OPDRIFT_TRY(const tensor::View view, pipeline::logical_view(tensor));
    return AlignedPair{view, view, false};
  }

  const io::onnx::Model& model_;
  const std::vector<Piece>& pieces_;
  const SingleRuns& runs_;
  const DumpIndex& target_;
  std::shared_ptr<io::FileDump> results_;
};

}  // namespace

Result<verdict::RunResult> compare_pieces(const io::onnx::Model& model,
                                          const std::vector<Piece>& pieces, const SingleRuns& runs,
                                          const DumpIndex& target,
                                          const pipeline::CompareOptions& options,
                                          std::vector<std::optional<std::size_t>>& rows) {
  return PieceComparison(model, pieces, runs, target).run(options, rows);
}

}  // namespace opdrift::diagnose
