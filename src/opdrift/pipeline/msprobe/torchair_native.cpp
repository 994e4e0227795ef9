#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "opdrift/io/in_file.hpp"
#include "opdrift/pipeline/judge/ge_problem.hpp"
#include "opdrift/pipeline/msprobe/native_compare.hpp"
#include "opdrift/pipeline/msprobe/torchair_tokens.hpp"
#include "opdrift/pipeline/pairing.hpp"
#include "opdrift/tensor/decode.hpp"
#include "opdrift/tensor/view.hpp"

namespace opdrift::pipeline {

namespace {

using match::TensorKind;
using verdict::LedgerState;
using verdict::RunSide;

constexpr std::uint64_t kMostNotes = 8;
constexpr double kReducedLimit = 0.01;  // msprobe's rule for dumps of smallest and largest values

bool is_reduced(const std::string& path) {
  return path.ends_with(".npz") || path.ends_with("_min_max.npy");
}

/// [smallest, largest] pairs of a reduced tensor.
Result<std::vector<double>> extremes_of(const IndexedTensor& indexed) {
  OPDRIFT_TRY(const tensor::Tensor tensor, load(indexed));
  OPDRIFT_TRY(const tensor::View view, tensor::stored_view(tensor));
  constexpr std::uint64_t kMost = 1 << 20;
  if (view.count() % 2 != 0 || view.count() > kMost || !tensor::info(tensor.desc.dtype).decodable) {
    return Error{
        ErrorCode::data_mismatch,
        "expected pairs of smallest and largest, found " + std::to_string(view.count()) + " values",
        indexed.path};
  }
  const auto count = static_cast<std::size_t>(view.count());
  std::vector<std::byte> bytes(count * 16 + 16);
  tensor::gather(view, 0, count, bytes.data());
  std::vector<double> values(count);
  tensor::decode_to_double(tensor.desc.dtype, bytes.data(), 0, count, values.data());
  return values;
}

/// Replaces the arrays of reduced files by one tensor per pair of extremes.
void expand_reduced(DumpIndex& index) {
  std::vector<IndexedTensor> tensors;
  tensors.reserve(index.tensors.size());
  for (IndexedTensor& indexed : index.tensors) {
    if (!is_reduced(indexed.path) || indexed.problem) {
      tensors.push_back(std::move(indexed));
      continue;
    }
    const auto extremes = extremes_of(indexed);
    if (!extremes) {
      indexed.problem = extremes.error();
      tensors.push_back(std::move(indexed));
      continue;
    }
    for (std::size_t i = 0; i < extremes->size() / 2; ++i) {
      IndexedTensor reduced = indexed;
      reduced.name.output = indexed.name.tensor_name != "inputs";
      reduced.name.index = static_cast<std::uint32_t>(i);
      auto summary = std::make_shared<TensorSummary>();
      summary->dtype = indexed.desc.dtype;
      summary->count_known = false;
      summary->min = (*extremes)[2 * i];
      summary->max = (*extremes)[2 * i + 1];
      summary->extremes_limit = kReducedLimit;
      reduced.summary = std::move(summary);
      reduced.desc.shape.clear();
      tensors.push_back(std::move(reduced));
    }
  }
  index.tensors = std::move(tensors);
}

/// The tensors of a file by role, in index order.
class FileTensors {
 public:
  explicit FileTensors(const DumpIndex& index) {
    for (std::size_t i = 0; i < index.tensors.size(); ++i) {
      const IndexedTensor& tensor = index.tensors[i];
      Positions& positions = files_[tensor.path];
      (tensor.name.output ? positions.outputs : positions.inputs).push_back(i);
    }
  }

  match::TensorCounts counts(const std::string& path) const {
    const auto found = files_.find(path);
    return found == files_.end()
               ? match::TensorCounts{}
               : match::TensorCounts{found->second.inputs.size(), found->second.outputs.size()};
  }

  /// kNone when the file has no such tensor.
  std::size_t position(const std::string& path, TensorKind kind, std::size_t index) const {
    const auto found = files_.find(path);
    if (found == files_.end()) {
      return kNone;
    }
    const auto& list = kind == TensorKind::input ? found->second.inputs : found->second.outputs;
    return index < list.size() ? list[index] : kNone;
  }

  static constexpr std::size_t kNone = ~std::size_t{0};

