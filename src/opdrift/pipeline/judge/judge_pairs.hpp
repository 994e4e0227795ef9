#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/pipeline/compare.hpp"
#include "opdrift/pipeline/dump_index.hpp"
#include "opdrift/pipeline/pairing.hpp"
#include "opdrift/verdict/result.hpp"

namespace opdrift::pipeline {

/// Judges paired dumps by the replay budget, where the options or the golden's manifest name a
/// model that knows their tensors. Else the limits stay in force, and the notes say why.
///
/// `row_of_pair` has one entry per pair: its row in `result`, if it has one. Steps (sub-folders of
/// the golden) are judged one by one; the run is as good as its worst step.
/// Fails when the model cannot be read, when the options ask for a verdict that cannot be had, and
/// when cancelled.
Status judge_pairs(const DumpIndex& golden, const DumpIndex& target, const Pairing& pairing,
                   const std::vector<std::optional<std::size_t>>& row_of_pair,
                   const CompareOptions& options, verdict::RunResult& result);

}  // namespace opdrift::pipeline
