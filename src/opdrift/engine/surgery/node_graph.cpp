#include "opdrift/engine/surgery/node_graph.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_set>

#include "opdrift/base/text.hpp"
#include "opdrift/engine/instrument.hpp"

namespace opdrift::engine {

namespace {

namespace onnx = io::onnx;

std::vector<std::string> values_read(const onnx::Node& node) {
  std::vector<std::string> reads;
  std::unordered_set<std::string_view> seen;
  const std::vector<std::string> captured = captured_values(node);
  for (const auto* list : {&node.inputs, &captured}) {
    for (const std::string& value : *list) {
      if (!value.empty() && seen.insert(value).second) {
        reads.push_back(value);
      }
    }
  }
  return reads;
}

Error shared_name(const std::string& what, std::string_view name) {
  return Error{ErrorCode::malformed, "expected every value to have a name of its own, found two " +
                                         what + " called '" + printable(name) + "'"};
}

void add_once(std::vector<std::size_t>& list, std::size_t node) {
  if (std::find(list.begin(), list.end(), node) == list.end()) {
    list.push_back(node);
  }
}

template <typename Neighbours>
NodeSet reach(std::size_t size, std::span<const std::size_t> from, const Neighbours& neighbours) {
  NodeSet found(size, false);
  std::vector<std::size_t> open;
  const auto visit = [&](std::size_t node) {
    if (!found[node]) {
      found[node] = true;
      open.push_back(node);
    }
  };
  std::for_each(from.begin(), from.end(), visit);
  while (!open.empty()) {
    const std::vector<std::size_t>& next = neighbours(open.back());
    open.pop_back();
    std::for_each(next.begin(), next.end(), visit);
  }
  return found;
}

/// Flags the nodes of a list.
NodeSet flags(std::size_t size, std::span<const std::size_t> nodes) {
  NodeSet set(size, false);
  for (const std::size_t node : nodes) {
    set[node] = true;
  }
  return set;
}

/// Turns "no edge passes over it" into one number: how far the edges seen so far reach.
class CutSearch {
 public:
  CutSearch(const NodeGraph& graph, std::span<const std::size_t> starts,
            std::span<const std::size_t> ends)
      : graph_(graph),
        starts_(flags(graph.size(), starts)),
        ends_(flags(graph.size(), ends)),
        region_(downstream(graph, starts)),
        place_(graph.size(), 0) {
    const NodeSet to_ends = upstream(graph, ends);
    for (const std::size_t node : graph.order()) {
      region_[node] = region_[node] && to_ends[node];
      if (region_[node]) {
        place_[node] = path_nodes_.size();
        path_nodes_.push_back(node);
      }
    }
  }

  std::vector<std::size_t> run() {
    std::size_t furthest = 0;
    for (const std::size_t node : path_nodes_) {
      if (starts_[node] && !has(graph_.before(node))) {
        furthest = std::max(furthest, place_[node]);
      }
    }
    std::vector<std::size_t> cuts;
    for (std::size_t place = 0; place < path_nodes_.size(); ++place) {
      if (furthest <= place) {
        cuts.push_back(path_nodes_[place]);
      }
      furthest = std::max(furthest, last_reader(path_nodes_[place]));
    }
    return cuts;
  }

 private:
  bool has(const std::vector<std::size_t>& nodes) const {
    return std::any_of(nodes.begin(), nodes.end(),
                       [&](std::size_t node) { return static_cast<bool>(region_[node]); });
  }

  /// The place of the last node that `node` feeds; one beyond the last for a node that ends paths.
  std::size_t last_reader(std::size_t node) const {
    if (ends_[node] && !has(graph_.after(node))) {
      return path_nodes_.size();
    }
    std::size_t last = 0;
    for (const std::size_t reader : graph_.after(node)) {
      last = region_[reader] ? std::max(last, place_[reader]) : last;
    }
    return last;
  }

