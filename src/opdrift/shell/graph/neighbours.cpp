#include "opdrift/shell/graph/neighbours.hpp"

#include <algorithm>
#include <unordered_map>

#include "opdrift/base/text.hpp"
#include "opdrift/shell/graph/verdict_colour.hpp"

namespace opdrift::shell {

namespace {

using Positions = std::unordered_map<std::string_view, std::size_t>;

bool is_dead_end(const Node& node) {
  return node.type == "AtomicAddrClean" || node.type == "NetOutput";
}

/// Operators of one sub-graph with their producers and consumers.
class Links {
 public:
  explicit Links(const FoundNode& root) {
    for (const Node& node : root.file->nodes) {
      if (node.graph == root.node->graph) {
        by_name_.emplace(node.name, &node);
      }
    }
    for (const auto& [name, node] : by_name_) {
      for (const NodeInput& input : node->inputs) {
        if (input.output >= 0) {
          consumers_[input.producer].push_back(node);
        }
      }
    }
    for (auto& [name, nodes] : consumers_) {
      std::sort(nodes.begin(), nodes.end(), [](const Node* x, const Node* y) {
        return x->id != y->id ? x->id < y->id : x->name < y->name;
      });
    }
  }

  std::vector<const Node*> around(const Node& node) const {
    std::vector<const Node*> found;
    for (const NodeInput& input : node.inputs) {
      const auto producer = by_name_.find(input.producer);
      if (input.output >= 0 && producer != by_name_.end()) {
        found.push_back(producer->second);
      }
    }
    const auto consumers = consumers_.find(node.name);
    if (consumers != consumers_.end()) {
      found.insert(found.end(), consumers->second.begin(), consumers->second.end());
    }
    return found;
  }

 private:
  std::unordered_map<std::string_view, const Node*> by_name_;
  std::unordered_map<std::string_view, std::vector<const Node*>> consumers_;
};

void add_edges(const Positions& positions, Neighbourhood& part) {
  for (std::size_t to = 0; to < part.nodes.size(); ++to) {
    std::size_t input = 0;
    for (const NodeInput& source : part.nodes[to]->inputs) {
      if (source.output < 0) {
        continue;
      }
      const auto from = positions.find(source.producer);
      if (from != positions.end()) {
        part.edges.push_back({from->second, static_cast<std::size_t>(source.output), to, input});
      }
      ++input;
    }
  }
}

/// Text inside a record label.
std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : printable(text)) {
    if (std::string_view("{}|<>\"\\ ").find(c) != std::string_view::npos) {
      safe += '\\';
    }
    safe += c;
  }
  return safe;
}

std::string quoted(std::string_view text) {
  return "\"" + replace_all(replace_all(printable(text), "\\", "\\\\"), "\"", "\\\"") + "\"";
}

std::string ports_text(const std::vector<Port>& ports, char kind) {
  std::string text = "{ ";
  for (std::size_t k = 0; k < ports.size(); ++k) {
    std::vector<std::string> extents;
    for (const std::int64_t extent : ports[k].shape) {
      extents.push_back(std::to_string(extent));
    }
    const std::string number = std::to_string(k);
    text += (k == 0 ? "" : " | ") + std::string("<") + kind + number + "> [" + number + "] [" +
            escaped(ports[k].dtype) + "]\\n[" + join(extents, ", ") + "]";
  }
  return text + " }";
}

std::string node_text(const Node& node, bool root, const Verdicts& verdicts) {
  std::string text = "  " + quoted(node.name) + " [label=\"{" + ports_text(node.input_ports, 'i') +
                     " | [" + escaped(node.type) + "] " + escaped(node.name) + " | " +
                     ports_text(node.output_ports, 'o') + "}\"";
  text += root ? ", color=red" : "";
  const std::string_view fill = fill_of(node, verdicts);
  if (!fill.empty()) {
    text += ", style=filled, fillcolor=\"" + std::string(fill) + "\"";
  }
  return text + "];\n";
}

}  // namespace

Neighbourhood neighbourhood_of(const FoundNode& root, std::size_t depth, std::size_t most) {
  const Links links(root);
  Neighbourhood part;
  Positions positions;
  positions.emplace(root.node->name, 0);
  part.nodes.push_back(root.node);
  std::size_t first = 0;
  for (std::size_t step = 0; step < depth && part.nodes.size() < most; ++step) {
    const std::size_t last = part.nodes.size();
    for (std::size_t k = first; k < last; ++k) {
      if (k != 0 && is_dead_end(*part.nodes[k])) {
        continue;
      }
      for (const Node* node : links.around(*part.nodes[k])) {
        if (part.nodes.size() < most && positions.emplace(node->name, part.nodes.size()).second) {
          part.nodes.push_back(node);
        }
      }
    }
    first = last;
  }
  add_edges(positions, part);
  return part;
}

std::string dot_text(const Neighbourhood& part, const Verdicts& verdicts) {
  std::string text = "digraph operators {\n  node [shape=record];\n";
  for (std::size_t k = 0; k < part.nodes.size(); ++k) {
    text += node_text(*part.nodes[k], k == 0, verdicts);
  }
  for (const DrawnEdge& edge : part.edges) {
    text += "  " + quoted(part.nodes[edge.from]->name) + ":o" + std::to_string(edge.output) +
            " -> " + quoted(part.nodes[edge.to]->name) + ":i" + std::to_string(edge.input) + ";\n";
  }
  return text + "}\n";
}

}  // namespace opdrift::shell
