#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "opdrift/shell/graph/graph_store.hpp"

/// The surroundings of an operator, as text for Graphviz and as a drawing.
///
///   dot   record labels {{ inputs } | [type] name | { outputs }}, a port per tensor:
///         <i0> [0] [dtype]\nshape; edges "a":o0 -> "b":i0; the root is red
///   svg   one box per operator, layers from top to bottom by the longest way from a source, order
///         within a layer by the mean place of the neighbours
///
/// Where the lowest cosine of an operator's outputs is known, its box is filled: green above the
/// limit of 0.98, else red.
namespace opdrift::shell {

/// A data edge between two drawn operators.
struct DrawnEdge {
  std::size_t from = 0;  ///< position in Neighbourhood::nodes
  std::size_t output = 0;
  std::size_t to = 0;
  std::size_t input = 0;
};

struct Neighbourhood {
  std::vector<const Node*> nodes;  ///< the root first
  std::vector<DrawnEdge> edges;
};

/// Operators within `depth` steps in both directions, at most `most`; ways do not lead through
/// operators of type AtomicAddrClean or NetOutput.
Neighbourhood neighbourhood_of(const FoundNode& root, std::size_t depth, std::size_t most = 2000);

/// Lowest cosine by operator name.
using Verdicts = std::map<std::string, double>;

std::string dot_text(const Neighbourhood& part, const Verdicts& verdicts);
std::string svg_text(const Neighbourhood& part, const Verdicts& verdicts);

}  // namespace opdrift::shell
