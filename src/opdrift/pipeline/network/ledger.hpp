#pragma once

#include "opdrift/pipeline/network/compare.hpp"
#include "opdrift/pipeline/network/plan.hpp"

namespace opdrift::pipeline {

/// Where every file and tensor of both sides ended. A tensor compared several times counts once,
/// as compared when it differed anywhere. Operators nothing refers to count as one file.
std::vector<verdict::LedgerEntry> network_ledger(const NetworkPlan& plan,
                                                 const NetworkInputs& inputs, std::size_t jobs);

}  // namespace opdrift::pipeline
