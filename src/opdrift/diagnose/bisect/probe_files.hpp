#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/engine/instrument.hpp"
#include "opdrift/engine/onnxruntime.hpp"
#include "opdrift/engine/surgery/workpiece.hpp"

/// Parts of a network with what they are fed with, in memory and as files:
///
///   folder/<model file>
///   folder/inputs/<n>_<name>.bin   the n-th input, plain little-endian elements
namespace opdrift::diagnose {

/// A part that can run: every input has its value, and its type and shape are stated in the model.
struct PartRun {
  engine::PlacedModel placed;
  std::vector<engine::NamedTensor> inputs;  ///< in the part's order
  std::vector<std::string> outputs;
};

/// Values by name.
using KnownValues = std::map<std::string, engine::RunValue>;

/// Makes a part of `nodes` and looks up its inputs in `known` and among the network's `inputs`.
/// With `typed_outputs` the outputs get the types of `known` too, else they are left open. Fails
/// with `unsupported` when an input is no tensor or is not there.
Result<PartRun> prepare_part(const engine::Workpiece& piece, const engine::NodeSet& nodes,
                             const std::vector<std::string>& outputs,
                             std::span<const engine::NamedTensor> inputs, const KnownValues& known,
                             bool typed_outputs = false);

/// Writes the inputs below `folder`, which is made. Returns their paths.
Result<std::vector<std::string>> write_inputs(const std::string& folder, const PartRun& part);

/// Writes the model and its inputs; the folder is made. Returns the paths of the inputs.
Result<std::vector<std::string>> write_part(const std::string& folder,
                                            const std::string& model_file, const PartRun& part);

}  // namespace opdrift::diagnose
