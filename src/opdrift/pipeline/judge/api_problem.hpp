#pragma once

#include "opdrift/base/result.hpp"
#include "opdrift/pipeline/pairing.hpp"
#include "opdrift/verdict/result.hpp"

/// The replay budget for runs recorded call by call (dump.json with saved tensors). Every forward
/// call is replayed on its own recorded arguments of either side:
///
///   function or module with a row in api_signatures.cpp  -> judged by the replay
///   other calls, backward calls, single numbers           -> judged by limits, and they say so
///   tensor that an earlier call made                      -> judged where it was made
///   module whose output an inner call made                -> judged where it was made
///   tensors of the first call                             -> inputs of the network
///
/// Runs of several ranks and steps are judged one by one; the run is as good as its worst one.
namespace opdrift::pipeline {

/// Fails when the options insist on a verdict that cannot be had, and when a model that they name
/// cannot be read; with a model the comparison is judged by that.
Status judge_api_calls(const MeasuredPairs& measured, verdict::RunResult& result);

}  // namespace opdrift::pipeline