 private:
  struct Positions {
    std::vector<std::size_t> inputs;
    std::vector<std::size_t> outputs;
  };
  std::unordered_map<std::string, Positions> files_;
};

class TorchairComparison {
 public:
  TorchairComparison(DumpIndex golden, DumpIndex target, const TorchairSides& sides)
      : golden_(std::move(golden)), target_(std::move(target)), sides_(sides) {
    for (DumpIndex* index : {&golden_, &target_}) {
      expand_reduced(*index);
      forget_graphs(*index);
    }
    golden_files_.emplace(golden_);
    target_files_.emplace(target_);
  }

  Result<verdict::RunResult> run(const CompareOptions& options) {
    std::uint64_t warnings = 0;
    sides_.log = [&](RunLogLevel level, std::string_view text) {
      if (level != RunLogLevel::info && warnings++ < kMostNotes) {
        target_.notes.emplace_back(text);
      }
    };
    OPDRIFT_TRY(const std::vector<RankRoots> roots, torchair_roots(sides_));
    for (const RankRoots& root : roots) {
      OPDRIFT_CHECK_OK(each_token_pair(sides_, root, [&](const TokenPair& tokens) -> Status {
        pair_token(root, tokens);
        return Unit{};
      }));
    }
    if (warnings > kMostNotes) {
      target_.notes.push_back("... and " + std::to_string(warnings - kMostNotes) +
                              " more such remarks; the ledger has every file");
    }
    target_.has_order = true;
    target_.kind = "torchair GE dump";
    golden_.kind = golden_is_ge_ ? "torchair GE dump" : "torchair FX dump";
    leave_rest_alone(RunSide::golden, golden_, paired_golden_);
    leave_rest_alone(RunSide::target, target_, paired_target_);
    pairing_.judge = [calls = std::move(calls_)](const MeasuredPairs& measured,
                                                 verdict::RunResult& result) {
      return judge_ge_calls(calls, measured, result);
    };
    return compare_pairs(std::move(golden_), std::move(target_), std::move(pairing_), options);
  }

 private:
  static void forget_graphs(DumpIndex& index) {
    for (verdict::LedgerEntry& entry : index.ledger) {
      if (io::base_name(entry.path).starts_with("dynamo_")) {
        entry.state = LedgerState::ignored;
        entry.reason = "a graph of the network";
      }
    }
  }

  void pair_token(const RankRoots& root, const TokenPair& tokens) {
    golden_is_ge_ = tokens.golden_ge != nullptr;
    const std::string step = step_of(root, tokens);
    const match::FusedNames names = tokens.names();
    name_golden(tokens, step);
    std::unordered_map<std::string_view, const GeFile*> golden_ge;
    if (golden_is_ge_) {
      for (const GeFile& file : tokens.golden_ge->files) {
        golden_ge.emplace(file.name, &file);
      }
      note_superseded(*tokens.golden_ge);
    }
    note_superseded(tokens.target);
    const auto data = data_operators(tokens.graph);
    for (const GeFile* file : graph_order(tokens.target, names)) {
      name_file(target_, *target_files_, file->path, file->name, file->type, step, next_order_++);
      const match::TensorPairs pairs = pairs_of(*file, names, tokens, golden_ge);
      GeCall call = call_of(*file, names, step, data);
      for (const match::TensorPair& pair : pairs.pairs) {
        if (!pair.superseded) {
          add_pair(*file, pair, tokens, golden_ge, call);
        }
      }
      add_golden_positions(tokens, golden_ge, call);
      calls_.push_back(std::move(call));
      if (pairs.unexplained) {
        reasons_[file->path] = "the graph does not explain the operator's name";
      } else if (!pairs.missing.empty()) {
        reasons_[file->path] = "the golden dump lacks " + pairs.missing.front();
      }
    }
  }

  static std::shared_ptr<const std::unordered_set<std::string>> data_operators(
      const graph::Graph& graph) {
    auto names = std::make_shared<std::unordered_set<std::string>>();
    for (const graph::Operator& op : graph.operators) {
      if (op.type == "Data") {
        names->insert(op.name);
      }
    }
    return names;
  }

  /// An operator of the target with what it was fused from.
  GeCall call_of(const GeFile& file, const match::FusedNames& names, const std::string& step,
                 std::shared_ptr<const std::unordered_set<std::string>> data) const {
    GeCall call;
    call.step = step;
    call.name = file.name;
    call.data = std::move(data);
    const match::FusedNames::Split split = names.split(file.name);
    if (split.complete) {
      for (const graph::Operator* piece : split.pieces) {
        call.pieces.push_back(*piece);
      }
    }
    const match::TensorCounts counts = target_files_->counts(file.path);
    call.input_pairs.resize(counts.inputs);
    call.output_pairs.resize(counts.outputs);
    for (std::size_t i = 0; i < counts.inputs; ++i) {
      call.target_inputs.push_back(target_files_->position(file.path, TensorKind::input, i));
    }
    return call;
  }

