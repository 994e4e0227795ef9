#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "opdrift/base/parallel.hpp"
#include "opdrift/match/network.hpp"
#include "opdrift/pipeline/dump_side.hpp"
#include "opdrift/pipeline/network/result.hpp"

namespace opdrift::pipeline {

/// A row that takes its numbers from another: the input of a sliced operator from its producer.
struct RowCopy {
  std::size_t row = 0;
  std::size_t from = 0;
};

/// A tensor of a target dump that gets no row.
struct UncomparedTensor {
  std::size_t entry = 0;
  std::string label;
  std::string reason;
};

/// Rows of a comparison before anything was measured.
struct NetworkPlan {
  std::vector<NetworkRow> rows;
  std::vector<RowJob> jobs;           ///< by row
  std::vector<MeasuredJob> measured;  ///< by job, once measured, where asked for
  std::vector<RowCopy> copies;
  std::vector<OperatorFailure> failures;
  std::vector<UncomparedTensor> uncompared;
  std::vector<std::size_t> used_targets;  ///< entries the plan looked at
  std::vector<std::string> warnings;
  std::size_t compared_operators = 0;
  bool interrupted = false;

  /// Makes room for this many rows: they are large to move.
  void reserve(std::size_t count);
  /// Adds the rows of one operator or group behind the others; its jobs count from its own rows.
  void append(NetworkPlan&& part);
};

struct PlanOptions {
  std::vector<bool> groups;  ///< groups to compare; empty: all
  bool sequence = false;     ///< rows tell the operator's id
  std::size_t jobs = 1;
  const CancelFlag* cancel = nullptr;
};

/// Reads the target's headers and finds the golden of every tensor by the graph.
NetworkPlan plan_by_graph(const match::Network& network, const DumpSide& target,
                          const DumpSide& golden, const PlanOptions& options);

/// Pairs the operators of two device dumps by their names.
NetworkPlan plan_by_key(const DumpSide& target, const DumpSide& golden, const PlanOptions& options);

}  // namespace opdrift::pipeline
