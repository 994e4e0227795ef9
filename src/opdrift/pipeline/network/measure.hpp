#pragma once

#include "opdrift/pipeline/network/compare.hpp"
#include "opdrift/pipeline/network/plan.hpp"

namespace opdrift::pipeline {

/// Measures the jobs of a plan and fills in their rows: state, measurement, algorithm values,
/// reasons. Jobs that share a golden tensor are done together. Jobs not reached before an
/// interruption leave their rows `planned`.
void measure_plan(NetworkPlan& plan, const NetworkInputs& inputs, const NetworkOptions& options);

}  // namespace opdrift::pipeline
