#include "opdrift/diagnose/check_op/check_op.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <unordered_map>
#include <utility>

#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/check_op/kit.hpp"
#include "opdrift/diagnose/check_op/piece_model.hpp"
#include "opdrift/diagnose/check_op/pieces.hpp"
#include "opdrift/diagnose/check_op/single_compare.hpp"
#include "opdrift/diagnose/check_op/single_run.hpp"
#include "opdrift/engine/instrument.hpp"
#include "opdrift/io/model_file.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"
#include "opdrift/pipeline/judge/onnx_problem.hpp"
#include "opdrift/pipeline/judge/pair_values.hpp"

namespace opdrift::diagnose {

namespace {

using Clock = std::chrono::steady_clock;
using verdict::TensorResult;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class Checker {
 public:
  explicit Checker(const CheckOpOptions& options) : options_(options) {}

  Result<CheckOpResult> run() {
    const Clock::time_point start = Clock::now();
    OPDRIFT_CHECK_OK(load());
    OPDRIFT_CHECK_OK(run_single());
    OPDRIFT_CHECK_OK(compare_single());
    OPDRIFT_CHECK_OK(compare_entire());
    OPDRIFT_CHECK_OK(describe());
    OPDRIFT_CHECK_OK(write_kits());
    result_.interrupted = result_.interrupted || cancelled();
    result_.elapsed_s = seconds_since(start);
    return std::move(result_);
  }

 private:
  bool cancelled() const {
    return options_.compare.cancel != nullptr && options_.compare.cancel->cancelled();
  }

  Status load() {
    OPDRIFT_TRY(placed_.model, io::onnx::open_model(options_.model));
    placed_.folder = io::onnx::folder_of_model(options_.model);
    engine::name_nodes(placed_.model);
    OPDRIFT_TRY(target_, pipeline::index_dump(options_.target, verdict::RunSide::target,
                                              options_.compare.jobs));
    OPDRIFT_TRY(runtime_, engine::Runtime::load(options_.library));
    OPDRIFT_TRY(const TargetValues values, values_of_target());
    pieces_ = cut_into_pieces(placed_.model.graph, values);
    result_.target = options_.target;
    result_.golden = options_.golden;
    result_.model = options_.model;
    result_.library_version = runtime_->version();
    note_steps();
    return choose();
  }

  Result<TargetValues> values_of_target() const {
    TargetValues values = target_values(placed_.model.graph, target_);
    for (const std::string& path : options_.compare.graphs) {
      OPDRIFT_TRY(const graph::Graph device, io::read_graph_file(path));
      add_target_graph(device, placed_.model.graph, target_, values);
    }
    return values;
  }

  void note_steps() {
    const auto other = std::find_if(target_.tensors.begin(), target_.tensors.end(),
                                    [&](const pipeline::IndexedTensor& t) {
                                      return t.name.step != target_.tensors.front().name.step;
                                    });
    if (other != target_.tensors.end()) {
      result_.notes.push_back("of the target's steps only '" + target_.tensors.front().name.step +
                              "' was checked");
    }
  }

  const io::onnx::Node& node_of(const Piece& piece) const {
    return placed_.model.graph.nodes[piece.node];
  }

  /// Keeps the pieces that were asked for.
  Status choose() {
    std::vector<std::string_view> names;
    std::vector<std::string_view> types;
    for (const Piece& piece : pieces_) {
      names.push_back(node_of(piece).name);
      types.push_back(node_of(piece).op_type);
    }
    OPDRIFT_CHECK_OK(check_words("operator", options_.operators, names));
    OPDRIFT_CHECK_OK(check_words("operator type", options_.types, types));
    const auto wanted = [](const std::vector<std::string>& words, const std::string& word) {
      return words.empty() || std::find(words.begin(), words.end(), word) != words.end();
    };
    std::erase_if(pieces_, [&](const Piece& piece) {
      return !wanted(options_.operators, node_of(piece).name) ||
             !wanted(options_.types, node_of(piece).op_type);
    });
    if (pieces_.empty()) {
      return Error{ErrorCode::invalid_argument,
                   options_.operators.empty() ? "the model has no operators"
                                              : "none of the named operators is of these types"};
    }
    return Unit{};
  }

  Status check_words(const std::string& what, const std::vector<std::string>& words,
                     std::vector<std::string_view> known) const {
    for (const std::string& word : words) {
      if (std::find(known.begin(), known.end(), word) == known.end()) {
        std::sort(known.begin(), known.end());
        known.erase(std::unique(known.begin(), known.end()), known.end());
        return Error{
            ErrorCode::invalid_argument,
            "the model has no " + what + " '" + printable(word) + "'" + did_you_mean(word, known),
            options_.model};
      }
    }
    return Unit{};
  }

  Status run_single() {
    const Clock::time_point start = Clock::now();
    types_ = element_types(placed_, *runtime_, result_.notes);
    SingleRunOptions run;
    run.threads = options_.threads;
    run.memory_budget = options_.memory_budget;
    run.cancel = options_.compare.cancel;
    run.progress = [&](std::uint64_t done, std::uint64_t total) { tell("running", done, total); };
    OPDRIFT_TRY(runs_, run_pieces(placed_, pieces_, target_, types_, *runtime_, run));
    result_.sessions = runs_.sessions;
    result_.run_s = seconds_since(start);
    result_.interrupted = !runs_.complete;
    return Unit{};
  }

  void tell(std::string_view stage, std::uint64_t done, std::uint64_t total) const {
    if (options_.progress) {
      options_.progress(stage, done, total);
    }
  }

  pipeline::CompareOptions compare_options(std::string_view stage) const {
    pipeline::CompareOptions compare = options_.compare;
    compare.progress = [this, stage](std::uint64_t done, std::uint64_t total, std::uint64_t) {
      tell(stage, done, total);
    };
    return compare;
  }

  Status compare_single() {
    if (runs_.values.empty()) {
      return Unit{};
    }
    std::vector<std::optional<std::size_t>> rows;
    OPDRIFT_TRY(verdict::RunResult compared,
                compare_pieces(placed_.model, pieces_, runs_, target_,
                               compare_options("comparing single operators"), rows));
    for (std::size_t i = 0; i < runs_.values.size(); ++i) {
      if (rows[i]) {
        TensorResult& row = compared.tensors[*rows[i]];
        clean(row);
        apply_limits(row);
        single_.emplace(pieces_[runs_.values[i].piece].outputs[runs_.values[i].output].value,
                        std::move(row));
      }
    }
    result_.rule = compared.rule;
    result_.interrupted = result_.interrupted || compared.interrupted;
    for (const std::string& note : compared.notes) {
      result_.notes.push_back("single: " + without_marks(note));
    }
    if (compared.verdict) {
      result_.findings = std::move(compared.verdict->findings);
    }
    return Unit{};
  }

  static void clean(TensorResult& row) {
    row.reason = without_marks(std::move(row.reason));
    if (row.judgement) {
      row.judgement->sentence = without_marks(std::move(row.judgement->sentence));
    }
    for (verdict::Explanation& explanation : row.explanations) {
      explanation.sentence = without_marks(std::move(explanation.sentence));
    }
  }

  /// Both sides had the same inputs, so an operator that no replay models can still be held to
  /// the limits.
  void apply_limits(TensorResult& row) const {
    if (!row.judgement || row.judgement->label != verdict::Label::unjudged || !row.measurement) {
      return;
    }
    const verdict::GateOutcome outcome = verdict::apply(options_.compare.gates, *row.measurement);
    row.passed = outcome.passed;
    row.judgement->tier = verdict::Tier::gates;
    row.judgement->label = outcome.passed ? verdict::Label::healthy : verdict::Label::culprit;
    row.reason = outcome.reason;
  }

  /// The comparison of the whole network, by value.
  Status compare_entire() {
    if (options_.golden.empty() || cancelled()) {
      return Unit{};
    }
    pipeline::CompareOptions compare = compare_options("comparing the network");
    compare.graphs.push_back(options_.model);
    OPDRIFT_TRY(verdict::RunResult compared,
                pipeline::compare_dumps(options_.target, options_.golden, compare));
    const pipeline::GraphProblem problem = pipeline::onnx_problem(placed_.model);
    const pipeline::ValueNames names(problem);
    for (TensorResult& row : compared.tensors) {
      const auto value = names.find({.operator_name = row.golden_operator,
                                     .tensor_name = row.tensor_name,
                                     .step = row.step,
                                     .output = row.role != "input",
                                     .index = row.index});
      if (value) {
        entire_.emplace(problem.problem.values[*value].name, std::move(row));
      }
    }
    result_.interrupted = result_.interrupted || compared.interrupted;
    for (const std::string& note : compared.notes) {
      result_.notes.push_back("entire: " + note);
    }
    return Unit{};
  }

  Status describe() {
    for (const Piece& piece : pieces_) {
      CheckedOperator op;
      op.order = piece.node + 1;
      op.name = node_of(piece).name;
      op.type = node_of(piece).op_type;
      op.reason = piece.reason;
      for (const std::size_t n : piece.nodes) {
        if (n != piece.node) {
          op.merged.push_back(placed_.model.graph.nodes[n].name);
        }
      }
      for (const PieceOutput& output : piece.outputs) {
        CheckedOutput checked;
        checked.index = output.index;
        checked.tensor = output.value;
        take(single_, output.value, checked.single);
        take(entire_, output.value, checked.entire);
        checked.blame = blame_of(checked.single, checked.entire);
        op.outputs.push_back(std::move(checked));
      }
      if (op.blame() == Blame::unknown && op.reason.empty()) {
        op.reason = why_unknown(op);
      }
      result_.operators.push_back(std::move(op));
    }
    return Unit{};
  }

  static std::string why_unknown(const CheckedOperator& op) {
    for (const CheckedOutput& output : op.outputs) {
      if (output.blame == Blame::unknown && output.single) {
        return output.single->reason;
      }
    }
    return "interrupted";
  }

  static void take(std::unordered_map<std::string, TensorResult>& rows, const std::string& value,
                   std::optional<TensorResult>& out) {
    const auto found = rows.find(value);
    if (found != rows.end()) {
      out = std::move(found->second);
    }
  }

  /// For operators whose inputs are there but which ONNX Runtime refused.
  Status write_kits() {
    const std::string folder = (std::filesystem::path(options_.output) / "kits").string();
    for (std::size_t p = 0; p < pieces_.size() && !options_.output.empty(); ++p) {
      const bool fed =
          std::all_of(pieces_[p].inputs.begin(), pieces_[p].inputs.end(),
                      [&](const PieceInput& input) { return runs_.given.contains(input.name); });
      if (pieces_[p].complete && !pieces_[p].reason.empty() && fed && !cancelled()) {
        OPDRIFT_TRY(result_.operators[p].kit,
                    write_kit({placed_, pieces_[p], target_, runs_.given}, folder));
      }
    }
    return Unit{};
  }

  const CheckOpOptions& options_;
  engine::PlacedModel placed_;
  pipeline::DumpIndex target_;
  std::shared_ptr<engine::Runtime> runtime_;
  std::vector<Piece> pieces_;
  ElementTypes types_;
  SingleRuns runs_;
  std::unordered_map<std::string, TensorResult> single_;  // by value
  std::unordered_map<std::string, TensorResult> entire_;
  CheckOpResult result_;
};

}  // namespace

Result<CheckOpResult> check_operators(const CheckOpOptions& options) {
  return Checker(options).run();
}

}  // namespace opdrift::diagnose
