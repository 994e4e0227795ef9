#include "opdrift/match/plan.hpp"

#include <algorithm>

namespace opdrift::match {

namespace {

using DumpOf = std::function<DumpPresence(std::size_t)>;

bool is_inner_node(const Node& node) {
  return node.multi_op &&
         std::all_of(node.outputs.begin(), node.outputs.end(),
                     [](const Description& output) { return output.origin_name.empty(); });
}

Step step_to_many(const Node& node, bool has_dump) {
  if (!has_dump) {
    return Step::no_dump;
  }
  return is_inner_node(node) ? Step::inner_node : Step::compare;
}

std::vector<PlannedNode> plan_l1_fusion(const Network& network, const Group& group,
                                        const DumpOf& dump_of) {
  const std::size_t none = network.nodes.size();
  std::size_t oldest = none;
  std::size_t youngest = none;
  for (const std::size_t member : group.members) {
    const DumpPresence dump = dump_of(member);
    if (!dump.present || network.nodes[member].left_out != LeftOut::no) {
      continue;
    }
    if (oldest == none || dump.time < dump_of(oldest).time) {
      oldest = member;
    }
    if (youngest == none || dump.time >= dump_of(youngest).time) {
      youngest = member;
    }
  }
  std::vector<PlannedNode> plan;
  for (const std::size_t member : group.members) {
    if (member != oldest && member != youngest) {
      plan.push_back({member, dump_of(member).present ? Step::not_needed : Step::no_dump});
    }
  }
  if (oldest != youngest) {
    const bool other = network.nodes[oldest].originals != network.nodes[youngest].originals;
    plan.push_back({oldest, other ? Step::compare : Step::not_needed});
  }
  if (youngest != none) {
    plan.push_back({youngest, Step::compare});
  }
  return plan;
}

}  // namespace

std::vector<PlannedNode> plan_group(const Network& network, const Group& group,
                                    const DumpOf& dump_of) {
  if (group.relation == Relation::l1_fusion) {
    return plan_l1_fusion(network, group, dump_of);
  }
  std::vector<PlannedNode> plan;
  for (const std::size_t member : group.members) {
    const Node& node = network.nodes[member];
    if (node.left_out != LeftOut::no) {
      plan.push_back({member, Step::left_out});
    } else if (group.shared()) {
      plan.push_back({member, step_to_many(node, dump_of(member).present)});
    } else {
      plan.push_back({member, Step::compare});
    }
  }
  return plan;
}

std::string explain(const Network& network, const PlannedNode& planned) {
  const Node& node = network.nodes[planned.node];
  const std::string name = "[" + node.name + "] ";
  switch (planned.step) {
    case Step::compare: return "";
    case Step::no_dump: return name + "no target dump file (type " + node.type + ")";
    case Step::inner_node: return name + "inner node of a fusion, nothing to compare with";
    case Step::not_needed: return name + "another operator of its L1 fusion is compared";
    case Step::left_out: return name + to_string(node.left_out);
  }
  return "";
}

std::vector<PlannedTensor> plan_tensors(const Network& network, std::size_t node,
                                        std::size_t inputs, std::size_t outputs) {
  std::vector<PlannedTensor> tensors;
  const Node& op = network.nodes[node];
  if (!is_dequantiser(op)) {
    for (std::uint32_t i = 0; i < inputs; ++i) {
      tensors.push_back({false, i, golden_of_input(network, node, i)});
    }
  }
  if (!is_quantiser(op)) {
    for (std::uint32_t i = 0; i < outputs; ++i) {
      tensors.push_back({true, i, golden_of_output(network, node, i)});
    }
  }
  return tensors;
}

}  // namespace opdrift::match
