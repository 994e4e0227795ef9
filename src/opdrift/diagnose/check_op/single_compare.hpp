#pragma once

#include <optional>
#include <vector>

#include "opdrift/diagnose/check_op/pieces.hpp"
#include "opdrift/diagnose/check_op/single_run.hpp"
#include "opdrift/pipeline/compare.hpp"
#include "opdrift/pipeline/dump_index.hpp"
#include "opdrift/verdict/result.hpp"

namespace opdrift::diagnose {

/// Compares what the pieces made with what the target has, one row per value and in their order
/// (rows that were not reached are missing), and judges each by the budget of its operator with the
/// target's inputs on both sides. `rows[i]` becomes the row of `runs.values[i]`.
Result<verdict::RunResult> compare_pieces(const io::onnx::Model& model,
                                          const std::vector<Piece>& pieces, const SingleRuns& runs,
                                          const pipeline::DumpIndex& target,
                                          const pipeline::CompareOptions& options,
                                          std::vector<std::optional<std::size_t>>& rows);

}  // namespace opdrift::diagnose
