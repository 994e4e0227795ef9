#include "opdrift/pipeline/network/plan.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "opdrift/base/text.hpp"
#include "opdrift/match/golden.hpp"
#include "opdrift/match/plan.hpp"

namespace opdrift::pipeline {

namespace {

using io::FileTensor;
using io::TensorRole;

/// What one operator adds to the plan; positions of rows count from its own first row.
struct Part {
  NetworkPlan plan;
  bool sliced = false;
};

NetworkRow named_row(const match::Network& network, const match::Group& group,
                     std::size_t group_index) {
  NetworkRow row;
  row.index = group_index;
  row.target_names = match::shown_target(network, group);
  row.golden_names = match::shown_golden(network, group);
  return row;
}

class GraphPlanner {
 public:
  GraphPlanner(const match::Network& network, const DumpSide& target, const DumpSide& golden,
               const PlanOptions& options)
      : network_(network), target_(target), golden_(golden), options_(options) {
    for (const match::Node& node : network.nodes) {
      entries_.push_back(target.find(target.key_of(node.name, 0)));
    }
  }

  NetworkPlan run();

 private:
  /// Rows of one group.
  void plan_group(std::size_t group, Part& out);
  void plan_node(const NetworkRow& names, std::size_t node, bool shared,
                 std::vector<std::string>& reasons, Part& out);
  void plan_tensor(const NetworkRow& names, std::size_t node, const OpenedDump& opened,
                   const match::PlannedTensor& tensor, Part& out);
  void find_golden(const match::GoldenRef& ref, NetworkRow& row) const;
  void note_uncompared(std::size_t node, const OpenedDump& opened, Part& out);
  void whole_row(const NetworkRow& names, std::size_t node, const std::string& reason, bool lost,
                 RowState state, Part& out);
  void link_slices(const std::vector<Part>& parts, NetworkPlan& plan);

