#pragma once

#include "opdrift/verdict/explain/refit.hpp"

// Hypotheses about order.
//   permuted   target, read flat, = the base with its axes in another order, read flat. This covers
//              data written in NHWC order but labelled NCHW as well as transposed axes of one
//              extent. All orders up to rank 4; beyond it the last two axes, the channel axis to
//              the end and back. Blocked layouts: NC1HWC0 and FRACTAL_NZ.
//   reversed   one axis runs backwards
//   reordered  the indices of one axis are a permutation: those with an error, matched by the order
//              of their sums

namespace opdrift::verdict::refit {

Candidates permutation_candidates(const Evidence& evidence);
Candidates reversal_candidates(const Evidence& evidence);
Candidates reorder_candidates(const Evidence& evidence);

/// True when the axis holds channels: named C, else the second of four or more, else the last.
bool is_channel_axis(const Evidence& evidence, std::size_t axis);

}  // namespace opdrift::verdict::refit
