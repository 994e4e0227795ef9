#pragma once

#include <cstdint>
#include <span>

#include "opdrift/verdict/judge/found.hpp"
#include "opdrift/verdict/judge/reader.hpp"

// Tier N: the operator cannot be replayed (no parameters, no model), yet local faults show.
//
//   e = t - g,  z' = max |e_i| / sqrt(v_i + S_i) / K(N),  v_i = max(row-channel_i, profile_i)
//   row-channel   a robust scale of the channel of i times one of its place (shape_scales.hpp)
//   profile       gamma_o B_i: B the energy of the input error under the kernel (in the row),
//                 gamma_o = median of e^2 / B over output channel o, where B > 0, / 0.455
//
// 0.455 is the median of chi squared with one degree of freedom.

namespace opdrift::verdict::judging {

/// Fills z, the tier, the worst element and the budget of storage (the gain is unknown, so the
/// ratio of the whole tensor is left to the labels). Norms must have been taken before. `golden`
/// and `target` read the value, which an operator made; looks at some places and channels
/// (shape_grid.hpp) and at the positions `standing_out`.
void judge_by_shape(const Context& context, ValueId value, const Reader& golden,
                    const Reader& target, std::span<const std::uint64_t> standing_out,
                    Found& found);

}  // namespace opdrift::verdict::judging
