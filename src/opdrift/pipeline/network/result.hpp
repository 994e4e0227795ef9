#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/io/dump_folder.hpp"
#include "opdrift/metrics/measure.hpp"
#include "opdrift/metrics/measurement.hpp"
#include "opdrift/pipeline/pairing.hpp"
#include "opdrift/tensor/tensor.hpp"
#include "opdrift/verdict/result.hpp"

namespace opdrift::pipeline {

/// How far one row of a network comparison came.
enum class RowState : std::uint8_t {
  planned,     ///< not measured: a mapping was asked for, or the run was interrupted
  compared,    ///< measured, and some bits differ
  equal,       ///< measured, every bit agrees
  unmatched,   ///< no golden tensor
  unreadable,  ///< a side could not be read or decoded
  misfit,      ///< both sides were read, but do not fit together
};

/// One tensor as its dump describes it.
struct RowSide {
  std::string path;  ///< "" when there is no file
  tensor::TensorDesc desc;
  bool known = false;  ///< desc was read
};

/// Text of one algorithm and what it has to say.
struct AlgorithmValue {
  std::string text;
  std::string message;
};

/// A measurement on the heap with the manners of an optional one: most rows are moved about before
/// they are measured, and a measurement is larger than all the rest of a row.
class KeptMeasurement {
 public:
  KeptMeasurement& operator=(const metrics::Measurement& measurement) {
    kept_ = std::make_shared<const metrics::Measurement>(measurement);
    return *this;
  }
  bool has_value() const { return kept_ != nullptr; }
  explicit operator bool() const { return has_value(); }
  const metrics::Measurement& operator*() const { return *kept_; }
  const metrics::Measurement* operator->() const { return kept_.get(); }
  /// For those that keep it in place.
  operator std::optional<metrics::Measurement>() const {  // NOLINT(google-explicit-constructor)
    return kept_ ? std::optional<metrics::Measurement>(*kept_) : std::nullopt;
  }

 private:
  std::shared_ptr<const metrics::Measurement> kept_;
};

/// One tensor of the target and its golden; or a whole operator without tensors to compare.
struct NetworkRow {
  std::uint64_t index = 0;               ///< of the operator's group
  std::optional<std::int64_t> sequence;  ///< id of the operator in its graph
  std::string operator_name;             ///< "" in rows for a whole group
  std::string operator_type;             ///< "" unknown
  std::string target_names;              ///< all operators of the group
  std::string golden_names;              ///< their originals, "*" for none
  bool whole_operator = false;           ///< the row stands for an operator, not for a tensor
  bool output = true;
  std::uint32_t tensor = 0;
  std::string golden_tensor;  ///< "relu1:0", "" when there is none
  RowSide target;
  RowSide golden;
  std::string rule;                       ///< why these two were paired
  std::string reason;                     ///< why there is no number, and remarks
  bool reason_lost_by_reference = false;  ///< the reference has an empty reason here
  RowState state = RowState::planned;
  bool halves_failed = false;  ///< without a graph: neither inputs nor outputs could be paired

  tensor::Shape compared_shape;  ///< of the target as it was compared; device shape when it was not
  KeptMeasurement measurement;
  std::vector<AlgorithmValue> values;  ///< in the order of the algorithms asked for
  std::optional<bool> overflow;        ///< float16 targets: a value at or beyond 65504

  /// "conv1:output:0"; "" for a whole operator.
  std::string label() const;
};

/// Where the two tensors of a row are.
struct RowJob {
  std::size_t row = 0;
  std::size_t target_entry = 0;
  std::size_t golden_entry = 0;
  std::uint32_t golden_tensor = 0;
  bool golden_output = true;
  std::string golden_format;   ///< as the graph says, "" unknown
  tensor::Shape golden_shape;  ///< as the graph says, may be empty
};

/// What a judge wants to know of a job before it looks at the tensors again.
struct MeasuredJob {
  metrics::Peaks peaks;
  std::optional<OutlinedPair> outline;  ///< as they were compared; nothing where they were not
};

/// What kept an operator's target dump from being read; in row order.
struct OperatorFailure {
  std::string operator_name;
  std::uint64_t index = 0;
  Error error;
};

struct NetworkResult {
  std::string target_path;
  std::string golden_path;
  io::FolderKind target_kind = io::FolderKind::offline;
  io::FolderKind golden_kind = io::FolderKind::offline;
  bool target_has_npy = false;
  bool golden_has_npy = false;
  bool by_graph = false;  ///< a graph json told which operators belong together
  std::vector<std::string> algorithms;
  std::vector<NetworkRow> rows;       ///< by index, then by member of the group
  std::vector<RowJob> jobs;           ///< where the tensors of rows are, by row
  std::vector<MeasuredJob> measured;  ///< by job; empty unless asked for
  std::vector<OperatorFailure> failures;
  std::vector<verdict::LedgerEntry> ledger;
  std::vector<std::string> warnings;
  std::vector<std::string> network_inputs;  ///< operators of type Data
  std::size_t compared_operators = 0;       ///< whose target dump was read
  bool interrupted = false;
  std::uint64_t bytes_read = 0;
};

}  // namespace opdrift::pipeline
