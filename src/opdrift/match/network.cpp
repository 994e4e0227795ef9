#include "opdrift/match/network.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "opdrift/base/text.hpp"

namespace opdrift::match {

namespace {

constexpr std::string_view kSlice = "_lxslice";
// Keeps ["ab", "c"] and ["a", "bc"] apart; cannot occur in a name.
constexpr std::string_view kKeySeparator = "\x1f";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string group_key(const Node& node) {
  if (!node.l1_group.empty()) {
    return node.l1_group;
  }
  if (node.originals.size() > 1) {
    return join(node.originals, kKeySeparator);
  }
  return node.originals.empty() || node.originals[0].empty() ? node.name : node.originals[0];
}

Relation relation_of(const Node& first, std::size_t members) {
  if (members == 1) {
    return first.originals.size() > 1 ? Relation::many_to_one : Relation::one_to_one;
  }
  if (!first.l1_group.empty()) {
    return Relation::l1_fusion;
  }
  return first.originals.size() == 1 ? Relation::one_to_many : Relation::many_to_many;
}

/// Gives outputs without an origin this name; makes one output when there is none.
void name_outputs(Node& node, const std::string& origin) {
  if (node.outputs.empty()) {
    Description made;
    made.origin_name = origin;
    node.outputs.push_back(std::move(made));
    return;
  }
  for (Description& output : node.outputs) {
    if (output.origin_name.empty()) {
      output.origin_name = origin;
    }
  }
}

Node node_of(const graph::Operator& op, const NetworkOptions& options) {
  Node node;
  node.name = options.keep_slice_names ? op.name : without_slices(op.name);
  node.type = op.type;
  node.id = op.id;
  node.inputs = op.inputs;
  node.originals = op.originals_given ? op.original_names : std::vector<std::string>{node.name};
  node.l1_group = op.l1_fusion_group;
  node.multi_op = op.multi_op;
  node.originals_given = op.originals_given;
  for (const graph::OutputDesc& output : op.outputs) {
    if (output.described) {
      node.outputs.push_back({output.origin_name, output.origin_index, output.origin_format,
                              output.origin_shape, output.dtype});
    }
  }
  if (!op.originals_given) {
    name_outputs(node, node.name);
  }
  return node;
}

}  // namespace

const char* to_string(Relation relation) {
  switch (relation) {
    case Relation::one_to_one: return "one to one";
    case Relation::many_to_one: return "many to one";
    case Relation::l1_fusion: return "L1 fusion";
    case Relation::one_to_many: return "one to many";
    case Relation::many_to_many: return "many to many";
  }
  return "";
}

const char* to_string(LeftOut reason) {
  switch (reason) {
    case LeftOut::no: return "";
    case LeftOut::duplicate: return "an operator of the same name came first";
    case LeftOut::quant_pair: return "lies between a quantise and a dequantise operator";
    case LeftOut::merged: return "another operator with the same first original was kept";
  }
  return "";
}

std::string Node::joined_originals() const {
  return join(originals, ",");
}

Network::Network(const graph::Graph& graph, const NetworkOptions& options) {
  nodes.reserve(graph.operators.size());
  for (const graph::Operator& op : graph.operators) {
    nodes.push_back(node_of(op, options));
  }
  make_groups();
  name_lone_outputs();
}

Network Network::regroup(std::vector<Node> nodes) {
  Network network;
  network.nodes = std::move(nodes);
  network.make_groups();
  return network;
}

void Network::make_groups() {
  groups.clear();
  by_name_.clear();
  std::unordered_map<std::string, std::size_t> by_key;
  std::unordered_set<std::string> seen;  // group number and name
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    Node& node = nodes[i];
    const auto [place, added] = by_key.try_emplace(group_key(node), groups.size());
    if (added) {
      groups.emplace_back();
    }
    node.group = place->second;
    if (!seen.insert(std::to_string(node.group) + ":" + node.name).second) {
      node.left_out = LeftOut::duplicate;
      continue;
    }
    groups[node.group].members.push_back(i);
    by_name_.try_emplace(node.name, i);
  }
  judge_relations();
  run_order.resize(nodes.size());
  std::iota(run_order.begin(), run_order.end(), std::size_t{0});
  std::stable_sort(run_order.begin(), run_order.end(),
                   [this](std::size_t a, std::size_t b) { return nodes[a].id < nodes[b].id; });
}

void Network::judge_relations() {
  for (Group& group : groups) {
    if (!group.members.empty()) {
      group.relation = relation_of(nodes[group.members.front()], group.members.size());
    }
  }
}

/// An operator that is its original alone made all its outputs, whatever the source left out.
void Network::name_lone_outputs() {
  for (const Group& group : groups) {
    Node& node = nodes[group.members.front()];
    if (group.members.size() == 1 && node.originals.size() == 1 && node.originals_given) {
      name_outputs(node, node.originals[0]);
    }
  }
}

std::optional<std::size_t> Network::find(std::string_view name) const {
  const auto found = by_name_.find(std::string(name));
  if (found != by_name_.end()) {
    return found->second;
  }
  if (name.find(kSlice) == std::string_view::npos) {
    return std::nullopt;
  }
  const auto whole = by_name_.find(without_slices(name));
  return whole == by_name_.end() ? std::nullopt : std::optional(whole->second);
}

void Network::forget(std::size_t node) {
  const auto found = by_name_.find(nodes[node].name);
  if (found != by_name_.end() && found->second == node) {
    by_name_.erase(found);
  }
}

std::int64_t Network::last_id() const {
  return run_order.empty() ? 0 : nodes[run_order.back()].id;
}

std::vector<std::string> Network::input_names() const {
  std::vector<std::string> names;
  for (const Node& node : nodes) {
    if (node.type == "Data" && node.left_out != LeftOut::duplicate) {
      names.push_back(node.name);
    }
  }
  return names;
}

std::string shown_target(const Network& network, const Group& group) {
  std::string text;
  for (const std::size_t member : group.members) {
    text += (text.empty() ? "" : ",") + network.nodes[member].name;
  }
  return text;
}

std::string shown_golden(const Network& network, const Group& group) {
  std::vector<std::string> shown;
  for (const std::size_t member : group.members) {
    std::string originals = network.nodes[member].joined_originals();
    if (std::find(shown.begin(), shown.end(), originals) == shown.end()) {
      shown.push_back(std::move(originals));
    }
  }
  const std::string text = join(shown, ",");
  return text.empty() ? "*" : text;
}

std::string without_slices(std::string_view name) {
  std::string text(name);
  std::size_t at = 0;
  while ((at = text.find(kSlice, at)) != std::string::npos) {
    std::size_t end = at + kSlice.size();
    while (end < text.size() && is_digit(text[end])) {
      ++end;
    }
    if (end == at + kSlice.size()) {
      at = end;
      continue;
    }
    text.erase(at, end - at);
  }
  return text;
}

std::string dump_key(std::string_view operator_name) {
  std::string key(operator_name);
  std::replace(key.begin(), key.end(), '/', '_');
  std::replace(key.begin(), key.end(), '.', '_');
  return key;
}

}  // namespace opdrift::match
