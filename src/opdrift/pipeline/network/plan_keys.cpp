#include <optional>
#include <utility>

#include "opdrift/base/text.hpp"
#include "opdrift/match/golden.hpp"
#include "opdrift/match/key_match.hpp"
#include "opdrift/pipeline/network/plan.hpp"

namespace opdrift::pipeline {

namespace {

using io::FileTensor;
using io::TensorRole;

std::vector<match::KeyedDump> keyed(const DumpSide& side) {
  std::vector<match::KeyedDump> dumps;
  for (std::size_t i = 0; i < side.folder().entries.size(); ++i) {
    dumps.push_back({side.folder().entries[i].op_key, side.time_of(i)});
  }
  return dumps;
}

std::vector<tensor::Shape> shapes_of(const OpenedDump& opened, TensorRole role) {
  std::vector<tensor::Shape> shapes;
  for (const FileTensor* file_tensor : opened.dump.of(role)) {
    shapes.push_back(file_tensor->desc.shape);
  }
  return shapes;
}

class KeyPlanner {
 public:
  KeyPlanner(const DumpSide& target, const DumpSide& golden) : target_(target), golden_(golden) {}

  NetworkPlan plan(const match::KeyPair& pair, std::size_t index) const;

 private:
  struct Both {
    const OpenedDump& target;
    const OpenedDump& golden;
  };

  NetworkRow whole_row(const match::KeyPair& pair, std::size_t index) const;
  NetworkPlan one_sided(const match::KeyPair& pair, std::size_t index) const;
  NetworkPlan unreadable(const match::KeyPair& pair, std::size_t index, const std::string& side,
                         const Error& error) const;
  void plan_half(const match::KeyPair& pair, std::size_t index, const Both& both, bool output,
                 NetworkPlan& plan) const;
  void note_half(std::size_t entry, const OpenedDump& opened, bool output,
                 const std::string& reason, NetworkPlan& plan) const;

