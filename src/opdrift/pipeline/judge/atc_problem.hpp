#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "opdrift/graph/graph.hpp"
#include "opdrift/pipeline/judge/graph_problem.hpp"
#include "opdrift/tensor/view.hpp"

/// The target's own graph (atc --mode=1) as a problem for the judge, where no model of the golden
/// is at hand:
///
///   output of an operator                     -> computed, named "operator:output"
///   operator of type Data                     -> network input
///   input made by a Const, Variable or nobody -> parameter, named "operator:input:number": what
///                                                the target dumped of it stands for both sides
///   TransData, Cast, TransShape without a
///   golden counterpart                        -> looked through: the value is that of its input
///
/// Only the first graph is judged; functions it calls are operators without a model.
namespace opdrift::pipeline {

struct AtcLookup {
  /// Whether an output of an operator has a golden counterpart.
  std::function<bool(const std::string& operator_name, std::uint32_t output)> has_golden;
  /// An input as the target dumped it, in logical order.
  std::function<Result<tensor::View>(const std::string& operator_name, std::uint32_t input)>
      dumped_input;
};

/// `graph` was read with its attributes.
GraphProblem atc_problem(graph::Graph graph, const AtcLookup& lookup);

/// Name of the value that an output of an operator is.
std::string atc_value(const std::string& operator_name, std::uint32_t output);

}  // namespace opdrift::pipeline
