#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "opdrift/base/parallel.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/match/network.hpp"
#include "opdrift/pipeline/dump_side.hpp"
#include "opdrift/pipeline/network/result.hpp"

namespace opdrift::pipeline {

/// Called from worker threads: tensors done, tensors in all.
using NetworkProgress = std::function<void(std::uint64_t, std::uint64_t)>;

struct NetworkOptions {
  std::string target_path;  ///< folder of dumps
  std::string golden_path;
  std::string graph_json;         ///< of the target model; "" to pair operators by name
  std::string quantised_json;     ///< of the quantised original
  std::string close_fusion_json;  ///< of the same model built with fusion off
  std::string range;              ///< start,end,step; "" for all
  std::string select;             ///< ids; "" for all
  bool ffts = false;              ///< slices are operators of their own
  /// Defects of the reference that results may depend on are reproduced (docs/msaccucmp.md).
  bool reference = false;
  bool mapping_only = false;            ///< pair, but measure nothing
  bool overflow = false;                ///< look for float16 values at the end of their range
  bool keep_peaks = false;              ///< what a sampling judge wants to know of the rows
  bool check_kinds = true;              ///< refuse combinations of dump kinds the reference refuses
  std::vector<std::string> algorithms;  ///< names out of metrics/registry.hpp, in column order
  std::uint64_t max_elements = 0;       ///< compare the first N elements; 0: all
  std::size_t jobs = 0;                 ///< threads; 0: one per processor
  const CancelFlag* cancel = nullptr;
  NetworkProgress progress;
};

/// Which graph files a combination of dump kinds needs.
///
///   target              golden                needs
///   device              device                none, or graph and close fusion; both or neither
///                                             quantised
///   device              original              graph
///   device, quantised   original              graph and quantised graph
///   device, quantised   quantised original    graph
///   quantised original  original              quantised graph
///
/// Fails with invalid_argument (files) or bad_combination (kinds).
Status check_combination(const DumpSide& target, const DumpSide& golden,
                         const NetworkOptions& options);

/// Everything that was read before pairing.
struct NetworkInputs {
  std::unique_ptr<DumpSide> target;
  std::unique_ptr<DumpSide> golden;
  bool by_graph = false;
  match::Network network;
  std::vector<bool> groups;  ///< chosen by range or select; empty: all
  std::vector<std::string> warnings;
  std::vector<std::string> input_names;
};

/// Scans both folders, checks their kinds and reads the graphs, in this order.
Result<NetworkInputs> open_network(const NetworkOptions& options);

/// Compares two folders of dumps operator by operator.
///
/// Rows are measured in groups of one golden tensor, which is decoded once for its operator and all
/// consumers; results do not depend on the number of threads. Memory does not grow with the size of
/// the tensors. What is wrong with single files becomes a row and a line of the ledger; every file
/// and tensor of both sides is in the ledger. After an interruption the result holds what was done.
/// Fails when a folder or a graph cannot be read at all, or options make no sense.
Result<NetworkResult> compare_network(const NetworkOptions& options);
Result<NetworkResult> compare_network(const NetworkInputs& inputs, const NetworkOptions& options);

}  // namespace opdrift::pipeline
