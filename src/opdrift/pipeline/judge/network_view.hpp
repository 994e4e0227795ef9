#pragma once

#include "opdrift/pipeline/judge/graph_problem.hpp"
#include "opdrift/pipeline/judge/pair_values.hpp"
#include "opdrift/verdict/result.hpp"

namespace opdrift::pipeline {

/// Writes the operators of a judged graph into `result.network`: who reads whom, and which rows of
/// the result hold what they made. Called again for another step of the same graph, it adds that
/// step's rows. A network of more than a million connections is left out and noted.
void describe_network(const GraphProblem& problem, const PairValues& values,
                      verdict::RunResult& result);

}  // namespace opdrift::pipeline
