#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "opdrift/diagnose/offline/analyser.hpp"
#include "opdrift/diagnose/offline/result_table.hpp"
#include "opdrift/graph/graph.hpp"

/// What fusion did to the operators of a result table, out of the graph of the fused model (its
/// operators' `pass_name` and `pass_name_ub`, read with attributes).
namespace opdrift::diagnose {

/// Names of compiler passes, ascending.
struct FusionPasses {
  std::set<std::string> graph;   ///< `pass_name`
  std::set<std::string> buffer;  ///< `pass_name_ub`

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

/// fusion_switch.cfg that turns off these passes only:
///
///   {"Switch": {"GraphFusion": {"<pass>": "off", ...}, "UBFusion": {...}}}
///
/// A part without passes is left out.
std::string fusion_switch_text(const FusionPasses& off);

}  // namespace opdrift::diagnose
