#include "opdrift/diagnose/offline/fusion_passes.hpp"

#include <cmath>

#include <nlohmann/json.hpp>

#include "opdrift/base/text.hpp"

namespace opdrift::diagnose {

namespace {

constexpr std::string_view kNoMatch = "Fusion node not match";

std::set<std::string> names_in(const graph::Operator& op, const std::string& key) {
  std::set<std::string> names;
  if (const auto found = op.attributes.find(key); found != op.attributes.end()) {
    for (const std::string& name : found->second.texts) {
      if (!name.empty()) {
        names.insert(name);
      }
    }
  }
  return names;
}

nlohmann::ordered_json all_off(const std::set<std::string>& passes) {
  nlohmann::ordered_json part = nlohmann::ordered_json::object();
  for (const std::string& pass : passes) {
    part[pass] = "off";
  }
  return part;
}

}  // namespace

void FusionPasses::add(const FusionPasses& other) {
  graph.insert(other.graph.begin(), other.graph.end());
  buffer.insert(other.buffer.begin(), other.buffer.end());
}

std::string FusionPasses::text() const {
  std::set<std::string> all = graph;
  all.insert(buffer.begin(), buffer.end());
  return join({all.begin(), all.end()}, ";");
}

FusionPasses passes_of(const graph::Operator& op) {
  return {names_in(op, "pass_name"), names_in(op, "pass_name_ub")};
}

PassIndex::PassIndex(const graph::Graph& graph) {
  for (const graph::Operator& op : graph.operators) {
    by_name_.emplace(op.name, passes_of(op));
  }
}

FusionPasses PassIndex::find(const std::string& target) const {
  FusionPasses passes;
  for (const std::string_view name : split(target, ',')) {
    const auto found = by_name_.find(std::string(trim(name)));
    if (found != by_name_.end()) {
      passes.add(found->second);
    }
  }
  return passes;
}

ResultTable fusion_report(const ResultTable& result, const PassIndex& passes, bool all) {
  const ResultRows rows(result);
  ResultTable table{result.header, {}};
  table.header.insert(table.header.end(), {"PassName", "MatchError"});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const FusionPasses found = passes.find(rows.cell(i, "NPUDump"));
    if (rows.cell(i, "TensorIndex").find("output") == std::string::npos ||
        (!all && found.empty())) {
      continue;
    }
    std::vector<std::string> row = result.rows[i];
    row.push_back(found.text());
    row.emplace_back(std::isnan(rows.number(i, "CosineSimilarity")) ? kNoMatch : "");
    table.rows.push_back(std::move(row));
  }
  return table;
}

FusionPasses suspected_passes(const std::vector<Alarm>& alarms, const PassIndex& passes) {
  FusionPasses suspected;
  for (const Alarm& alarm : alarms) {
    suspected.add(passes.find(alarm.target));
  }
  return suspected;
}

std::string fusion_switch_text(const FusionPasses& off) {
  nlohmann::ordered_json parts = nlohmann::ordered_json::object();
  if (!off.graph.empty()) {
    parts["GraphFusion"] = all_off(off.graph);
  }
  if (!off.buffer.empty()) {
    parts["UBFusion"] = all_off(off.buffer);
  }
  nlohmann::ordered_json file;
  file["Switch"] = std::move(parts);
  return file.dump(2) + "\n";
}

}  // namespace opdrift::diagnose
