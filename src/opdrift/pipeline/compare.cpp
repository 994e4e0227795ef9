#include "opdrift/pipeline/compare.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

#include "opdrift/base/heap.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/graph/graph_file.hpp"
#include "opdrift/pipeline/dump_index.hpp"
#include "opdrift/pipeline/graph_compare.hpp"
#include "opdrift/pipeline/judge/golden_model.hpp"
#include "opdrift/pipeline/judge/judge_pairs.hpp"
#include "opdrift/pipeline/judge/judge_run.hpp"
#include "opdrift/pipeline/judge/other_runs.hpp"
#include "opdrift/pipeline/msprobe/native_compare.hpp"
#include "opdrift/pipeline/pairing.hpp"
#include "opdrift/pipeline/row_meter.hpp"

namespace opdrift::pipeline {

namespace {

using verdict::LedgerState;
using verdict::RunSide;
using verdict::TensorResult;

/// Of several rows of one tensor the first of these states counts.
constexpr std::array<LedgerState, 4> kStatesByWeight = {
    LedgerState::compared, LedgerState::equal, LedgerState::unreadable, LedgerState::skipped};

std::size_t weight(LedgerState state) {
  return static_cast<std::size_t>(std::find(kStatesByWeight.begin(), kStatesByWeight.end(), state) -
                                  kStatesByWeight.begin());
}

class Comparison {
 public:
  Comparison(DumpIndex golden, DumpIndex target, Pairing pairing, const CompareOptions& options)
      : golden_(std::move(golden)),
        target_(std::move(target)),
        pairing_(std::move(pairing)),
        options_(options) {}

  Result<verdict::RunResult> run() {
    if (!options_.only.empty()) {
      only_ = std::make_unique<RE2>(options_.only, RE2::Quiet);
      if (!only_->ok()) {
        return Error{ErrorCode::invalid_argument,
                     "selection '" + options_.only + "': " + only_->error()};
      }
    }
    describe_run();
    pair();
    put_in_order();
    meter_.emplace(sources_, pairing_, options_, result_.tensors);
    OPDRIFT_CHECK_OK(judge());
    complete();
    return std::move(result_);
  }

 private:
  void describe_run() {
    result_.golden_path = golden_.path;
    result_.target_path = target_.path;
    result_.golden_kind = golden_.kind;
    result_.target_kind = target_.kind;
    result_.rule = verdict::describe(options_.gates);
    result_.ledger.reserve(golden_.ledger.size() + target_.ledger.size() + pairing_.alone.size() +
                           golden_.tensors.size() + target_.tensors.size());
    for (DumpIndex* side : {&golden_, &target_}) {
      std::move(side->ledger.begin(), side->ledger.end(), std::back_inserter(result_.ledger));
      side->ledger.clear();
    }
    add_notes(golden_, "golden: ");
    add_notes(target_, "target: ");
  }

  Status judge() {
    const MeasuredPairs pairs{golden_,
                              target_,
                              pairing_,
                              row_of_pair_,
                              options_,
                              [this](std::size_t row) { return meter_->open(row); },
                              [this](std::size_t row) { return meter_->outline(row); },
                              [this](std::size_t row) { return meter_->measured(row); },
                              [this] { complete(); }};
    if (options_.decided_by != DecidedBy::gates) {
      meter_->keep_peaks();
    }
    if (pairing_.judge) {
      complete();
      return pairing_.judge(pairs, result_);
    }
    return judge_pairs(pairs, result_);
  }

  void add_notes(const DumpIndex& index, const std::string& side) {
    for (const std::string& note : index.notes) {
      result_.notes.push_back(side + note);
    }
  }

  void pair() {
    sources_.reserve(pairing_.pairs.size());
    result_.tensors.reserve(pairing_.pairs.size());
    for (std::size_t i = 0; i < pairing_.pairs.size(); ++i) {
      add_pair(i);
    }
    for (const AloneTensor& alone : pairing_.alone) {
      const bool golden = alone.side == RunSide::golden;
      const IndexedTensor& tensor = (golden ? golden_ : target_).tensors[alone.position];
      if (tensor.problem) {
        note(alone.side, tensor, LedgerState::unreadable, tensor.problem->to_string());
      } else {
        note(alone.side, tensor, alone.state, alone.reason);
      }
    }
  }

  std::uint64_t order_of(const IndexedTensor& golden, const IndexedTensor& target) const {
    return target_.has_order || !golden_.has_order ? target.order : golden.order;
  }

  bool selected(const IndexedTensor& target, std::uint64_t order) const {
    return order >= options_.first_order && order <= options_.last_order &&
           (!only_ || RE2::PartialMatch(target.name.operator_name, *only_));
  }

