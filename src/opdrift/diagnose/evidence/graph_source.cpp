#include "opdrift/diagnose/evidence/graph_source.hpp"

#include "opdrift/graph/atc_json.hpp"

namespace opdrift::diagnose::evidence {

Result<GraphSource> read_graph_source(const std::string& path) {
  graph::AtcJsonOptions options;
  options.attributes = true;
  OPDRIFT_TRY(graph::Graph graph, graph::read_atc_json(path, options));
  GraphSource source;
  const auto command = graph.attributes.find("atc_cmdline");
  if (command != graph.attributes.end() && !command->second.texts.empty()) {
    source.options = graph::parse_atc_command(command->second.texts.front());
  }
  source.edges = Edges(std::move(graph));
  return source;
}

Edges manifest_edges(const std::string& folder) {
  auto graph = read_manifest_graph(folder);
  return graph ? Edges(std::move(*graph)) : Edges();
}

}  // namespace opdrift::diagnose::evidence
