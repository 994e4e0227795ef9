#include "opdrift/diagnose/offline/single_operators.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/bisect/probe_files.hpp"
#include "opdrift/diagnose/bisect/value_folder.hpp"
#include "opdrift/diagnose/offline/whole_network.hpp"
#include "opdrift/engine/surgery/break_apart.hpp"
#include "opdrift/engine/surgery/save_part.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"
#include "opdrift/io/onnx/writer.hpp"

namespace opdrift::diagnose::offline {

namespace {

namespace fs = std::filesystem;
namespace onnx = io::onnx;
using Names = std::vector<std::string>;

constexpr std::uint64_t kMostConstant = 64;
constexpr const char* kNone = "NaN";

/// The golden tensors of a model. Only what they are is kept, not their maps.
class GoldenTensors {
 public:
  struct Known {
    tensor::TensorDesc desc;
    std::uint64_t bytes = 0;
  };

  GoldenTensors(const engine::Workpiece& piece, ValueFolder folder)
      : piece_(piece), folder_(std::move(folder)) {}

  Result<tensor::Tensor> load(const std::string& value) const {
    ValueFolder::Wanted wanted;
    wanted.tensor = value;
    if (const auto maker = piece_.graph.producer(value)) {
      const Names& outputs = piece_.node(*maker).outputs;
      wanted.node = piece_.dump_names[*maker];
      wanted.index = static_cast<std::size_t>(std::find(outputs.begin(), outputs.end(), value) -
                                              outputs.begin());
    }
    return folder_.find(wanted);
  }

  /// Null when the dump has none.
  const Known* find(const std::string& value) {
    const auto [known, added] = known_.try_emplace(value);
    if (added) {
      if (const auto tensor = load(value)) {
        known->second = Known{tensor->desc, tensor->bytes.size()};
      }
    }
    return known->second ? &*known->second : nullptr;
  }

 private:
  const engine::Workpiece& piece_;
  ValueFolder folder_;
  std::unordered_map<std::string, std::optional<Known>> known_;
};

/// Operators that are built together.
struct SinglePart {
  std::vector<std::size_t> pieces;
  std::uint64_t bytes = 0;
};

class SingleOperators {
 public:
  SingleOperators(const SingleJob& job, DeviceSession& device) : job_(job), device_(device) {}

  Outcome<SingleEnd> run() {
    OPDRIFT_CHECK_OK(break_model());
    const std::vector<SinglePart> parts = divide();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      OPDRIFT_CHECK_OK(compare_part(parts[i], std::to_string(i) + "_broken"));
    }
    if (!end_.waiting) {
      OPDRIFT_CHECK_OK(finish());
    }
    return std::move(end_);
  }

 private:
  Done break_model() {
    OPDRIFT_TRY(whole_, engine::open_workpiece(job_.model));
    for (std::size_t node = 0; node < whole_.graph.size(); ++node) {
      onnx::Node& named = whole_.placed.model.graph.nodes[node];
      if (named.name != whole_.dump_names[node]) {  // as the dump and so the result calls it
        named.name = whole_.dump_names[node];
        named.message = {};
      }
    }
    OPDRIFT_TRY(ValueFolder folder, ValueFolder::open(job_.golden));
    golden_.emplace(whole_, std::move(folder));
    engine::BrokenModel broken = engine::break_apart(whole_, golden_types());
    pieces_ = std::move(broken.pieces);
    std::error_code problem;
    fs::create_directories(job_.folder, problem);
    OPDRIFT_CHECK_OK(engine::save_part(job_.folder + "/broken.onnx", broken.placed));
    OPDRIFT_TRY(broken_, engine::prepare(std::move(broken.placed)));
    return Unit{};
  }

