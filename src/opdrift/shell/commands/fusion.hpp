#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/shell/session.hpp"

/// fusion_result.json: which fusion passes took effect.
///
///   file  = "[" graph ("," graph)* "]" | graph+        objects may stand one behind the other
///   graph = { "graphId" | "session_and_graph_id": text, "graph_fusion": passes,
///             "ub_fusion": passes } | { "session_and_graph_id_...": graph, ... }
///   passes = { name: { "effect_times": number, ... }, ... }
namespace opdrift::shell {

struct FusionPass {
  std::string name;
  std::string effect_times;
};

/// Passes of one graph that took effect.
struct FusionGraph {
  std::string id = "NONE";
  std::vector<FusionPass> graph_fusion;
  std::vector<FusionPass> ub_fusion;
};

/// Fails with bad_json.
Result<std::vector<FusionGraph>> parse_fusion(std::string_view text);

/// The passes in the file of the workspace, or in that of the current folder, which is copied
/// there. Fails with not_found when there is neither, and as parse_fusion does.
Result<std::vector<FusionGraph>> read_fusion(const Session& session);

/// Shows the file of the workspace, or that of the current folder, which is copied there.
Status show_fusion(Session& session);

}  // namespace opdrift::shell
