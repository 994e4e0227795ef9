#pragma once

#include "opdrift/verdict/explain/refit.hpp"

// Per-channel affine: for one axis, r = a_c b + o_c with least squares per index c of the axis, as
// factors only, offsets only, or both. Every axis is tried, from the sums of the profile. An axis
// is left out when an index has fewer than 8 elements (16 for both): such fits prove nothing.

namespace opdrift::verdict::refit {

Candidates channel_affine_candidates(const Evidence& evidence);

}  // namespace opdrift::verdict::refit
