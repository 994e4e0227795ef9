#pragma once

#include <string>
#include <utility>
#include <vector>

#include "opdrift/graph/atc_json.hpp"
#include "opdrift/graph/graph.hpp"
#include "opdrift/match/network.hpp"

namespace opdrift::match {

/// Builds small graphs in tests.
class GraphBuilder {
 public:
  /// An operator made of `originals`; {} leaves the attribute out.
  GraphBuilder& op(const std::string& name, const std::string& type,
                   std::vector<std::string> originals, const std::vector<std::string>& inputs) {
    graph::Operator op;
    op.name = name;
    op.type = type;
    op.id = static_cast<std::int64_t>(graph_.operators.size()) + 1;
    op.originals_given = !originals.empty();
    op.original_names = std::move(originals);
    for (const std::string& input : inputs) {
      op.inputs.push_back(graph::parse_input_entry(input));
    }
    graph_.operators.push_back(std::move(op));
    return *this;
  }

  /// An output of the last operator.
  GraphBuilder& output(const std::string& origin, std::optional<int> index = 0,
                       const std::string& dtype = "DT_FLOAT16") {
    graph::OutputDesc output;
    output.origin_name = origin;
    output.origin_index = index;
    output.origin_format = "ND";
    output.dtype = dtype;
    last().outputs.push_back(std::move(output));
    return *this;
  }

  /// One operator that is its only original, with one output.
  GraphBuilder& plain(const std::string& name, const std::vector<std::string>& inputs,
                      const std::string& type = "Add") {
    return op(name, type, {name}, inputs).output(name);
  }

  graph::Operator& last() { return graph_.operators.back(); }
  Network network(const NetworkOptions& options = {}) const { return Network(graph_, options); }
  const graph::Graph& graph() const { return graph_; }

 private:
  graph::Graph graph_;
};

}  // namespace opdrift::match
