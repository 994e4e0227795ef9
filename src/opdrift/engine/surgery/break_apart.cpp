#include "opdrift/engine/surgery/break_apart.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "opdrift/engine/surgery/part.hpp"
#include "opdrift/io/onnx/writer.hpp"

namespace opdrift::engine {

namespace {

namespace onnx = io::onnx;
using Names = std::unordered_set<std::string>;

/// Values whose names cannot stay: all that are read, and all that are no outputs of the graph.
class OutputNames {
 public:
  explicit OutputNames(const Workpiece& piece) {
    for (const onnx::ValueInfo& output : piece.placed.model.graph.outputs) {
      stay_.insert(output.name);
    }
    for (std::size_t node = 0; node < piece.graph.size(); ++node) {
      for (const std::string& value : piece.graph.reads(node)) {
        stay_.erase(value);
      }
    }
  }

  std::string name(const std::string& value, std::size_t node, std::size_t output) const {
    return value.empty() || stay_.contains(value)
               ? value
               : "out_" + std::to_string(output) + "_" + std::to_string(node) + "_" + value;
  }

 private:
  Names stay_;
};

SinglePiece describe_piece(const Workpiece& piece, std::size_t node, const Names& constants) {
  SinglePiece single;
  single.node = piece.graph.name(node);
  single.op_type = piece.node(node).op_type;
  for (const std::string& value : piece.graph.reads(node)) {
    (constants.contains(value) ? single.initializers : single.inputs).push_back(value);
  }
  return single;
}

}  // namespace

BrokenModel break_apart(const Workpiece& piece, const ValueTypes& known) {
  const OutputNames names(piece);
  Names constants;
  for (const std::string_view name : initializer_names(piece.placed.model.graph)) {
    constants.emplace(name);
  }
  BrokenModel broken;
  std::vector<std::string> read;
  std::vector<onnx::Node> nodes;
  for (std::size_t node = 0; node < piece.graph.size(); ++node) {
    SinglePiece single = describe_piece(piece, node, constants);
    read.insert(read.end(), single.inputs.begin(), single.inputs.end());
    nodes.push_back(piece.node(node));
    for (std::size_t i = 0; i < nodes.back().outputs.size(); ++i) {
      std::string& value = nodes.back().outputs[i];
      value = names.name(value, node, i);
      if (!value.empty()) {
        single.outputs.push_back(value);
      }
    }
    nodes.back().message = {};
    broken.pieces.push_back(std::move(single));
  }
  // A part of all nodes that shows every value read knows the types of these values.
  PartRequest request;
  request.nodes.assign(piece.graph.size(), true);
  request.known = known;
  Names seen;
  for (const std::string& value : read) {
    if (piece.graph.producer(value) && seen.insert(value).second) {
      request.outputs.push_back(value);
    }
  }
  Part part = make_part(piece, request);
  onnx::Graph& graph = part.placed.model.graph;
  graph.nodes = std::move(nodes);
  graph.inputs.insert(graph.inputs.end(), graph.outputs.begin(), graph.outputs.end());
  graph.value_infos.clear();
  graph.outputs.clear();
  for (const SinglePiece& single : broken.pieces) {
    for (const std::string& value : single.outputs) {
      graph.outputs.push_back(onnx::make_value_info(value));
    }
  }
  broken.placed = std::move(part.placed);
  broken.assumed = std::move(part.assumed);
  return broken;
}

}  // namespace opdrift::engine
