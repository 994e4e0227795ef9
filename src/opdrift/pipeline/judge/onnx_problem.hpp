#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/graph/graph.hpp"
#include "opdrift/io/onnx/model.hpp"
#include "opdrift/tensor/tensor.hpp"
#include "opdrift/verdict/problem.hpp"

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

struct OnnxProblem {
  graph::Graph graph;  ///< operators that `problem` points to
  verdict::Problem problem;
  std::unordered_map<std::string, verdict::ValueId> value_of;  ///< by value name
  std::vector<tensor::Tensor> parameters;  ///< by ValueId; raw and empty where there is no data
  std::vector<std::string> notes;          ///< what was left out, and why
};

/// The problem of the main graph. Parameters are mapped, not copied; they keep the file open.
OnnxProblem onnx_problem(const io::onnx::Model& model);

}  // namespace opdrift::pipeline
