#include "opdrift/diagnose/offline/fusion_passes.hpp"

#include <cmath>

#include "opdrift/base/text.hpp"
#include "opdrift/graph/model_facts.hpp"

namespace opdrift::diagnose {

namespace {

constexpr std::string_view kNoMatch = "Fusion node not match";

std::set<std::string> set_of(const std::vector<std::string>& names) {
  std::set<std::string> all(names.begin(), names.end());
  all.erase("");
  return all;
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
  return {set_of(graph::fusion_passes(op)), set_of(graph::ub_fusion_passes(op))};
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

fixes::FusionSwitch switched_off(const FusionPasses& passes) {
  fixes::FusionSwitch off;
  for (const std::string& pass : passes.graph) {
    off.graph.emplace_back(pass, false);
  }
  for (const std::string& pass : passes.buffer) {
    off.ub.emplace_back(pass, false);
  }
  return off;
}

}  // namespace opdrift::diagnose
