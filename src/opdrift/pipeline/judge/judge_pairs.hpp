#pragma once

#include "opdrift/base/result.hpp"
#include "opdrift/pipeline/pairing.hpp"
#include "opdrift/verdict/result.hpp"

namespace opdrift::pipeline {

/// Judges paired dumps by the replay budget, where the options or the golden's manifest name a
/// model that knows their tensors. Else the limits stay in force, and the notes say why.
///
/// Rows of a single step are measured while they are judged. Steps (sub-folders of the golden) are
/// judged one by one; the run is as good as its worst step. Fails when the model cannot be read,
/// when the options ask for a verdict that cannot be had, and when cancelled.
Status judge_pairs(const MeasuredPairs& pairs, verdict::RunResult& result);

}  // namespace opdrift::pipeline
