#pragma once

#include <optional>
#include <vector>

#include "opdrift/pipeline/dump_index.hpp"
#include "opdrift/pipeline/pairing.hpp"
#include "opdrift/verdict/judgement.hpp"
#include "opdrift/verdict/result.hpp"

namespace opdrift::pipeline {

/// Steps of one side of which no tensor has a partner: missing or extra ones. Nothing when there
/// are none, or when the dumps have no steps.
std::optional<verdict::Finding> step_ledger(const DumpIndex& golden, const DumpIndex& target,
                                            const Pairing& pairing);

/// Whether the steps of two runs are the same steps: by the norms and means of their rows, target
/// step k may turn out to be golden step k + 1 (verdict/steps.hpp). Empty for runs of one step and
/// for steps that agree.
std::vector<verdict::Finding> check_steps(const verdict::RunResult& result);

/// Says so instead of blaming operators: rows lose nothing but their labels.
void say_out_of_step(std::vector<verdict::Finding> findings, verdict::RunResult& result);

}  // namespace opdrift::pipeline