  /// What the golden holds of the operators inside a fused one.
  void add_golden_positions(const TokenPair& tokens,
                            const std::unordered_map<std::string_view, const GeFile*>& golden_ge,
                            GeCall& call) const {
    for (std::size_t piece = 0; call.pieces.size() > 1 && piece < call.pieces.size(); ++piece) {
      const graph::Operator& op = call.pieces[piece];
      call.golden_inputs.push_back(
          golden_positions(tokens, golden_ge, op, TensorKind::input, op.inputs.size()));
      call.golden_outputs.push_back(
          golden_positions(tokens, golden_ge, op, TensorKind::output, op.outputs.size()));
    }
  }

  Positions golden_positions(const TokenPair& tokens,
                             const std::unordered_map<std::string_view, const GeFile*>& golden_ge,
                             const graph::Operator& op, TensorKind kind, std::size_t count) const {
    Positions positions(count);
    const std::vector<std::string> nodes =
        tokens.golden_fx == nullptr ? std::vector<std::string>{} : match::fx_nodes(op);
    const auto dumped = golden_ge.find(op.name);
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t position = FileTensors::kNone;
      if (!nodes.empty()) {
        position =
            fx_position(*tokens.golden_fx, {match::GoldenRef::Source::fx, nodes.front(), kind, i});
      } else if (dumped != golden_ge.end()) {
        position = golden_files_->position(dumped->second->path, kind, i);
      }
      positions[i] = position == FileTensors::kNone ? std::nullopt : std::optional(position);
    }
    return positions;
  }

  static std::string step_of(const RankRoots& root, const TokenPair& tokens) {
    std::string step = root.rank ? "rank" + std::to_string(*root.rank) + "/" : "";
    step += tokens.graph_number > 0 ? "graph" + std::to_string(tokens.graph_number) + "/" : "";
    return step + "token" + std::to_string(tokens.target.id);
  }

  match::TensorPairs pairs_of(
      const GeFile& file, const match::FusedNames& names, const TokenPair& tokens,
      const std::unordered_map<std::string_view, const GeFile*>& golden_ge) const {
    const match::TensorCounts own = target_files_->counts(file.path);
    if (tokens.golden_fx != nullptr) {
      return match::pair_with_fx(names, file.name, file.type, own, [&](std::string_view node) {
        const auto found = tokens.golden_fx->nodes.find(node);
        return found == tokens.golden_fx->nodes.end()
                   ? match::TensorCounts{}
                   : match::TensorCounts{found->second.inputs.size(), found->second.outputs.size()};
      });
    }
    const bool fused = file.type.starts_with("AutomaticBufferFusionOp");
    return match::pair_with_ge(names, file.name, fused, own, [&](std::string_view name) {
      const auto found = golden_ge.find(name);
      return found == golden_ge.end() ? match::TensorCounts{}
                                      : golden_files_->counts(found->second->path);
    });
  }

  void add_pair(const GeFile& file, const match::TensorPair& pair, const TokenPair& tokens,
                const std::unordered_map<std::string_view, const GeFile*>& golden_ge,
                GeCall& call) {
    using Source = match::GoldenRef::Source;
    const std::size_t target =
        target_files_->position(file.path, pair.target_kind, pair.target_index);
    IndexPair made{FileTensors::kNone, target, "", pair.golden.source == Source::target};
    const match::GoldenRef& ref = pair.golden;
    if (ref.source == Source::target) {
      made.golden = target_files_->position(file.path, ref.kind, ref.index);
      made.rule = "inserted by the compiler: its output beside its input";
    } else if (ref.source == Source::golden) {
      const auto found = golden_ge.find(ref.name);
      made.golden = found == golden_ge.end()
                        ? FileTensors::kNone
                        : golden_files_->position(found->second->path, ref.kind, ref.index);
      made.rule = ref.name == file.name ? "operator name" : "fused from " + ref.name;
    } else if (ref.source == Source::fx) {
      made.golden = fx_position(*tokens.golden_fx, ref);
      made.rule = "graph: FX node " + ref.name;
    }
    if (made.golden == FileTensors::kNone || target == FileTensors::kNone) {
      return;
    }
    paired_target_[target] = true;
    (made.own_golden ? paired_target_ : paired_golden_)[made.golden] = true;
    Positions& own = pair.target_kind == TensorKind::input ? call.input_pairs : call.output_pairs;
    if (pair.target_index < own.size() && !own[pair.target_index]) {
      own[pair.target_index] = pairing_.pairs.size();
    }
    pairing_.pairs.push_back(std::move(made));
  }

