#pragma once

#include "opdrift/shell/graph/graph_store.hpp"
#include "opdrift/shell/screen/blocks.hpp"

/// What the graph says about an operator:
///
///   Op(Type/Name): [Add] a/b
///   ID: ...   KernelName: ...   KernelLibName: ...   GraphName: ...
///   [PassName: ...]   [OriginalOp: [...]]
///   Input: ...
///    -[0][DT_FLOAT][NHWC][32, 8] <value range> <shape range> <original shape> peer:0
///   Output: ...
///    -[0][DT_BOOL][NHWC][32, 8] ... ['consumer']
///
/// Control edges stand as input -1. A Data operator of a sub-graph shows the input of the operator
/// that calls it; an operator without outputs that calls a sub-graph shows what its node
/// `<sub-graph>_Node_Output` takes.
namespace opdrift::shell {

/// The lines before Input.
Lines node_lines(const FoundNode& found);

/// Input and output lines.
void add_ports(const FoundNode& found, Lines& lines);

}  // namespace opdrift::shell
