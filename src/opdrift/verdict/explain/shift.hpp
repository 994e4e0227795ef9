#pragma once

#include "opdrift/verdict/explain/refit.hpp"

// Shifted: r(..., c, ...) = b(..., c - s, ...), for one axis (|s| up to 4096), for the two image
// axes together (|s| up to 32 each) and for the tensor read flat (|s| up to 64). What stands where
// the base has nothing is tried as zeros, wrapped around, the edge repeated, or anything. Shifts
// are searched at the elements with most error; the smallest that fits is taken.
//
// Cropped, for tensors of unequal counts: the target is a part of the golden at some offset per
// axis, or the golden is such a part of the target (padding), or one is the other's head read flat.

namespace opdrift::verdict::refit {

Candidates shift_candidates(const Evidence& evidence);

/// A part of `whole`, as large as `part`, that the elements of `part` may be.
struct Crop {
  tensor::View view;                   ///< of `whole`
  std::vector<std::uint64_t> offsets;  ///< empty: read flat
};

/// Crops that fit 256 elements drawn evenly. Both are real numbers.
std::vector<Crop> find_crops(const Values& whole, const Values& part);

}  // namespace opdrift::verdict::refit
