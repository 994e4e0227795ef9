#pragma once

#include <map>
#include <string>
#include <vector>

#include "opdrift/engine/surgery/workpiece.hpp"
#include "opdrift/engine/wanted_values.hpp"

/// A model made of some nodes of another one.
///
///   nodes         those asked for, producers first, file order where that leaves a choice; their
///                 messages are passed on byte for byte
///   inputs        what they read and neither make nor find among the initializers, by first use
///   outputs       those asked for
///   initializers  those they read, and no other; the same for sparse ones
///   value infos   of values that stay inside, and quantisation annotations of all values in it
///   other         operator sets, functions, metadata and unknown fields stay; training info goes
namespace opdrift::engine {

struct PartRequest {
  NodeSet nodes;
  std::vector<std::string> outputs;
  bool bare_outputs = false;  ///< leave the types of outputs open, as a runtime may infer them
  std::map<std::string, std::vector<io::onnx::Dim>> input_shapes;  ///< instead of those known
  std::map<std::string, int> input_types;  ///< TensorProto.DataType, instead of those known
  ValueTypes known;                        ///< types of values beyond those in the model
};

struct Part {
  PlacedModel placed;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> assumed;  ///< inputs and outputs of unknown type, taken for float32
};

/// Types and shapes of inputs and outputs: as the model states them (graph inputs, outputs, value
/// infos), else from `known`, else float32 of any shape.
Part make_part(const Workpiece& piece, const PartRequest& request);

/// Values made by `nodes` that the others read or that leave the model, in topological order.
std::vector<std::string> border_values(const Workpiece& piece, const NodeSet& nodes);

}  // namespace opdrift::engine
