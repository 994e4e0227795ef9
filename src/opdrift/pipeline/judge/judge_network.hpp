#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/pipeline/compare.hpp"
#include "opdrift/pipeline/network/compare.hpp"
#include "opdrift/verdict/result.hpp"

namespace opdrift::pipeline {

/// Judges a comparison through graph json by the replay budget. Where the options or the golden's
/// manifest name the original model, by that: an operator of the device that does the work of
/// several is judged as one, with what it lacks replayed. Else by the target's own graph, as far as
/// its operators have one original each. Where neither tells anything the limits stay in force, and
/// the notes say why.
///
/// `jobs` and `rows` are those of the network's result, `row_of_job` tells the row of `result`.
/// Fails as judge_pairs does.
Status judge_network(const NetworkInputs& inputs, const NetworkOptions& network,
                     const NetworkResult& compared,
                     const std::vector<std::optional<std::size_t>>& row_of_job,
                     const CompareOptions& options, verdict::RunResult& result);

}  // namespace opdrift::pipeline
