#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "opdrift/base/parallel.hpp"
#include "opdrift/diagnose/offline/failure.hpp"
#include "opdrift/engine/inputs.hpp"

/// The golden side of an offline comparison: an ONNX model run in ONNX Runtime with every output
/// of every node kept (engine/dump.hpp).
///
///   <dump>/<node>.<output>.<time>.npy         "." and "/" of the node's name as "_"
///   <dump>/input_<node>.<input>.<time>.npy    inputs of nodes: network inputs, outputs of other
///                                             nodes, constants in float and double
///   <dump>/<network input>.0.<time>.npy
///   <dump>/mapping.csv                        names too long for files
///   <models>/new_<file name>                  the model with all node outputs exposed
///   <models>/manifest.json                    what is in the dump
///
/// Files of one value are links to one file where the file system has links.
namespace opdrift::diagnose::offline {

struct GoldenRun {
  std::string model;
  std::string dump_folder;   ///< emptied first
  std::string model_folder;  ///< for the models
  std::vector<engine::InputFile> inputs;
  bool optimise = true;     ///< let ONNX Runtime rewrite the graph with everything exposed
  bool all_outputs = true;  ///< false: the outputs of the model only
  std::string library;      ///< of ONNX Runtime, "" to search
  std::string version;      ///< of opdrift, for the manifest
  const CancelFlag* cancel = nullptr;
};

struct GoldenDump {
  std::vector<std::string> net_outputs;  ///< file of each model output, "" without
  std::size_t tensors = 0;
  std::vector<std::string> notes;
};

/// Fails as engine::dump_model does.
Outcome<GoldenDump> run_golden(const GoldenRun& run);

/// The gear that ran, out of the names of a device dump ("..._ascend_mbatch_batch_<n>...").
std::optional<std::uint64_t> gear_of_dump(const std::string& dump_folder);

/// Gives every golden file a second name, "_ascend_mbatch_batch_<gear>" before its first dot: the
/// operators of a model with gears carry that mark.
Done name_for_gear(const std::string& golden_folder, std::uint64_t gear);

/// Names of the nodes that make the outputs of a model, nameless ones as they are dumped.
Outcome<std::set<std::string>> output_nodes_of(const std::string& model);

}  // namespace opdrift::diagnose::offline
