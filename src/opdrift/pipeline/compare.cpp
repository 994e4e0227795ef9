#include "opdrift/pipeline/compare.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <numeric>

#include "opdrift/base/text.hpp"
#include "opdrift/metrics/measure.hpp"
#include "opdrift/pipeline/align_pair.hpp"
#include "opdrift/pipeline/dump_index.hpp"
#include "opdrift/pipeline/graph_compare.hpp"

namespace opdrift::pipeline {

namespace {

using verdict::LedgerState;
using verdict::RunSide;
using verdict::TensorResult;

/// From this many elements on, one pair is spread over all threads instead of being one's work.
constexpr std::uint64_t kSpreadFromElements = std::uint64_t{1} << 23;

/// Positions of the two sides of a row in their indexes.
struct Sources {
  std::size_t golden = 0;
  std::size_t target = 0;
  std::optional<ErrorCode> failure;
};

class Comparison {
 public:
  Comparison(DumpIndex golden, DumpIndex target, const CompareOptions& options)
      : golden_(std::move(golden)), target_(std::move(target)), options_(options) {}

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
    measure_all();
    finish();
    return std::move(result_);
  }

 private:
  void describe_run() {
    result_.golden_path = golden_.path;
    result_.target_path = target_.path;
    result_.golden_kind = golden_.kind;
    result_.target_kind = target_.kind;
    result_.rule = verdict::describe(options_.gates);
    result_.ledger = golden_.ledger;
    result_.ledger.insert(result_.ledger.end(), target_.ledger.begin(), target_.ledger.end());
    add_notes(golden_, "golden: ");
    add_notes(target_, "target: ");
  }

  void add_notes(const DumpIndex& index, const std::string& side) {
    for (const std::string& note : index.notes) {
      result_.notes.push_back(side + note);
    }
  }

  void pair() {
    const match::NameMatch match = match::match_names(names_of(golden_), names_of(target_));
    for (const match::NamePair& pair : match.pairs) {
      add_pair(pair);
    }
    note_unpaired(RunSide::golden, golden_, match.unpaired_golden);
    note_unpaired(RunSide::target, target_, match.unpaired_target);
  }

  static std::vector<match::NamedTensor> names_of(const DumpIndex& index) {
    std::vector<match::NamedTensor> names;
    names.reserve(index.tensors.size());
    for (const IndexedTensor& tensor : index.tensors) {
      names.push_back(tensor.name);
    }
    return names;
  }

  std::uint64_t order_of(const IndexedTensor& golden, const IndexedTensor& target) const {
    return target_.has_order || !golden_.has_order ? target.order : golden.order;
  }

  bool selected(const IndexedTensor& target, std::uint64_t order) const {
    return order >= options_.first_order && order <= options_.last_order &&
           (!only_ || RE2::PartialMatch(target.name.operator_name, *only_));
  }

  void add_pair(const match::NamePair& pair) {
    const IndexedTensor& golden = golden_.tensors[pair.golden];
    const IndexedTensor& target = target_.tensors[pair.target];
    const std::uint64_t order = order_of(golden, target);
    if (!selected(target, order)) {
      note(RunSide::golden, golden, LedgerState::skipped, "not selected");
      note(RunSide::target, target, LedgerState::skipped, "not selected");
      return;
    }
    TensorResult row;
    row.operator_name = target.name.operator_name;
    row.operator_type = target.operator_type.empty() ? golden.operator_type : target.operator_type;
    row.golden_operator = golden.name.operator_name;
    row.tensor_name =
        target.name.tensor_name.empty() ? golden.name.tensor_name : target.name.tensor_name;
    row.step = target.name.step;
    row.role = target.name.output ? "output" : "input";
    row.index = target.name.index;
    row.order = order;
    row.rule = match::to_string(pair.rule);
    row.target_path = target.path;
    row.golden_path = golden.path;
    row.target_shape = target.desc.shape;
    row.golden_shape = golden.desc.shape;
    sources_.push_back({pair.golden, pair.target, std::nullopt});
    result_.tensors.push_back(std::move(row));
  }

  void note(RunSide side, const IndexedTensor& tensor, LedgerState state, std::string reason) {
    result_.ledger.push_back({side, tensor.path, tensor.label(), state, std::move(reason)});
  }

  void note_unpaired(RunSide side, const DumpIndex& index,
                     const std::vector<match::Unpaired>& unpaired) {
    for (const match::Unpaired& entry : unpaired) {
      const IndexedTensor& tensor = index.tensors[entry.position];
      if (tensor.problem) {
        note(side, tensor, LedgerState::unreadable, tensor.problem->to_string());
      } else {
        note(side, tensor, LedgerState::unmatched, match::to_string(entry.reason));
      }
    }
  }

  /// Large pairs one after another on all threads, then the small ones a thread each.
  void measure_all() {
    std::vector<std::size_t> rows(sources_.size());
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    const auto large = std::stable_partition(rows.begin(), rows.end(), [&](std::size_t row) {
      const tensor::Shape& shape = golden_.tensors[sources_[row].golden].desc.shape;
      return tensor::element_count(shape).value_or(0U) >= kSpreadFromElements;
    });
    for (auto row = rows.begin(); row != large; ++row) {
      measure_row(*row, worker_count(options_.jobs));
    }
    parallel_for(
        static_cast<std::size_t>(rows.end() - large), options_.jobs,
        [&](std::size_t i) { measure_row(*(large + static_cast<std::ptrdiff_t>(i)), 1); },
        options_.cancel);
  }

