#pragma once

#include <cstdint>

#include "opdrift/metrics/measurement.hpp"
#include "opdrift/verdict/judgement.hpp"

/// A golden of higher precision G and a baseline of the target's own precision ref tell what that
/// precision costs, without a graph:
///
///   R = ||t - G|| / max(||ref - G||, 0.42 u ||G||),  u the unit roundoff of the target's type
///
///   HEALTHY  R <= 2, or <= 3 for bfloat16 and for fewer than 1000 elements
///   WATCH    R <= 4
///   CULPRIT  beyond, or more elements of another class than the baseline has
namespace opdrift::verdict {

/// What the fair run is: one in the target's precision, or another one of the golden.
enum class FairRun : std::uint8_t { baseline, golden };

/// `target` and `baseline` were measured against the same golden.
Judgement judge_golden_pair(const metrics::Measurement& target,
                            const metrics::Measurement& baseline, FairRun fair = FairRun::baseline);

/// False for a fair run of a finer type than the target's: it says nothing of what that one costs.
bool same_precision(const metrics::Measurement& target, const metrics::Measurement& baseline);

}  // namespace opdrift::verdict
