#pragma once

#include "opdrift/base/result.hpp"
#include "opdrift/verdict/judge/arrays.hpp"
#include "opdrift/verdict/judge/found.hpp"

// Tier P: a sum of products that cannot be replayed, whose weights are known.
//
//   white^2 = places * sum_o sum_i |w_oi|^2 mse_i      mse_i: mean square input error of channel i
//   a^2     = places * sum_o sum_i |w_oi|^2 msq_i      msq_i: mean square golden input
//   A       = 2 n u_a^2 (0.09 a^2 + 0.06 ||g||^2),  W = (0.42 u_T)^2 a^2 where weights are narrowed
//
// |w_oi|^2 is summed over the kernel, `places` are the outputs per output channel o. The label then
// asks for q = ||e|| / sqrt(budget^2 + max(white, largest r_j ||g||)^2) above 4, or for the shape
// of the error (shape_tier.hpp).

namespace opdrift::verdict::judging {

/// Fills `white` and the budget and makes the tier `norms`; leaves `found` where weights or inputs
/// are not at hand. To be called after judge_by_shape.
Status judge_by_norms(const Context& context, ValueId value, Found& found);

}  // namespace opdrift::verdict::judging
