#pragma once

#include <string>

#include "opdrift/base/result.hpp"
#include "opdrift/pipeline/msprobe/run_log.hpp"

/// One workbook from the results of several ranks.
///
///   input   <folder>/compare_result_rank<N>[-rank<M>]_<14 digits>.xlsx, at least two; all with the
///           columns of real data or of statistics (api_table.hpp)
///   config  yaml: "api": [beginning of a name], required; "compare_index": [column], optional
///   output  <folder>/multi_ranks_compare_merge_<time>.xlsx: one sheet per column, with "NPU Name"
///           and one column per rank; rows are all leaves of the listed calls, first seen first
///
/// "N/A", "unsupported" and "Nan" are replaced by "NPU:<NPU max>  Bench:<Bench max>".
namespace opdrift::pipeline {

struct MergeOptions {
  std::string input_folder;
  std::string output_folder;
  std::string config_path;
  RunLog log;
};

/// Returns the path of the workbook, "" when there was nothing to merge (the log says why).
Result<std::string> merge_results(const MergeOptions& options);

}  // namespace opdrift::pipeline
