#pragma once

#include "opdrift/io/onnx/model.hpp"
#include "opdrift/pipeline/judge/graph_problem.hpp"

/// An ONNX model as a problem for the judge.
///
///   initialiser, output of a Constant node   -> parameter, its data in the model
///   graph input that is no initialiser       -> network input
///   output of any other node                 -> computed
///
/// Operators are brought into topological order (ties in file order). Nodes on a cycle and nodes
/// that make a value a second time are left out and noted; what they would have made has no
/// operator.
namespace opdrift::pipeline {

/// The problem of the main graph. Parameters are mapped, not copied; they keep the file open.
GraphProblem onnx_problem(const io::onnx::Model& model);

/// Takes the parameters of `target` that have the names and shapes of the problem's for those that
/// the target used: weights that were quantised, pruned or tuned on purpose. Notes how many there
/// are. Fails with `mismatch` when there is none.
Status add_target_parameters(const io::onnx::Model& target, GraphProblem& problem);

}  // namespace opdrift::pipeline
