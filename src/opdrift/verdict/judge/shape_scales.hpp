#pragma once

#include <vector>

#include "opdrift/verdict/judge/shape_grid.hpp"

// Robust scales of the error in a grid:
//
//   c  channel  mean of |e| over the drawn places, each cut at four times their median
//   p  place    median of |e| over the drawn channels, at least 0.3 of its mean over the places
//   sigma_i = 1.4826 c p / mean p      1.4826 makes a median a deviation
//
// Where results are cut off (Relu) both sides agree exactly, and the error elsewhere is no smaller
// for it: when an eighth of the drawn entries or more differ, those that agree are left out, and
// channels with too few that differ take the scale of all. When fewer differ, agreeing is the rule.

namespace opdrift::verdict::judging {

/// sigma_i^2 of every entry. `channels`: the tensor has any; else one scale stands for all.
std::vector<double> scale_variance(const Grid& grid, bool channels);

}  // namespace opdrift::verdict::judging
