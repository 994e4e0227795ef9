#include "opdrift/diagnose/evidence/graph_source.hpp"

#include "opdrift/graph/model_facts.hpp"
#include "opdrift/io/model_file.hpp"

namespace opdrift::diagnose::evidence {

Result<GraphSource> read_graph_source(const std::string& path) {
  graph::GraphFileOptions options;
  options.attributes = true;
  OPDRIFT_TRY(graph::Graph graph, io::read_graph_file(path, options));
  GraphSource source;
  source.options = graph::build_options(graph);
  source.edges = Edges(std::move(graph));
  return source;
}

Edges manifest_edges(const std::string& folder) {
  auto graph = read_manifest_graph(folder);
  return graph ? Edges(std::move(*graph)) : Edges();
}

}  // namespace opdrift::diagnose::evidence
