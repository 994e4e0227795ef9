#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "opdrift/metrics/measurement.hpp"
#include "opdrift/tensor/tensor.hpp"
#include "opdrift/verdict/error_profile.hpp"
#include "opdrift/verdict/explanation.hpp"
#include "opdrift/verdict/judgement.hpp"

namespace opdrift::verdict {

/// Where a file or tensor of one side ended. Every one ends in exactly one state.
enum class LedgerState : std::uint8_t {
  compared,    ///< measured, and some bits differ
  equal,       ///< measured, every bit agrees
  unmatched,   ///< nothing on the other side to compare with
  unreadable,  ///< could not be read or decoded, or does not fit its partner
  superseded,  ///< an older file of the same operator
  ignored,     ///< not a tensor (mapping tables, manifests, logs)
  skipped,     ///< left out by the user's selection, or by an interruption
};

const char* to_string(LedgerState state);

enum class RunSide : std::uint8_t { golden, target };

const char* to_string(RunSide side);

/// One line of the ledger: a tensor, or a whole file that holds none.
struct LedgerEntry {
  RunSide side = RunSide::golden;
  std::string path;
  std::string tensor;  ///< "conv1:output:0"; "" for a whole file
  LedgerState state = LedgerState::ignored;
  std::string reason;  ///< "" where the state says it all
};

/// A metric that was asked for by name, or one of a plug-in.
struct MetricValue {
  double value = metrics::kNan;
  std::string text;  ///< as printed; "" when there was nothing to compute it from
  std::string note;  ///< what a reader should know beside it, "" for nothing
};

/// One pair of tensors and what was found.
struct TensorResult {
  std::string operator_name;  ///< as the target names it
  std::string operator_type;
  std::string golden_operator;
  std::string tensor_name;  ///< value name of the framework, may be empty
  std::string step;         ///< sub-folder both came from, "" when there is one
  std::string role;         ///< "input" or "output"
  std::uint32_t index = 0;
  std::uint64_t order = 0;  ///< position in execution order
  std::string rule;         ///< why these two were paired
  std::string target_path;
  std::string golden_path;
  tensor::Shape target_shape;
  tensor::Shape golden_shape;
  std::optional<metrics::Measurement> measurement;  ///< absent when they could not be compared
  /// Not the tensors but their recorded statistics were compared (judgement tier `statistics`):
  /// `measurement` then holds estimates, NaN where there is none, and no place of any element.
  bool statistics_only = false;
  std::vector<MetricValue> metric_values;  ///< parallel to RunResult::metric_names, or empty
  bool passed = false;
  std::string reason;  ///< why it failed, or could not be compared; "" when it passed
  std::optional<Judgement> judgement;     ///< absent where only limits were asked
  std::vector<Explanation> explanations;  ///< of a tensor that is wrong, best first
  std::optional<ErrorPlace> place;        ///< of a tensor that is wrong
  std::optional<ErrorProfile> profile;    ///< where it was asked for

  /// "conv1:output:0", the name of this tensor in tables and the ledger.
  std::string label() const;
};

/// A tensor or constant at the end of its type's range.
struct RangeNote {
  std::string name;
  double value = 0.0;  ///< largest |value|
  double ratio = 0.0;  ///< largest finite number of the type over it; below 1 it overflows
  std::string sentence;
};

/// Where NaN and Inf of the target come from, and what is about to make some.
struct OverflowSummary {
  std::string sentence;              ///< the first operator that made one; "" for none
  std::vector<std::string> path;     ///< from there to the nearest output, operators
  std::vector<RangeNote> headroom;   ///< tensors with little room, least first
  std::vector<RangeNote> constants;  ///< parameters the target's type cannot hold
};

/// An operator of the network as the judge saw it, for views that show how errors travel.
struct NetworkOperator {
  std::string name;  ///< of the golden's model, or the target's where its graph was judged
  std::string type;
  std::vector<std::uint32_t> producers;  ///< positions of the operators it reads, each once
  std::vector<std::size_t> rows;         ///< positions in `tensors` of what it made, all steps
};

/// Count of ledger entries by side and state.
struct LedgerTotals {
  std::uint64_t compared = 0;
  std::uint64_t equal = 0;
  std::uint64_t unmatched = 0;
  std::uint64_t unreadable = 0;
  std::uint64_t superseded = 0;
  std::uint64_t ignored = 0;
  std::uint64_t skipped = 0;

  std::uint64_t all() const;
};

/// A whole comparison, ready to be reported.
struct RunResult {
  std::string target_path;
  std::string golden_path;
  std::string target_kind;  ///< "Ascend dump", "opdrift dump", "npy folder" ...
  std::string golden_kind;
  std::vector<std::string> metric_names;  ///< asked for by name, then those of plug-ins
  bool usual_metrics = true;              ///< tables show the usual metrics beside these
  std::vector<TensorResult> tensors;      ///< execution order
  std::vector<LedgerEntry> ledger;
  std::vector<std::string> notes;        ///< remarks about the run as a whole
  std::string rule;                      ///< what decided, in words
  std::optional<RunVerdict> verdict;     ///< positions are those of `tensors`
  OverflowSummary overflow;              ///< of judged runs
  std::vector<NetworkOperator> network;  ///< of judged runs, topological order
  bool interrupted = false;
  std::uint64_t bytes_read = 0;
  double elapsed_s = 0.0;

  LedgerTotals totals(RunSide side) const;
  std::uint64_t failed() const;
  /// The first failing tensor in execution order; null when all passed.
  const TensorResult* first_offender() const;
};

/// Indexes into `tensors`, worst first. Judged runs: culprits in graph order, then drift, victims,
/// watch, unjudged and healthy. Others: failures before passes, then by relative L2 falling.
/// Tensors that could not be compared come first of all.
std::vector<std::size_t> worst_first(const RunResult& result);

}  // namespace opdrift::verdict
