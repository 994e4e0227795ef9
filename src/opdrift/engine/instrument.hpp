#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/engine/onnxruntime.hpp"
#include "opdrift/io/onnx/model.hpp"
#include "opdrift/tensor/dtype.hpp"

/// Editing a model so that a run shows more than its outputs.
namespace opdrift::engine {

/// A model and the folder its external data lies in.
struct PlacedModel {
  io::onnx::Model model;
  std::string folder;
};

/// Gives nameless nodes the names of io::onnx::node_names. Returns how many there were.
std::size_t name_nodes(io::onnx::Model& model);

/// Replaces the graph's outputs by these values, types left open.
void expose(io::onnx::Model& model, std::span<const std::string> values);

/// Replaces the extents of inputs by those of the tensors that will be given.
void fix_input_shapes(io::onnx::Model& model, std::span<const NamedTensor> inputs);

/// An operator output of the main graph.
struct NodeOutput {
  std::size_t node = 0;
  std::size_t index = 0;
  std::string tensor;
};

/// All outputs with a name, in execution order.
std::vector<NodeOutput> node_outputs(const io::onnx::Graph& graph);

/// For every node of `optimized`, the nodes of `original` (positions) whose work it does: those
/// met going back from its outputs to values that exist in both graphs. Empty for nodes that the
/// optimiser added.
std::vector<std::vector<std::size_t>> originals_of(const io::onnx::Graph& optimized,
                                                   const io::onnx::Graph& original);

/// Adds `/rewritten` to the names of nodes that have no originals but the name of a node in
/// `original`. The optimiser makes such nodes when it moves Transpose past others: they give values
/// that are not in the original, often with another order of axes, and must not be taken for them.
void rename_added(io::onnx::Graph& optimized, const io::onnx::Graph& original,
                  const std::vector<std::vector<std::size_t>>& originals);

/// Values of the outer graph that the bodies of a node read.
std::vector<std::string> captured_values(const io::onnx::Node& node);

/// Encodes and opens a model.
Result<std::unique_ptr<Session>> open_model(Runtime& runtime, const PlacedModel& placed,
                                            SessionOptions options);

}  // namespace opdrift::engine