  void measure_row(std::size_t row, std::size_t jobs) {
    if (options_.cancel != nullptr && options_.cancel->cancelled()) {
      return;
    }
    const Status measured = try_row(row, jobs);
    if (!measured) {
      sources_[row].failure = measured.error().code;
      result_.tensors[row].reason = measured.error().to_string();
    }
    report_progress(row);
  }

  Status try_row(std::size_t row, std::size_t jobs) {
    OPDRIFT_TRY(const tensor::Tensor golden, load(golden_.tensors[sources_[row].golden]));
    OPDRIFT_TRY(const tensor::Tensor target, load(target_.tensors[sources_[row].target]));
    OPDRIFT_TRY(const AlignedPair pair, align_pair(golden, target));
    TensorResult& result = result_.tensors[row];
    result.golden_shape = pair.golden.shape();
    result.target_shape = pair.target.shape();
    result.rule += pair.permuted ? ", axes reordered" : "";
    OPDRIFT_TRY(metrics::Measurement measurement,
                metrics::measure(pair.golden, pair.target,
                                 {.kl_divergence = options_.kl_divergence,
                                  .max_elements = options_.max_elements,
                                  .jobs = jobs,
                                  .cancel = options_.cancel}));
    const verdict::GateOutcome outcome = verdict::apply(options_.gates, measurement);
    result.passed = outcome.passed;
    result.reason = outcome.reason;
    result.measurement = measurement;
    return Unit{};
  }

  void report_progress(std::size_t row) {
    const std::uint64_t bytes = golden_.tensors[sources_[row].golden].size_bytes +
                                target_.tensors[sources_[row].target].size_bytes;
    const std::uint64_t all_bytes = bytes_.fetch_add(bytes) + bytes;
    const std::uint64_t done = done_.fetch_add(1) + 1;
    if (options_.progress) {
      options_.progress(done, sources_.size(), all_bytes);
    }
  }

  LedgerState state_of(std::size_t row) const {
    const TensorResult& tensor = result_.tensors[row];
    if (tensor.measurement) {
      return tensor.measurement->equal_bits == tensor.measurement->count ? LedgerState::equal
                                                                         : LedgerState::compared;
    }
    const std::optional<ErrorCode> failure = sources_[row].failure;
    return !failure || *failure == ErrorCode::cancelled ? LedgerState::skipped
                                                        : LedgerState::unreadable;
  }

  /// Ledger lines of the pairs, then the rows in execution order without those not reached.
  void finish() {
    result_.interrupted = options_.cancel != nullptr && options_.cancel->cancelled();
    result_.bytes_read = bytes_.load();
    std::vector<TensorResult> reached;
    for (std::size_t row = 0; row < sources_.size(); ++row) {
      const LedgerState state = state_of(row);
      const std::string reason = state == LedgerState::skipped      ? "interrupted"
                                 : state == LedgerState::unreadable ? result_.tensors[row].reason
                                                                    : std::string();
      note(RunSide::golden, golden_.tensors[sources_[row].golden], state, reason);
      note(RunSide::target, target_.tensors[sources_[row].target], state, reason);
      if (state != LedgerState::skipped) {
        reached.push_back(std::move(result_.tensors[row]));
      }
    }
    result_.tensors = std::move(reached);
    std::stable_sort(
        result_.tensors.begin(), result_.tensors.end(),
        [](const TensorResult& a, const TensorResult& b) { return a.order < b.order; });
    if (sources_.empty()) {
      result_.notes.emplace_back(
          "no pair was found; check that both sides are dumps of the same network, or give the "
          "graph with --graph");
    }
  }

  DumpIndex golden_;
  DumpIndex target_;
  const CompareOptions& options_;
  std::unique_ptr<RE2> only_;
  std::vector<Sources> sources_;  // one per row
  verdict::RunResult result_;
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<std::uint64_t> done_{0};
};

Result<verdict::RunResult> compare_by_name(const std::string& target, const std::string& golden,
                                           const CompareOptions& options) {
  OPDRIFT_TRY(DumpIndex golden_index, index_dump(golden, RunSide::golden, options.jobs));
  OPDRIFT_TRY(DumpIndex target_index, index_dump(target, RunSide::target, options.jobs));
  return Comparison(std::move(golden_index), std::move(target_index), options).run();
}

}  // namespace

Result<verdict::RunResult> compare_dumps(const std::string& target, const std::string& golden,
                                         const CompareOptions& options) {
  const auto started = std::chrono::steady_clock::now();
  auto compared = options.graphs.empty() ? compare_by_name(target, golden, options)
                                         : compare_by_graph(target, golden, options);
  if (compared) {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - started;
    compared->elapsed_s = elapsed.count();
  }
  return compared;
}

}  // namespace opdrift::pipeline