  void add_pair(std::size_t position) {
    const IndexPair& pair = pairing_.pairs[position];
    const IndexedTensor& golden = (pair.own_golden ? target_ : golden_).tensors[pair.golden];
    const IndexedTensor& target = target_.tensors[pair.target];
    const RunSide golden_side = pair.own_golden ? RunSide::target : RunSide::golden;
    const std::uint64_t order = pair.own_golden ? target.order : order_of(golden, target);
    if (!selected(target, order)) {
      weigh(golden_side, golden, LedgerState::skipped, "not selected");
      weigh(RunSide::target, target, LedgerState::skipped, "not selected");
      return;
    }
    TensorResult& row = result_.tensors.emplace_back();
    row.operator_name = target.name.operator_name;
    row.operator_type = target.operator_type.empty() ? golden.operator_type : target.operator_type;
    row.golden_operator = golden.name.operator_name;
    row.tensor_name =
        target.name.tensor_name.empty() ? golden.name.tensor_name : target.name.tensor_name;
    row.step = target.name.step;
    row.role = target.name.output ? "output" : "input";
    row.index = target.name.index;
    row.order = order;
    row.rule = pair.rule;
    row.statistics_only = golden.summary != nullptr || target.summary != nullptr;
    row.target_path = target.path;
    row.golden_path = golden.path;
    row.target_shape = target.desc.shape;
    row.golden_shape = golden.desc.shape;
    sources_.push_back({&golden, &target, golden_side, position});
  }

  void note(RunSide side, const IndexedTensor& tensor, LedgerState state, std::string reason) {
    result_.ledger.push_back({side, tensor.path, tensor.label(), state, std::move(reason)});
  }

  /// A tensor of several rows gets one line.
  void weigh(RunSide side, const IndexedTensor& tensor, LedgerState state, std::string reason) {
    const auto [found, added] = states_.try_emplace(&tensor, states_in_order_.size());
    if (added) {
      states_in_order_.push_back({side, &tensor, state, std::move(reason)});
      return;
    }
    TensorState& known = states_in_order_[found->second];
    if (weight(state) < weight(known.state)) {
      known.state = state;
      known.reason = std::move(reason);
    }
  }

  LedgerState state_of(std::size_t row) const {
    const TensorResult& tensor = result_.tensors[row];
    if (tensor.measurement) {
      return !tensor.statistics_only && tensor.measurement->equal_bits == tensor.measurement->count
                 ? LedgerState::equal
                 : LedgerState::compared;
    }
    const std::optional<ErrorCode> failure = meter_->failure(row);
    return !failure || *failure == ErrorCode::cancelled ? LedgerState::skipped
                                                        : LedgerState::unreadable;
  }

  /// Rows, and with them their sources, in execution order. Usually they already are.
  void put_in_order() {
    std::vector<std::size_t> order(sources_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return result_.tensors[a].order < result_.tensors[b].order;
    });
    if (!std::is_sorted(order.begin(), order.end())) {
      std::vector<TensorResult> rows;
      std::vector<RowSources> sources;
      rows.reserve(order.size());
      sources.reserve(order.size());
      for (const std::size_t row : order) {
        rows.push_back(std::move(result_.tensors[row]));
        sources.push_back(sources_[row]);
      }
      result_.tensors = std::move(rows);
      sources_ = std::move(sources);
    }
    row_of_pair_.assign(pairing_.pairs.size(), std::nullopt);
    for (std::size_t row = 0; row < sources_.size(); ++row) {
      row_of_pair_[sources_[row].pair] = row;
    }
  }

  /// Measures what is left, writes the ledger lines of the pairs and leaves out the rows that an
  /// interruption kept from being reached. Does so once.
  void complete() {
    if (std::exchange(completed_, true)) {
      return;
    }
    meter_->measure_all();
    result_.interrupted = options_.cancel != nullptr && options_.cancel->cancelled();
    result_.bytes_read = meter_->bytes_read();
    std::vector<std::size_t> reached;
    for (std::size_t row = 0; row < sources_.size(); ++row) {
      const LedgerState state = state_of(row);
      const std::string reason = state == LedgerState::skipped      ? "interrupted"
                                 : state == LedgerState::unreadable ? result_.tensors[row].reason
                                                                    : std::string();
      weigh(sources_[row].golden_side, *sources_[row].golden, state, reason);
      weigh(RunSide::target, *sources_[row].target, state, reason);
      if (state != LedgerState::skipped) {
        reached.push_back(row);
      }
    }
    if (reached.size() < sources_.size()) {
      keep_only(reached);
    }
    for (TensorState& known : states_in_order_) {
      note(known.side, *known.tensor, known.state, std::move(known.reason));
    }
    note_statistics();
    if (sources_.empty()) {
      result_.notes.emplace_back(
          "no pair was found; check that both sides are dumps of the same network, or give the "
          "graph with --graph");
    }
  }

