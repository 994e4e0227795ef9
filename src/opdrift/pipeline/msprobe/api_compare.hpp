#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/pipeline/msprobe/api_options.hpp"
#include "opdrift/pipeline/msprobe/api_table.hpp"

/// Comparison of recorded runs (dump.json), by what the two paths are:
///
///   two files      one table: dump.json with dump.json, or debug.json with debug.json
///   two folders    with graph/ or pynative/ in both: each of their common steps, below
///                    <output>/<graph|pynative>/<step>
///                  with step<N> in both: every common step, below <output>/step<N>
///                  with rank<R>: ranks by number when both sides have the same numbers, else in
///                    order; one table per rank
///                  with exactly one proc<P> on each side: that pair
///
/// Tables are <output>/compare_result[_<rank folder>]_<time>.csv or .xlsx, for debug.json
/// debug_compare_result..., and with diff_analyze the files of api_diff.hpp.
namespace opdrift::pipeline {

struct ApiOutcome {
  std::vector<std::string> files;
  ApiTableTotals totals;
  bool compared = false;  ///< false: nothing could be compared, and the log says why
};

/// Fails when a path or a file is refused. A run in which nothing matches is no failure.
Result<ApiOutcome> compare_api_runs(const ApiCompareOptions& options);

/// Sub-folders that stand for ranks, by rising number; "rank" without a number counts as -1.
struct RankFolder {
  std::string name;
  long long number = -1;
};
std::vector<RankFolder> rank_folders(const std::string& folder);

/// Pairs of folders to compare, as positions in the two lists. Fails when the counts differ.
Result<std::vector<std::pair<std::size_t, std::size_t>>> pair_ranks(
    const std::vector<RankFolder>& target, const std::vector<RankFolder>& golden,
    const ApiCompareOptions& options);

}  // namespace opdrift::pipeline
