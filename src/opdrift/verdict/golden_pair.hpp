#pragma once

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

/// `target` and `baseline` were measured against the same golden.
Judgement judge_golden_pair(const metrics::Measurement& target,
                            const metrics::Measurement& baseline);

}  // namespace opdrift::verdict