  void keep_only(const std::vector<std::size_t>& reached) {
    row_of_pair_.assign(pairing_.pairs.size(), std::nullopt);
    for (std::size_t row = 0; row < reached.size(); ++row) {
      row_of_pair_[sources_[reached[row]].pair] = row;
      if (row != reached[row]) {
        result_.tensors[row] = std::move(result_.tensors[reached[row]]);
      }
    }
    result_.tensors.resize(reached.size());
  }

  /// Weaker evidence is said once for the run, and in the reason of every row that fails.
  void note_statistics() {
    const auto rows =
        std::count_if(result_.tensors.begin(), result_.tensors.end(),
                      [](const TensorResult& tensor) { return tensor.statistics_only; });
    if (rows > 0) {
      result_.notes.push_back(
          std::to_string(rows) + " of " + std::to_string(result_.tensors.size()) +
          " pairs were judged from statistics only: norms, extremes and sketches can show that "
          "tensors differ, not that they are equal");
    }
  }

  /// Where a tensor of at least one pair ended.
  struct TensorState {
    RunSide side = RunSide::golden;
    const IndexedTensor* tensor = nullptr;
    LedgerState state = LedgerState::skipped;
    std::string reason;
  };

  DumpIndex golden_;
  DumpIndex target_;
  Pairing pairing_;
  const CompareOptions& options_;
  std::unique_ptr<RE2> only_;
  std::vector<RowSources> sources_;  // one per row
  std::vector<std::optional<std::size_t>> row_of_pair_;
  std::optional<RowMeter> meter_;
  bool completed_ = false;
  std::unordered_map<const IndexedTensor*, std::size_t> states_;
  std::vector<TensorState> states_in_order_;
  verdict::RunResult result_;
};

std::vector<match::NamedTensor> names_of(const DumpIndex& index) {
  std::vector<match::NamedTensor> names;
  names.reserve(index.tensors.size());
  for (const IndexedTensor& tensor : index.tensors) {
    names.push_back(tensor.name);
  }
  return names;
}

/// Dumps of msprobe tell themselves what belongs to what; others are paired by names.
Result<verdict::RunResult> compare_without_graph(const std::string& target,
                                                 const std::string& golden,
                                                 const CompareOptions& options) {
  switch (msprobe_kind(target, golden)) {
    case MsprobeKind::torchair: return compare_torchair_dumps(target, golden, options);
    case MsprobeKind::api_run: return compare_api_dumps(target, golden, options);
    case MsprobeKind::none: break;
  }
  OPDRIFT_TRY(DumpIndex golden_index, index_dump(golden, RunSide::golden, options.jobs));
  OPDRIFT_TRY(DumpIndex target_index, index_dump(target, RunSide::target, options.jobs));
  Pairing pairing = pair_by_names(golden_index, target_index);
  return compare_pairs(std::move(golden_index), std::move(target_index), std::move(pairing),
                       options);
}

}  // namespace

Pairing pair_by_names(const DumpIndex& golden, const DumpIndex& target) {
  const match::NameMatch match = match::match_names(names_of(golden), names_of(target));
  Pairing pairing;
  for (const match::NamePair& pair : match.pairs) {
    pairing.pairs.push_back({pair.golden, pair.target, match::to_string(pair.rule), false});
  }
  for (const match::Unpaired& entry : match.unpaired_golden) {
    pairing.alone.push_back(
        {RunSide::golden, entry.position, match::to_string(entry.reason), LedgerState::unmatched});
  }
  for (const match::Unpaired& entry : match.unpaired_target) {
    pairing.alone.push_back(
        {RunSide::target, entry.position, match::to_string(entry.reason), LedgerState::unmatched});
  }
  return pairing;
}

Result<verdict::RunResult> compare_pairs(DumpIndex golden, DumpIndex target, Pairing pairing,
                                         const CompareOptions& options) {
  return Comparison(std::move(golden), std::move(target), std::move(pairing), options).run();
}

Result<verdict::RunResult> compare_dumps(const std::string& target, const std::string& golden,
                                         const CompareOptions& options) {
  const auto started = std::chrono::steady_clock::now();
  OPDRIFT_CHECK_OK(check_model(options));
  reuse_large_blocks();  // judging makes arrays as large as tensors
  const bool by_graph =
      std::any_of(options.graphs.begin(), options.graphs.end(), &graph::is_graph_file);
  auto compared = by_graph ? compare_by_graph(target, golden, options)
                           : compare_without_graph(target, golden, options);
  if (compared) {
    OPDRIFT_CHECK_OK(judge_by_other_runs(golden, options, *compared));
    add_algorithm_values(options.metrics, *compared);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - started;
    compared->elapsed_s = elapsed.count();
  }
  return compared;
}

}  // namespace opdrift::pipeline
