#pragma once

#include <vector>

#include "opdrift/verdict/judgement.hpp"
#include "opdrift/verdict/result.hpp"

namespace opdrift::pipeline {

/// Whether the steps of two runs are the same steps: by the norms and means of their rows, target
/// step k may turn out to be golden step k + 1 (verdict/steps.hpp). Empty for runs of one step and
/// for steps that agree.
std::vector<verdict::Finding> check_steps(const verdict::RunResult& result);

/// Says so instead of blaming operators: rows lose nothing but their labels.
void say_out_of_step(std::vector<verdict::Finding> findings, verdict::RunResult& result);

}  // namespace opdrift::pipeline