  /// One file per tensor of an FX node; the n-th by index.
  std::size_t fx_position(const FxToken& token, const match::GoldenRef& ref) const {
    const auto node = token.nodes.find(ref.name);
    if (node == token.nodes.end()) {
      return FileTensors::kNone;
    }
    const auto& paths = ref.kind == TensorKind::input ? node->second.inputs : node->second.outputs;
    if (ref.index >= paths.size()) {
      return FileTensors::kNone;
    }
    const std::string& path =
        std::next(paths.begin(), static_cast<std::ptrdiff_t>(ref.index))->second;
    const std::size_t output = golden_files_->position(path, TensorKind::output, 0);
    return output != FileTensors::kNone ? output
                                        : golden_files_->position(path, TensorKind::input, 0);
  }

  /// The names of this dump's own rules instead of those guessed from single file names.
  static void name_file(DumpIndex& index, const FileTensors& files, const std::string& path,
                        const std::string& name, const std::string& type, const std::string& step,
                        std::uint64_t order) {
    const match::TensorCounts counts = files.counts(path);
    for (const TensorKind kind : {TensorKind::input, TensorKind::output}) {
      const std::size_t count = kind == TensorKind::input ? counts.inputs : counts.outputs;
      for (std::size_t i = 0; i < count; ++i) {
        IndexedTensor& tensor = index.tensors[files.position(path, kind, i)];
        tensor.name.operator_name = name;
        tensor.name.step = step;
        tensor.operator_type = type;
        tensor.order = order;
      }
    }
  }

  void name_golden(const TokenPair& tokens, const std::string& step) {
    if (tokens.golden_ge != nullptr) {
      for (const GeFile& file : tokens.golden_ge->files) {
        name_file(golden_, *golden_files_, file.path, file.name, file.type, step, 0);
      }
      return;
    }
    for (const auto& [name, node] : tokens.golden_fx->nodes) {
      for (const auto* paths : {&node.inputs, &node.outputs}) {
        for (const auto& [index, path] : *paths) {
          name_file(golden_, *golden_files_, path, name, "", step, 0);
        }
      }
    }
  }

  void note_superseded(const GeToken& token) {
    for (const std::string& path : token.superseded) {
      superseded_[path] = true;
    }
  }

  void leave_rest_alone(RunSide side, const DumpIndex& index,
                        const std::unordered_map<std::size_t, bool>& paired) {
    for (std::size_t i = 0; i < index.tensors.size(); ++i) {
      if (paired.contains(i)) {
        continue;
      }
      const std::string& path = index.tensors[i].path;
      const auto reason = reasons_.find(path);
      AloneTensor alone{
          side, i, reason == reasons_.end() ? "no counterpart in the other dump" : reason->second};
      if (superseded_.contains(path)) {
        alone.state = LedgerState::superseded;
        alone.reason = "a larger file of this operator exists";
      }
      pairing_.alone.push_back(std::move(alone));
    }
  }

  DumpIndex golden_;
  DumpIndex target_;
  TorchairSides sides_;
  std::optional<FileTensors> golden_files_;
  std::optional<FileTensors> target_files_;
  Pairing pairing_;
  std::vector<GeCall> calls_;
  std::unordered_map<std::size_t, bool> paired_golden_;
  std::unordered_map<std::size_t, bool> paired_target_;
  std::unordered_map<std::string, std::string> reasons_;
  std::unordered_map<std::string, bool> superseded_;
  std::uint64_t next_order_ = 0;
  bool golden_is_ge_ = false;
};

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') {
    path.pop_back();
  }
  return path;
}

}  // namespace

Result<verdict::RunResult> compare_torchair_dumps(const std::string& target,
                                                  const std::string& golden,
                                                  const CompareOptions& options) {
  const TorchairSides sides{without_slash(target), without_slash(golden), std::nullopt, {}};
  const IndexOptions indexing{.jobs = options.jobs, .keep_superseded = true};
  OPDRIFT_TRY(DumpIndex golden_index, index_dump(sides.golden, RunSide::golden, indexing));
  OPDRIFT_TRY(DumpIndex target_index, index_dump(sides.target, RunSide::target, indexing));
  return TorchairComparison(std::move(golden_index), std::move(target_index), sides).run(options);
}

}  // namespace opdrift::pipeline