  const DumpSide& target_;
  const DumpSide& golden_;
};

NetworkRow KeyPlanner::whole_row(const match::KeyPair& pair, std::size_t index) const {
  NetworkRow row;
  row.index = index;
  row.whole_operator = true;
  row.target_names = pair.target ? target_.folder().entries[*pair.target].op_key : "*";
  row.golden_names = pair.golden ? golden_.folder().entries[*pair.golden].op_key : "*";
  row.operator_name = pair.target ? row.target_names : row.golden_names;
  return row;
}

NetworkPlan KeyPlanner::one_sided(const match::KeyPair& pair, std::size_t index) const {
  NetworkPlan plan;
  NetworkRow row = whole_row(pair, index);
  row.state = RowState::unmatched;
  row.reason = "[" + row.operator_name + "] no " + (pair.target ? "golden" : "target") +
               " dump file for this operator";
  plan.failures.push_back({row.operator_name, index, Error{ErrorCode::not_found, row.reason}});
  if (pair.target) {
    plan.used_targets.push_back(*pair.target);
    plan.uncompared.push_back({*pair.target, "", row.reason});
  }
  plan.rows.push_back(std::move(row));
  return plan;
}

NetworkPlan KeyPlanner::unreadable(const match::KeyPair& pair, std::size_t index,
                                   const std::string& side, const Error& error) const {
  NetworkPlan plan;
  NetworkRow row = whole_row(pair, index);
  row.state = RowState::unreadable;
  row.reason = "[" + row.operator_name + "] " + side + " dump cannot be read: " + error.to_string();
  plan.failures.push_back({row.operator_name, index, error});
  plan.used_targets.push_back(*pair.target);
  plan.uncompared.push_back({*pair.target, "", row.reason});
  plan.rows.push_back(std::move(row));
  return plan;
}

void KeyPlanner::note_half(std::size_t entry, const OpenedDump& opened, bool output,
                           const std::string& reason, NetworkPlan& plan) const {
  const std::string& key = target_.folder().entries[entry].op_key;
  for (const FileTensor* file_tensor :
       opened.dump.of(output ? TensorRole::output : TensorRole::input)) {
    plan.uncompared.push_back(
        {entry, key + (output ? ":output:" : ":input:") + std::to_string(file_tensor->index),
         reason});
  }
}

void KeyPlanner::plan_half(const match::KeyPair& pair, std::size_t index, const Both& both,
                           bool output, NetworkPlan& plan) const {
  const TensorRole role = output ? TensorRole::output : TensorRole::input;
  const std::vector<const FileTensor*> targets = both.target.dump.of(role);
  const std::vector<const FileTensor*> goldens = both.golden.dump.of(role);
  plan.reserve(plan.rows.size() + targets.size());
  for (std::uint32_t i = 0; i < targets.size(); ++i) {
    NetworkRow row = whole_row(pair, index);
    row.whole_operator = false;
    row.operator_type = target_.type_of(*pair.target);
    row.output = output;
    row.tensor = i;
    row.rule = match::to_string(match::PairRule::same_key);
    row.golden_tensor = row.golden_names + (output ? ":" : ":input:") + std::to_string(i);
    row.target = {both.target.dump.path, targets[i]->desc, true};
    row.golden = {both.golden.dump.path, goldens[i]->desc, true};
    row.compared_shape = targets[i]->desc.shape;
    if (!both.target.complete || !both.golden.complete) {
      row.reason = "[" + row.operator_name + "] the number of slice files differs from the slices";
    }
    RowJob job;
    job.row = plan.rows.size();
    job.target_entry = *pair.target;
    job.golden_entry = *pair.golden;
    job.golden_tensor = i;
    job.golden_output = output;
    plan.jobs.push_back(std::move(job));
    plan.rows.push_back(std::move(row));
  }
}

NetworkPlan KeyPlanner::plan(const match::KeyPair& pair, std::size_t index) const {
  if (!pair.target || !pair.golden) {
    return one_sided(pair, index);
  }
  const auto target = target_.open(*pair.target);
  if (!target.has_value()) {
    return unreadable(pair, index, "target", target.error());
  }
  const auto golden = golden_.open(*pair.golden);
  if (!golden.has_value()) {
    return unreadable(pair, index, "golden", golden.error());
  }
  NetworkPlan plan;
  plan.used_targets.push_back(*pair.target);
  plan.compared_operators = 1;
  const Both both{**target, **golden};
  const std::string& name = target_.folder().entries[*pair.target].op_key;
  std::string reasons;
  for (const bool output : {false, true}) {
    const TensorRole role = output ? TensorRole::output : TensorRole::input;
    const match::HalfMatch half =
        match::match_half(name, output ? "output" : "input", shapes_of(both.target, role),
                          shapes_of(both.golden, role));
    if (half.problem == match::HalfProblem::none) {
      plan_half(pair, index, both, output, plan);
      continue;
    }
    reasons += (reasons.empty() ? "" : ",") + half.reason;
    note_half(*pair.target, both.target, output, half.reason, plan);
  }
  if (plan.rows.empty()) {
    NetworkRow row = whole_row(pair, index);
    row.state = RowState::misfit;
    row.halves_failed = true;
    row.reason = reasons;
    plan.failures.push_back({name, index, Error{ErrorCode::malformed, reasons}});
    plan.rows.push_back(std::move(row));
  }
  return plan;
}

}  // namespace

NetworkPlan plan_by_key(const DumpSide& target, const DumpSide& golden,
                        const PlanOptions& options) {
  const std::vector<match::KeyPair> pairs = match::pair_by_key(keyed(target), keyed(golden));
  const KeyPlanner planner(target, golden);
  std::vector<NetworkPlan> parts(pairs.size());
  parallel_for(
      pairs.size(), options.jobs, [&](std::size_t i) { parts[i] = planner.plan(pairs[i], i); },
      options.cancel);
  NetworkPlan plan;
  std::size_t rows = 0;
  for (const NetworkPlan& part : parts) {
    rows += part.rows.size();
  }
  plan.reserve(rows);
  for (NetworkPlan& part : parts) {
    plan.append(std::move(part));
  }
  plan.interrupted = options.cancel != nullptr && options.cancel->cancelled();
  return plan;
}

}  // namespace opdrift::pipeline
