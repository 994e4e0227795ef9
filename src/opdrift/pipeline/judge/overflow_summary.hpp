#pragma once

#include "opdrift/pipeline/judge/graph_problem.hpp"
#include "opdrift/pipeline/judge/pair_values.hpp"
#include "opdrift/verdict/result.hpp"

namespace opdrift::pipeline {

/// Where NaN and Inf of the target come from, which tensors are near the end of their type's range
/// and which parameters the target's type cannot hold (verdict/lineage.hpp), from the measurements
/// of the result's rows and, for parameters of up to 2^22 elements, one look at them.
verdict::OverflowSummary overflow_summary(const GraphProblem& problem, const PairValues& values,
                                          const verdict::RunResult& result, std::size_t jobs = 0);

}  // namespace opdrift::pipeline