  engine::ValueTypes golden_types() {
    engine::ValueTypes types;
    for (std::size_t node = 0; node < whole_.graph.size(); ++node) {
      for (const std::string& value : whole_.graph.reads(node)) {
        if (const GoldenTensors::Known* const tensor = golden_->find(value)) {
          std::vector<onnx::Dim> dims;
          for (const std::uint64_t extent : tensor->desc.shape) {
            dims.push_back({extent, ""});
          }
          types.emplace(value,
                        onnx::make_value_info(value, onnx::data_type_of(tensor->desc.dtype), dims));
        }
      }
    }
    return types;
  }

  std::vector<SinglePart> divide() {
    std::vector<SinglePart> parts(1);
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      const std::string missing = missing_input(pieces_[i]);
      if (!missing.empty()) {
        pass_over({i}, "the golden dump has no '" + printable(missing) + "'");
        continue;
      }
      parts.back().pieces.push_back(i);
      const Names* const lists[] = {&pieces_[i].inputs, &whole_.node(i).outputs};
      for (const Names* values : lists) {
        for (const std::string& value : *values) {
          const GoldenTensors::Known* const tensor = golden_->find(value);
          parts.back().bytes += tensor == nullptr ? 0 : tensor->bytes;
        }
      }
      if (parts.back().bytes >= job_.memory / 4) {
        parts.emplace_back();
      }
    }
    std::erase_if(parts, [](const SinglePart& part) { return part.pieces.empty(); });
    return parts;
  }

  std::string missing_input(const engine::SinglePiece& piece) {
    for (const std::string& value : piece.inputs) {
      if (golden_->find(value) == nullptr) {
        return value;
      }
    }
    return "";
  }

  Done compare_part(const SinglePart& part, const std::string& name) {
    const std::string folder = job_.folder + "/" + name;
    OPDRIFT_TRY(const Names inputs, write_part_files(part, name));
    DeviceStep run;
    run.title = "its dumps";
    run.folder = folder + "/dump_data/npu";
    run.model_names = {name};
    run.inputs = inputs;
    run.device = job_.device;
    const BuildStep build =
        build_step(job_.build, job_.folder + "/" + name + ".onnx", folder,
                   std::to_string(part.pieces.size()) + " single operator(s), " + name);
    OPDRIFT_TRY(const Trial trial, device_.trial(build, run));
    if (trial.found.empty()) {
      end_.waiting = end_.waiting || trial.problem.empty();
      if (!trial.problem.empty()) {
        pass_over(part.pieces, trial.problem);
      }
      return Unit{};
    }
    NetworkJob network;
    network.target = trial.found;
    network.golden = job_.golden;
    network.graph = build.model();
    network.folder = folder;
    network.output_nodes = job_.output_nodes;
    network.max_elements = job_.max_elements;
    network.cancel = job_.cancel;
    Outcome<CsvReport> report = compare_folders(network);
    if (!report && report.error().error.code == ErrorCode::cancelled) {
      return std::move(report).error();
    }
    if (!report) {
      pass_over(part.pieces, report.error().error.to_string());
      return Unit{};
    }
    add_rows(report->table);
    return Unit{};
  }

  /// Model and inputs of a part; the paths of the inputs.
  Outcome<Names> write_part_files(const SinglePart& part, const std::string& name) {
    engine::NodeSet nodes(broken_.graph.size(), false);
    Names outputs;
    KnownValues known;
    for (const std::size_t i : part.pieces) {
      nodes[i] = true;
      outputs.insert(outputs.end(), pieces_[i].outputs.begin(), pieces_[i].outputs.end());
      for (const std::string& value : pieces_[i].inputs) {
        OPDRIFT_TRY(tensor::Tensor tensor, golden_->load(value));
        known[value] = {onnx::ValueKind::tensor, std::move(tensor), ""};
      }
    }
    OPDRIFT_TRY(PartRun made, prepare_part(broken_, nodes, outputs, {}, known));
    fold_constants(part, made);
    OPDRIFT_CHECK_OK(engine::save_part(job_.folder + "/" + name + ".onnx", made.placed));
    return Outcome<Names>(write_inputs(job_.folder + "/" + name, made));
  }