  const match::Network& network_;
  const DumpSide& target_;
  const DumpSide& golden_;
  const PlanOptions& options_;
  std::vector<std::optional<std::size_t>> entries_;  ///< target entry of every node
};

NetworkPlan GraphPlanner::run() {
  std::vector<Part> parts(network_.groups.size());
  parallel_for(
      parts.size(), options_.jobs,
      [&](std::size_t group) {
        if (options_.groups.empty() || options_.groups[group]) {
          plan_group(group, parts[group]);
        }
      },
      options_.cancel);
  NetworkPlan plan;
  std::size_t rows = 0;
  for (const Part& part : parts) {
    rows += part.plan.rows.size();
  }
  plan.reserve(rows);
  for (Part& part : parts) {
    plan.append(std::move(part.plan));
    part.plan = NetworkPlan();
  }
  plan.interrupted = options_.cancel != nullptr && options_.cancel->cancelled();
  link_slices(parts, plan);
  return plan;
}

void GraphPlanner::whole_row(const NetworkRow& names, std::size_t node, const std::string& reason,
                             bool lost, RowState state, Part& out) {
  NetworkRow row = names;
  row.whole_operator = true;
  row.operator_name = network_.nodes[node].name;
  row.operator_type = network_.nodes[node].type;
  row.reason = reason;
  row.reason_lost_by_reference = lost;
  row.state = state;
  if (options_.sequence) {
    row.sequence = network_.nodes[node].id;
  }
  out.plan.rows.push_back(std::move(row));
}

void GraphPlanner::plan_group(std::size_t group_index, Part& out) {
  const match::Group& group = network_.groups[group_index];
  if (group.members.empty()) {
    return;
  }
  const NetworkRow names = named_row(network_, group, group_index);
  const std::vector<match::PlannedNode> planned =
      match::plan_group(network_, group, [this](std::size_t node) {
        const std::optional<std::size_t> entry = entries_[node];
        return entry ? match::DumpPresence{true, target_.time_of(*entry)} : match::DumpPresence{};
      });
  std::vector<std::string> reasons;
  bool compared = false;
  bool wanted = false;
  for (const match::PlannedNode& member : planned) {
    const match::Node& node = network_.nodes[member.node];
    if (member.step == match::Step::compare) {
      const std::size_t before = out.plan.rows.size();
      plan_node(names, member.node, group.shared(), reasons, out);
      compared = compared || out.plan.rows.size() > before;
    } else if (member.step == match::Step::no_dump) {
      out.plan.failures.push_back(
          {node.name, group_index, Error{ErrorCode::not_found, match::explain(network_, member)}});
    }
    if (member.step != match::Step::compare && member.step != match::Step::left_out) {
      reasons.push_back(match::explain(network_, member));
    }
    wanted = wanted || member.step != match::Step::left_out;
    if (member.step != match::Step::compare && entries_[member.node]) {
      out.plan.used_targets.push_back(*entries_[member.node]);
      out.plan.uncompared.push_back({*entries_[member.node], "", match::explain(network_, member)});
    }
  }
  if (!compared && wanted) {
    whole_row(names, group.members.front(), join(reasons, ","), false, RowState::unmatched, out);
  }
}

void GraphPlanner::plan_node(const NetworkRow& names, std::size_t node, bool shared,
                             std::vector<std::string>& reasons, Part& out) {
  const match::Node& op = network_.nodes[node];
  const std::optional<std::size_t> entry = entries_[node];
  if (!entry) {
    const std::string reason =
        match::explain(network_, match::PlannedNode{node, match::Step::no_dump});
    out.plan.failures.push_back({op.name, names.index, Error{ErrorCode::not_found, reason}});
    whole_row(names, node, reason, false, RowState::unmatched, out);
    return;
  }
  out.plan.used_targets.push_back(*entry);
  const auto opened = target_.open(*entry);
  if (!opened.has_value()) {
    const std::string reason =
        "[" + op.name + "] target dump cannot be read: " + opened.error().to_string();
    out.plan.failures.push_back({op.name, names.index, opened.error()});
    out.plan.uncompared.push_back({*entry, "", reason});
    if (shared) {
      reasons.push_back(reason);
    } else {
      whole_row(names, node, reason, false, RowState::unreadable, out);
    }
    return;
  }
  ++out.plan.compared_operators;
  const OpenedDump& dump = **opened;
  const std::size_t before = out.plan.rows.size();
  const auto tensors = match::plan_tensors(network_, node, dump.dump.of(TensorRole::input).size(),
                                           dump.dump.of(TensorRole::output).size());
  out.plan.reserve(before + tensors.size());
  for (const match::PlannedTensor& tensor : tensors) {
    plan_tensor(names, node, dump, tensor, out);
  }
  note_uncompared(node, dump, out);
  if (out.plan.rows.size() == before) {
    const bool empty = dump.dump.tensors.empty();
    whole_row(names, node, empty ? "[" + op.name + "] the target dump holds no tensors" : "", empty,
              RowState::unmatched, out);
  }
}

/// Tensors of the dump that have no row.
void GraphPlanner::note_uncompared(std::size_t node, const OpenedDump& opened, Part& out) {
  const match::Node& op = network_.nodes[node];
  for (const FileTensor& tensor : opened.dump.tensors) {
    const std::string label = op.name + ":" + std::string(io::to_string(tensor.role)) + ":" +
                              std::to_string(tensor.index);
    std::string reason;
    if (tensor.role == TensorRole::input && match::is_dequantiser(op)) {
      reason = "inputs of a dequantiser are not compared";
    } else if (tensor.role == TensorRole::output && match::is_quantiser(op)) {
      reason = "outputs of a quantiser are not compared";
    } else if (tensor.role == TensorRole::buffer || tensor.role == TensorRole::space) {
      reason = "not a tensor of the network";
    }
    if (!reason.empty()) {
      out.plan.uncompared.push_back({*entries_[node], label, reason});
    }
  }
}

void GraphPlanner::plan_tensor(const NetworkRow& names, std::size_t node, const OpenedDump& opened,
                               const match::PlannedTensor& tensor, Part& out) {
  const match::Node& op = network_.nodes[node];
  NetworkRow row = names;
  row.operator_name = op.name;
  row.operator_type = op.type;
  row.output = tensor.output;
  row.tensor = tensor.index;
  if (options_.sequence) {
    row.sequence = op.id;
  }
  row.target.path = opened.dump.path;
  row.target.desc =
      opened.dump.of(tensor.output ? TensorRole::output : TensorRole::input)[tensor.index]->desc;
  row.target.known = true;
  row.compared_shape = row.target.desc.shape;
  row.rule = tensor.golden.explain();
  find_golden(tensor.golden, row);
  if (row.state == RowState::planned) {
    RowJob job;
    job.row = out.plan.rows.size();
    job.target_entry = *entries_[node];
    job.golden_entry =
        *golden_.find(golden_.key_of(tensor.golden.origin_name, tensor.golden.origin_index));
    job.golden_tensor = golden_.kind() == io::FolderKind::offline ? tensor.golden.origin_index : 0;
    job.golden_format = tensor.golden.format;
    job.golden_shape = tensor.golden.shape;
    out.plan.jobs.push_back(std::move(job));
  }
  if (opened.sliced) {
    out.sliced = true;
  }
  out.plan.rows.push_back(std::move(row));
}

/// Names the golden of a row, or says why there is none.
void GraphPlanner::find_golden(const match::GoldenRef& ref, NetworkRow& row) const {
  const std::string who = "[" + row.operator_name + "] ";
  if (ref.problem != match::NoGolden::none) {
    row.state = RowState::unmatched;
    row.reason = who + "no golden for " + row.label() + ": " + ref.explain();
    row.reason_lost_by_reference = ref.problem == match::NoGolden::input_past_end;
    return;
  }
  row.golden_tensor = ref.origin_name + ":" + std::to_string(ref.origin_index);
  const std::string key = golden_.key_of(ref.origin_name, ref.origin_index);
  const std::optional<std::size_t> entry = golden_.find(key);
  if (!entry) {
    row.state = RowState::unmatched;
    row.reason = who + "no golden file for " + row.label() + " (looked for " + key + ")";
    return;
  }
  row.golden.path = golden_.path_of(*entry);
}

/// Inputs of sliced operators hold one slice only; their numbers are those of the producer's
/// output, when that was sliced as well.
void GraphPlanner::link_slices(const std::vector<Part>& parts, NetworkPlan& plan) {
  if (std::none_of(parts.begin(), parts.end(), [](const Part& part) { return part.sliced; })) {
    return;
  }
  std::unordered_map<std::string, std::size_t> outputs;
  for (std::size_t i = 0; i < plan.rows.size(); ++i) {
    if (!plan.rows[i].whole_operator && plan.rows[i].output) {
      outputs.emplace(plan.rows[i].label(), i);
    }
  }
  const auto is_sliced = [this](const std::string& name) {
    const auto node = network_.find(name);
    if (!node || !entries_[*node]) {
      return false;
    }
    const auto opened = target_.open(*entries_[*node]);
    return opened.has_value() && (*opened)->sliced;
  };
  std::vector<bool> copied(plan.rows.size(), false);
  for (std::size_t i = 0; i < plan.rows.size(); ++i) {
    const NetworkRow& row = plan.rows[i];
    const auto node = network_.find(row.operator_name);
    if (row.whole_operator || row.output || !node || !is_sliced(row.operator_name) ||
        row.tensor >= network_.nodes[*node].inputs.size()) {
      continue;
    }
    const graph::InputRef& input = network_.nodes[*node].inputs[row.tensor];
    const auto from = outputs.find(match::without_slices(input.producer) +
                                   ":output:" + std::to_string(input.index));
    if (input.well_formed && from != outputs.end() && is_sliced(input.producer)) {
      plan.copies.push_back({i, from->second});
      copied[i] = true;
    }
  }
  std::erase_if(plan.jobs, [&copied](const RowJob& job) { return copied[job.row]; });
}

}  // namespace

void NetworkPlan::reserve(std::size_t count) {
  rows.reserve(count);
  jobs.reserve(count);
}

void NetworkPlan::append(NetworkPlan&& part) {
  const std::size_t first = rows.size();
  const auto move_to = [](auto& to, auto& from) {
    std::move(from.begin(), from.end(), std::back_inserter(to));
  };
  for (RowJob& job : part.jobs) {
    job.row += first;
  }
  move_to(rows, part.rows);
  move_to(jobs, part.jobs);
  move_to(failures, part.failures);
  move_to(uncompared, part.uncompared);
  move_to(used_targets, part.used_targets);
  move_to(warnings, part.warnings);
  compared_operators += part.compared_operators;
}

NetworkPlan plan_by_graph(const match::Network& network, const DumpSide& target,
                          const DumpSide& golden, const PlanOptions& options) {
  return GraphPlanner(network, target, golden, options).run();
}

}  // namespace opdrift::pipeline
