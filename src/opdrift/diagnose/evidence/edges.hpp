#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/graph/graph.hpp"

/// Who feeds whom, from whatever tells it: a compiled model (graph file), an ONNX model, or the
/// manifest of a dump of opdrift's own.
namespace opdrift::diagnose::evidence {

/// An output of an operator: its producer's position in the graph and the output number.
struct Feed {
  std::size_t producer = 0;
  std::size_t output = 0;
};

class Edges {
 public:
  Edges() = default;
  explicit Edges(graph::Graph graph);

  const graph::Graph& graph() const { return graph_; }
  bool empty() const { return graph_.operators.empty(); }

  /// The operator of that name, with `/`, `.` and blanks read as `_` when it is not found as
  /// written; null when there is none, or several.
  const graph::Operator* find(const std::string& name) const;

  /// Where an input comes from; nothing for constants, network inputs and absent inputs.
  std::optional<Feed> feed_of(const graph::InputRef& input) const;

  /// Operators nobody reads, and those that the graph's NetOutput reads: the outputs of the
  /// network.
  std::vector<Feed> network_outputs() const;

 private:
  graph::Graph graph_;
  std::unordered_map<std::string, std::size_t> by_name_;
  std::unordered_map<std::string, std::optional<std::size_t>> by_normalised_;
  std::unordered_map<std::string, Feed> by_tensor_;
};

/// The operators of `<folder>/manifest.json`, in execution order. Fails with bad_json, and with
/// what opening the file fails with.
Result<graph::Graph> read_manifest_graph(const std::string& folder);

}  // namespace opdrift::diagnose::evidence
