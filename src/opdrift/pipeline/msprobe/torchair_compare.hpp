#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "opdrift/base/parallel.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/pipeline/msprobe/api_options.hpp"
#include "opdrift/pipeline/msprobe/notable_rows.hpp"
#include "opdrift/pipeline/msprobe/run_log.hpp"

/// Comparison of a GE dump with an FX dump, or with a GE dump made without fusion.
///
/// The target is a GE root with its graph; the golden is GE when it has a graph too, else FX. Ranks
/// are compared one by one, the i-th graph with the i-th group of dumps on both sides. One table
/// per rank: <output>/msprobe_cmp_report[_rank<R>]_<UTC time>.csv, columns in torchair_table.hpp.
namespace opdrift::pipeline {

struct TorchairOptions {
  std::string target_path;
  std::string golden_path;
  std::string output_folder;
  std::optional<std::uint64_t> rank;  ///< only this one
  bool xlsx = false;
  bool reference_tables = false;  ///< the reference's columns and rows alone
  bool checksums = false;         ///< compare CRC-32 of the bytes instead of numbers
  double min_cosine = 0.99;
  double max_relative = 0.01;
  Highlight highlight = Highlight::none;
  std::size_t jobs = 0;
  const CancelFlag* cancel = nullptr;
  RunLog log;
};

struct TorchairOutcome {
  std::vector<std::string> files;
  std::uint64_t rows = 0;
  std::uint64_t failed = 0;      ///< with those that could not be compared
  std::uint64_t unmeasured = 0;  ///< of them: nothing could be compared
  NotableRows notable;
  std::string first_difference;  ///< one line naming the first output that is wrong; "" for none
};

/// Fails when there is no graph, no common rank, or a graph cannot be read. A dump file that cannot
/// be read is a row with the reason.
Result<TorchairOutcome> compare_torchair(const TorchairOptions& options);

}  // namespace opdrift::pipeline