  static bool is_small(const tensor::TensorDesc& desc) {
    const bool whole = desc.dtype == tensor::DType::i64 || desc.dtype == tensor::DType::i32;
    const auto count = tensor::element_count(desc.shape);
    return whole && desc.shape.size() <= 1 && count && *count <= kMostConstant;
  }

  void fold_constants(const SinglePart& part, PartRun& made) {
    std::set<std::string> constants;
    for (const std::size_t i : part.pieces) {
      const Names& inputs = pieces_[i].inputs;
      const auto small = [&](const std::string& value) {
        return is_small(golden_->find(value)->desc);
      };
      if (!std::all_of(inputs.begin(), inputs.end(), small)) {
        std::copy_if(inputs.begin(), inputs.end(), std::inserter(constants, constants.end()),
                     small);
      }
    }
    onnx::Graph& graph = made.placed.model.graph;
    for (const engine::NamedTensor& input : made.inputs) {
      if (constants.contains(input.name)) {
        graph.initializers.push_back(onnx::make_tensor(
            input.name, input.tensor.desc.dtype, input.tensor.desc.shape, input.tensor.bytes.span));
      }
    }
    std::erase_if(graph.inputs, [&](const auto& input) { return constants.contains(input.name); });
    std::erase_if(made.inputs, [&](const auto& input) { return constants.contains(input.name); });
  }

  void pass_over(const std::vector<std::size_t>& pieces, const std::string& reason) {
    for (const std::size_t i : pieces) {
      passed_.emplace_back(i, reason);
    }
  }

  void add_rows(const ResultTable& table) {
    if (end_.table.header.empty()) {
      end_.table.header = table.header;
    }
    for (std::vector<std::string> row : table.rows) {
      row.resize(end_.table.header.size());
      std::replace(row.begin(), row.end(), std::string(), std::string(kNone));
      if (seen_.insert(join(row, "\n")).second) {
        end_.table.rows.push_back(std::move(row));
      }
    }
  }

  Done finish() {
    if (end_.table.rows.empty()) {
      return failed(Number::no_dump_file, "no operator could be compared: " +
                                              (passed_.empty() ? std::string("the model has none")
                                                               : passed_.front().second));
    }
    for (const auto& [piece, reason] : passed_) {
      const std::string& name = whole_.placed.model.graph.nodes[piece].name;
      end_.notes.push_back(printable(name) + " was not compared: " + reason);
      std::vector<std::string> row(end_.table.header.size(), kNone);
      const std::pair<std::string_view, std::string> cells[] = {{"OpType", pieces_[piece].op_type},
                                                                {"NPUDump", name},
                                                                {"GroundTruth", name},
                                                                {"CompareFailReason", reason}};
      for (const auto& [column, cell] : cells) {
        const auto at = std::find(end_.table.header.begin(), end_.table.header.end(), column);
        if (at != end_.table.header.end()) {
          row[static_cast<std::size_t>(at - end_.table.header.begin())] = cell;
        }
      }
      end_.table.rows.push_back(std::move(row));
    }
    end_.alarms = analyse(end_.table);
    end_.csv = job_.folder + "/single_op_summary.csv";
    return Done(write_result_table(end_.csv, end_.table));
  }

  const SingleJob& job_;
  DeviceSession& device_;
  engine::Workpiece whole_;
  engine::Workpiece broken_;  // node for node
  std::vector<engine::SinglePiece> pieces_;
  std::optional<GoldenTensors> golden_;
  std::vector<std::pair<std::size_t, std::string>> passed_;
  std::set<std::string> seen_;
  SingleEnd end_;
};

}  // namespace

Outcome<SingleEnd> compare_single_operators(const SingleJob& job, DeviceSession& device) {
  return SingleOperators(job, device).run();
}

}  // namespace opdrift::diagnose::offline
