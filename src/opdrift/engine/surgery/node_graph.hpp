#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/io/onnx/model.hpp"

/// Who feeds whom in the main graph of a model.
///
/// An edge u -> v exists when v reads a value that u makes, as an input or from within a body of
/// If, Loop or Scan. Reading one value twice makes one edge.
///
///   downstream(S)    nodes that can be reached from S, S included
///   upstream(E)      nodes from which E can be reached, E included
///   cut_points(S, E) nodes that lie on every path from S to E
///
/// A path begins at a node of S that no other node of S reaches, and ends likewise. In topological
/// order of downstream(S) and upstream(E) taken together, a node is a cut point when no edge passes
/// over it: such an edge would be the way around it. Time: one walk over the edges.
namespace opdrift::engine {

/// One flag per node.
using NodeSet = std::vector<bool>;

class NodeGraph {
 public:
  /// Fails with `malformed` when a value is made twice, two inputs or two constants have one name,
  /// or operators form a cycle.
  static Result<NodeGraph> build(const io::onnx::Graph& graph);

  std::size_t size() const { return nodes_.size(); }
  const std::string& name(std::size_t node) const { return nodes_[node].name; }
  /// Values the node reads, each once: its inputs, then what its bodies read.
  const std::vector<std::string>& reads(std::size_t node) const { return nodes_[node].reads; }
  const std::vector<std::size_t>& before(std::size_t node) const { return nodes_[node].before; }
  const std::vector<std::size_t>& after(std::size_t node) const { return nodes_[node].after; }
  /// All nodes, producers first; file order where that leaves a choice.
  const std::vector<std::size_t>& order() const { return order_; }
  /// The node that makes a value; nothing for inputs and constants.
  std::optional<std::size_t> producer(const std::string& value) const;
  /// Nodes of this name, in file order.
  std::vector<std::size_t> named(const std::string& name) const;

 private:
  struct Item {
    std::string name;
    std::vector<std::string> reads;
    std::vector<std::size_t> before;
    std::vector<std::size_t> after;
  };

  Status add_producers(const io::onnx::Graph& graph);
  void add_edges();
  Status sort();

  std::vector<Item> nodes_;
  std::vector<std::size_t> order_;
  std::unordered_map<std::string, std::size_t> producers_;
};

NodeSet downstream(const NodeGraph& graph, std::span<const std::size_t> starts);
NodeSet upstream(const NodeGraph& graph, std::span<const std::size_t> ends);

/// Cut points in topological order; empty when no path leads from `starts` to `ends`.
std::vector<std::size_t> cut_points(const NodeGraph& graph, std::span<const std::size_t> starts,
                                    std::span<const std::size_t> ends);

}  // namespace opdrift::engine
