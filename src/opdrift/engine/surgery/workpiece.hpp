#pragma once

#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/engine/instrument.hpp"
#include "opdrift/engine/surgery/node_graph.hpp"

/// A model made ready to be cut up:
///
///   Constant nodes      become initializers named after their output (but for sparse ones, which
///                       stay)
///   nameless nodes      are called `<op_type>_<first output>`
///   initializers        are no inputs, whatever the file says; IR versions below 4 become 4, since
///                       these ask for the opposite
///
/// Weights stay where they are: in the mapped file or in external data.
namespace opdrift::engine {

struct Workpiece {
  PlacedModel placed;
  NodeGraph graph;  ///< of placed.model.graph, node for node
  /// What dumps call the nodes: io::onnx::node_names of the model as it was in the file.
  std::vector<std::string> dump_names;

  const io::onnx::Node& node(std::size_t position) const {
    return placed.model.graph.nodes[position];
  }
};

/// Fails as NodeGraph::build does.
Result<Workpiece> prepare(PlacedModel placed);

/// The same from a file; fails also as io::onnx::open_model does.
Result<Workpiece> open_workpiece(const std::string& path);

/// The node of this name: its name here or, for nameless ones, in dumps. `what` says what it is
/// wanted for ("to start at"). Fails with not_found or ambiguous.
Result<std::size_t> find_node(const Workpiece& piece, const std::string& name,
                              const std::string& what);

/// Positions of the nodes that read a graph input, and of those that make a graph output.
std::vector<std::size_t> input_readers(const Workpiece& piece);
std::vector<std::size_t> output_makers(const Workpiece& piece);

}  // namespace opdrift::engine
