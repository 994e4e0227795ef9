#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opdrift/shell/graph/ge_graph.hpp"
#include "opdrift/shell/screen/screen.hpp"
#include "opdrift/shell/workspace/workspace.hpp"

/// Graph dumps of a run: `ge_proto_<number>_<stage>.txt` and their JSON form
/// `ge_proto_<number>_<stage>.txt.json`, anywhere below its graph folder, by number. Of a pair the
/// newer one counts; a text that is empty never does.
namespace opdrift::shell {

/// One graph file of a run.
struct GraphFile {
  std::string path;
  std::uint64_t number = 0;
};

/// Files of the stage below `folder`, one per number and folder.
std::vector<GraphFile> find_graph_files(const std::string& folder, std::string_view stage);

/// An operator and the graph it stands in.
struct FoundNode {
  const GeGraph* file = nullptr;
  const Node* node = nullptr;

  const SubGraph& graph() const { return file->graphs[node->graph]; }
};

/// Graphs of the runs, read when first asked for and again when a file changed.
class GraphStore {
 public:
  /// Graphs of run `id`; files that cannot be read are warned about.
  const std::vector<GeGraph>& of(int id, const Workspace& workspace, std::string_view stage,
                                 Screen& screen);

 private:
  struct Loaded {
    std::string state;  // paths and times of the files that were read
    std::vector<GeGraph> graphs;
  };
  std::map<int, Loaded> loaded_;
};

/// Operators of that exact name, in all sub-graphs or those of the name `graph`.
std::vector<FoundNode> find_nodes(const std::vector<GeGraph>& graphs, std::string_view name,
                                  std::string_view graph);

/// Every operator whose name contains `part`, or equals it with "/" read as "_".
std::vector<FoundNode> possible_nodes(const std::vector<GeGraph>& graphs, std::string_view part);

/// Who takes each output of `node`, by output number.
std::vector<std::vector<const Node*>> consumers_of(const FoundNode& found);

/// The operator of that name in the same sub-graph; nullptr when there is none.
const Node* node_in(const GeGraph& file, std::size_t graph, std::string_view name);

}  // namespace opdrift::shell
