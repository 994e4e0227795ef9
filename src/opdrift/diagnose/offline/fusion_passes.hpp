#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "opdrift/diagnose/fixes/fusion_switch.hpp"
#include "opdrift/diagnose/offline/analyser.hpp"
#include "opdrift/diagnose/offline/result_table.hpp"
#include "opdrift/graph/graph.hpp"

/// What fusion did to the operators of a result table, out of the graph of the fused model, read
/// with attributes (graph/model_facts.hpp: fusion_passes, ub_fusion_passes).
namespace opdrift::diagnose {

/// Names of compiler passes, ascending.
struct FusionPasses {
  std::set<std::string> graph;   ///< graph fusion
  std::set<std::string> buffer;  ///< fusion in the unified buffer

  bool empty() const { return graph.empty() && buffer.empty(); }
  void add(const FusionPasses& other);
  /// All names, ascending, joined by ";".
  std::string text() const;
};

FusionPasses passes_of(const graph::Operator& op);

/// Passes by the name of the operator; of operators of one name the first counts.
class PassIndex {
 public:
  explicit PassIndex(const graph::Graph& graph);
  /// Of the operators in a NPUDump cell, which may hold several names separated by commas.
  FusionPasses find(const std::string& target) const;

 private:
  std::unordered_map<std::string, FusionPasses> by_name_;
};

/// The rows of a "fusion on" against "fusion off" comparison that tell about fusion: those whose
/// TensorIndex has "output" in it, with two columns more.
///
///   PassName    the operator's passes
///   MatchError  "Fusion node not match" where the cosine is NaN
///
/// `all` keeps operators without a pass as well.
ResultTable fusion_report(const ResultTable& result, const PassIndex& passes, bool all);

/// The passes of the operators in `alarms`.
FusionPasses suspected_passes(const std::vector<Alarm>& alarms, const PassIndex& passes);

/// A switch that turns off these passes only.
fixes::FusionSwitch switched_off(const FusionPasses& passes);

}  // namespace opdrift::diagnose
