#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/pipeline/msprobe/api_compare.hpp"
#include "opdrift/pipeline/msprobe/api_options.hpp"

/// Search for the first call that differs between two runs on many ranks.
///
/// A call differs when a statistic of an output is off by more than 50 % (or a check sum differs).
/// Calls are told apart by the communication calls of their rank:
///
///   before    the first differing call of every rank in front of its first communication
///   between   communication calls of different ranks are connected (same group, opposite ends of a
///             transfer); of the differing calls, those with the smallest (layer, place) are
///             reported, where layer counts communication calls and place the calls since then
///   after     the first differing call of every rank behind its last communication
///
/// The first stage that finds something is the last one. Files, in the output folder:
///
///   compare_result_rank<R>_<time>.json   all rows of a rank: {call: {"is_same", "op_items":
///   [row]}} diff_analyze_<time>.json             {"rank_<R>": [{"op_name", "data_info",
///   "stack_info"}]}
namespace opdrift::pipeline {

struct AnalyzedRank {
  std::string target_json;
  std::string golden_json;
  long long number = 0;
};

/// Compares the ranks and writes the files. Finding nothing is a success without a diff_analyze
/// file.
Result<ApiOutcome> analyze_first_difference(const std::vector<AnalyzedRank>& ranks,
                                            const ApiCompareOptions& options);

}  // namespace opdrift::pipeline