  const NodeGraph& graph_;
  NodeSet starts_;
  NodeSet ends_;
  NodeSet region_;
  std::vector<std::size_t> path_nodes_;
  std::vector<std::size_t> place_;
};

}  // namespace

Result<NodeGraph> NodeGraph::build(const onnx::Graph& graph) {
  NodeGraph result;
  result.nodes_.reserve(graph.nodes.size());
  for (const onnx::Node& node : graph.nodes) {
    result.nodes_.push_back({node.name, values_read(node), {}, {}});
  }
  OPDRIFT_CHECK_OK(result.add_producers(graph));
  result.add_edges();
  OPDRIFT_CHECK_OK(result.sort());
  return result;
}

Status NodeGraph::add_producers(const onnx::Graph& graph) {
  std::unordered_set<std::string_view> given;
  for (const std::string_view name : initializer_names(graph)) {
    if (!given.insert(name).second) {
      return shared_name("constants", name);
    }
  }
  std::unordered_set<std::string_view> inputs;  // older models list their constants as well
  for (const onnx::ValueInfo& input : graph.inputs) {
    if (!inputs.insert(input.name).second) {
      return shared_name("inputs", input.name);
    }
  }
  given.merge(inputs);
  for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
    for (const std::string& value : graph.nodes[node].outputs) {
      if (value.empty()) {
        continue;
      }
      if (given.contains(value) || !producers_.emplace(value, node).second) {
        return Error{ErrorCode::malformed,
                     "expected every value to be made once, found '" + printable(value) +
                         "' made by '" + printable(nodes_[node].name) + "' and by something else"};
      }
    }
  }
  return Unit{};
}

void NodeGraph::add_edges() {
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    for (const std::string& value : nodes_[node].reads) {
      const auto made_by = producers_.find(value);
      if (made_by != producers_.end()) {
        add_once(nodes_[node].before, made_by->second);
      }
    }
    for (const std::size_t from : nodes_[node].before) {
      nodes_[from].after.push_back(node);
    }
  }
}

Status NodeGraph::sort() {
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  std::vector<std::size_t> waiting(nodes_.size(), 0);
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    waiting[node] = nodes_[node].before.size();
    if (waiting[node] == 0) {
      ready.push(node);
    }
  }
  while (!ready.empty()) {
    const std::size_t node = ready.top();
    ready.pop();
    order_.push_back(node);
    for (const std::size_t reader : nodes_[node].after) {
      if (--waiting[reader] == 0) {
        ready.push(reader);
      }
    }
  }
  if (order_.size() == nodes_.size()) {
    return Unit{};
  }
  const auto stuck =
      std::find_if(waiting.begin(), waiting.end(), [](std::size_t count) { return count > 0; });
  const auto node = static_cast<std::size_t>(stuck - waiting.begin());
  return Error{ErrorCode::malformed,
               "expected a graph without cycles, found one that keeps operator '" +
                   printable(nodes_[node].name) + "' waiting for its own result"};
}

std::optional<std::size_t> NodeGraph::producer(const std::string& value) const {
  const auto found = producers_.find(value);
  return found == producers_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::size_t> NodeGraph::named(const std::string& name) const {
  std::vector<std::size_t> found;
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    if (nodes_[node].name == name) {
      found.push_back(node);
    }
  }
  return found;
}

NodeSet downstream(const NodeGraph& graph, std::span<const std::size_t> starts) {
  return reach(graph.size(), starts, [&](std::size_t node) -> const std::vector<std::size_t>& {
    return graph.after(node);
  });
}

NodeSet upstream(const NodeGraph& graph, std::span<const std::size_t> ends) {
  return reach(graph.size(), ends, [&](std::size_t node) -> const std::vector<std::size_t>& {
    return graph.before(node);
  });
}

std::vector<std::size_t> cut_points(const NodeGraph& graph, std::span<const std::size_t> starts,
                                    std::span<const std::size_t> ends) {
  return CutSearch(graph, starts, ends).run();
}

}  // namespace opdrift::engine
