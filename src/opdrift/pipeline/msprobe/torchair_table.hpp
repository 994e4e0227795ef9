#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/pipeline/msprobe/notable_rows.hpp"
#include "opdrift/pipeline/msprobe/torchair_compare.hpp"
#include "opdrift/pipeline/msprobe/torchair_rows.hpp"

/// Tables of torchair comparisons.
///
///   1   token_id, data_id, golden_data_path ... relative_euclidean_distance, cmp_fail_reason
///   2   API Name, Stack Info, Data Name
///   3   numbers     Cosine, EucDist, MaxAbsErr, MaxRelativeErr, One Thousandth Err Ratio,
///                   Five Thousandth Err Ratio, Requires_grad Consistent
///       reduced     Max diff, Min diff, Mean diff, L2norm diff, MaxRelativeErr, MinRelativeErr,
///                   MeanRelativeErr, NormRelativeErr
///       check sums  NPU MD5, BENCH MD5
///   4   Result, Accuracy Reached or Not, Err_message
///
/// The reference writes part 1 alone. PASS: cosine and relative error within their limits; reduced:
/// every relative error at most the limit; check sums: equal.
namespace opdrift::pipeline {

struct TorchairTable {
  std::vector<std::string> files;
  std::uint64_t rows = 0;
  std::uint64_t failed = 0;      ///< with those that could not be compared
  std::uint64_t unmeasured = 0;  ///< of them: nothing could be compared
  std::string first_difference;
  NotableRows notable;
};

/// Numbers the rows from `next_id` on, in their order, drops what the reference drops if its tables
/// are wanted, sorts and writes.
Result<TorchairTable> write_torchair_table(std::vector<TorchairRow> rows, std::uint64_t& next_id,
                                           const std::string& stem, const TorchairOptions& options);

}  // namespace opdrift::pipeline
