#include "opdrift/match/merge.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace opdrift::match {

namespace {

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    names.push_back(name);
  }
}

std::vector<std::string> quantised_originals(const Node& node, const Network& quantised) {
  std::vector<std::string> originals;
  bool known = false;
  for (const std::string& original : node.originals) {
    const auto found = quantised.find(original);
    if (!found) {
      continue;
    }
    known = true;
    for (const std::size_t member : quantised.groups[quantised.nodes[*found].group].members) {
      for (const std::string& name : quantised.nodes[member].originals) {
        add_once(originals, name);
      }
    }
  }
  return known ? originals : node.originals;
}

Description quantised_output(const Description& output, const Node& op) {
  Description merged;
  const std::size_t index = static_cast<std::size_t>(output.origin_index.value_or(0));
  if (index < op.outputs.size()) {
    merged = op.outputs[index];
  }
  merged.dtype = output.dtype;
  if (!output.format.empty()) {
    merged.format = output.format;
    merged.shape = output.shape;
  }
  return merged;
}

using OperatorByOriginal = std::unordered_map<std::string, std::size_t>;

OperatorByOriginal operators_by_original(const Network& unfused) {
  OperatorByOriginal by_original;
  for (const std::size_t position : unfused.run_order) {
    for (const std::string& original : unfused.nodes[position].originals) {
      if (!original.empty()) {
        by_original[original] = position;
      }
    }
  }
  return by_original;
}

void translate_output(Description& output, const Network& unfused,
                      const OperatorByOriginal& by_original) {
  const auto found = by_original.find(output.origin_name);
  if (found == by_original.end()) {
    return;
  }
  const Node& op = unfused.nodes[found->second];
  for (std::size_t i = 0; i < op.outputs.size() && output.origin_index; ++i) {
    if (op.outputs[i].origin_name == output.origin_name &&
        op.outputs[i].origin_index.value_or(static_cast<int>(i)) == *output.origin_index) {
      output.origin_index = static_cast<int>(i);
      break;
    }
  }
  output.origin_name = op.name;
}

/// The order of the walk is part of the rule: groups from last to first.
void leave_out_later_ones(Network& network, const Network& unfused,
                          const OperatorByOriginal& by_original) {
  std::unordered_set<std::string> met;
  for (auto group = network.groups.rbegin(); group != network.groups.rend(); ++group) {
    for (const std::size_t member : group->members) {
      Node& node = network.nodes[member];
      const std::string first = node.originals.empty() ? std::string() : node.originals.front();
      const auto found = by_original.find(first);
      const std::string leads_to =
          found == by_original.end() ? first : unfused.nodes[found->second].name;
      if (met.contains(first) || met.contains(leads_to)) {
        node.left_out = node.left_out == LeftOut::no ? LeftOut::merged : node.left_out;
        network.forget(member);
      }
      met.insert(first);
      met.insert(leads_to);
    }
    std::erase_if(group->members, [&network](std::size_t member) {
      return network.nodes[member].left_out == LeftOut::merged;
    });
  }
  network.judge_relations();
}

}  // namespace

Network merge_quantised(const Network& target, const Network& quantised) {
  std::vector<Node> nodes = target.nodes;
  for (Node& node : nodes) {
    node.originals = quantised_originals(node, quantised);
    node.l1_group.clear();
    if (node.left_out == LeftOut::duplicate) {
      node.left_out = LeftOut::no;
    }
    std::vector<Description> outputs;
    bool known = false;
    for (const Description& output : node.outputs) {
      const auto found = quantised.find(output.origin_name);
      if (found) {
        known = true;
        outputs.push_back(quantised_output(output, quantised.nodes[*found]));
      }
    }
    if (known) {
      node.outputs = std::move(outputs);
    }
  }
  return Network::regroup(std::move(nodes));
}

CloseFusionMerge merge_close_fusion(const Network& target, const Network& unfused,
                                    bool keep_first_only) {
  CloseFusionMerge merge;
  merge.network = target;
  const OperatorByOriginal by_original = operators_by_original(unfused);
  if (keep_first_only) {
    leave_out_later_ones(merge.network, unfused, by_original);
  }
  for (Node& node : merge.network.nodes) {
    std::vector<std::string> originals;
    for (const std::string& original : node.originals) {
      const auto found = by_original.find(original);
      if (found != by_original.end()) {
        add_once(originals, unfused.nodes[found->second].name);
      } else if (!original.empty()) {
        merge.warnings.push_back("no operator of the unfused graph came from \"" + original + "\"");
      }
    }
    node.originals = std::move(originals);
    for (Description& output : node.outputs) {
      translate_output(output, unfused, by_original);
    }
  }
  return merge;
}

}  // namespace opdrift::match
