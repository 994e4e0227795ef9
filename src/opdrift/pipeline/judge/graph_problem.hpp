#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "opdrift/graph/graph.hpp"
#include "opdrift/tensor/view.hpp"
#include "opdrift/verdict/problem.hpp"

namespace opdrift::pipeline {

/// A graph as a problem for the judge, with what the problem points to.
struct GraphProblem {
  graph::Graph graph;  ///< operators that `problem` points to
  verdict::Problem problem;
  std::unordered_map<std::string, verdict::ValueId> value_of;  ///< by value name
  std::vector<std::optional<tensor::View>> parameters;         ///< by ValueId, where there is data
  /// Those that the target used in their place, by ValueId; shorter or empty: none.
  std::vector<std::optional<tensor::View>> target_parameters;
  /// Constant nodes, which are no operators of the problem: their names and what they give.
  std::vector<std::pair<std::string, verdict::ValueId>> constants;
  std::vector<std::string> notes;  ///< what was left out, and why
};

/// The value of that name, made when it is new.
verdict::ValueId add_value(GraphProblem& made, const std::string& name,
                           verdict::ProblemValue::Role role);

/// Brings the operators into topological order; of those that are ready the first one listed goes
/// first. Operators on or behind a cycle are taken out and noted.
void sort_operators(GraphProblem& made);

}  // namespace opdrift::pipeline
