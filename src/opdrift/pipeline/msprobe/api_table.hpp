#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "opdrift/pipeline/msprobe/api_sides.hpp"
#include "opdrift/pipeline/msprobe/notable_rows.hpp"
#include "opdrift/pipeline/msprobe/real_rows.hpp"
#include "opdrift/pipeline/msprobe/table_file.hpp"

/// The table of a comparison of dump.json runs. Columns by mode, in the reference's order:
///
///   all        NPU Name, Bench Name, NPU Dtype, Bench Dtype, NPU Tensor Shape, Bench Tensor Shape,
///              NPU Requires_grad, Bench Requires_grad
///   real data  Cosine ... Five Thousandths Err Ratio, NPU max ... Bench l2norm
///   statistics Max diff ... NormRelativeErr, NPU max ... Bench l2norm
///   check sums NPU MD5, BENCH MD5
///   all        Requires_grad Consistent, Result, Err_message [, Accuracy Reached or Not]
///              [, NPU_Stack_Info]
///   real data  Data_name
namespace opdrift::pipeline {

std::vector<std::string> api_columns(verdict::RowMode mode, bool with_stack, bool with_accuracy);

/// What a table came to.
struct ApiTableTotals {
  std::uint64_t rows = 0;
  std::uint64_t passed = 0;
  std::uint64_t warnings = 0;
  std::uint64_t errors = 0;
  std::string first_error;  ///< name of the first row judged `error`
  NotableRows notable;
};

struct ApiTable {
  std::vector<std::string> files;
  ApiTableTotals totals;
};

/// Judges all rows and writes them as `stem`.csv or .xlsx. `real` holds one row per pair in real
/// data mode and is empty otherwise.
Result<ApiTable> write_api_table(const ApiSides& sides, const std::vector<RealRow>& real,
                                 const std::string& stem, const ApiCompareOptions& options);

}  // namespace opdrift::pipeline
