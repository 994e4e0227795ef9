#pragma once

#include <optional>
#include <string>

#include "opdrift/base/result.hpp"
#include "opdrift/diagnose/evidence/edges.hpp"
#include "opdrift/graph/atc_options.hpp"

namespace opdrift::diagnose::evidence {

/// The graph of a run and what built it.
struct GraphSource {
  Edges edges;
  graph::AtcOptions options;
};

/// A compiled model, attributes included. Fails as its reader does.
Result<GraphSource> read_graph_source(const std::string& path);

/// The graph of a dump of opdrift's own, out of its manifest; empty for other dumps.
Edges manifest_edges(const std::string& folder);

}  // namespace opdrift::diagnose::evidence
