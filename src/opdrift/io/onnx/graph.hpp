#pragma once

#include <string>
#include <vector>

#include "opdrift/graph/graph.hpp"
#include "opdrift/io/onnx/model.hpp"

namespace opdrift::io::onnx {

/// Names under which the nodes of a graph are dumped and reported, one per node, in order: their
/// own, or for a nameless node `<op_type>_<position>`, and where that is taken already
/// `<op_type>_<position>_<n>` with the first free n from 999 on. Names given twice in the file stay
/// as they are.
std::vector<std::string> node_names(const Graph& graph);

/// The operators of the main graph in file order, named by node_names. Tensors made by no node
/// (inputs, initialisers) have an empty producer; absent inputs have neither producer nor tensor.
/// Types and shapes come from the value infos in the file. Bodies of If, Loop and Scan are named in
/// `subgraphs` and not entered. Tensor attributes above 65,536 elements and those that cannot be
/// read are of kind `other`.
graph::Graph to_graph(const Model& model);

}  // namespace opdrift::io::onnx
