#pragma once

#include <vector>

#include "opdrift/verdict/judge/arrays.hpp"
#include "opdrift/verdict/judge/found.hpp"

namespace opdrift::verdict::judging {

/// Looks at a value that both sides have without replaying its operator: classes, norms, and tiers
/// P and N. What fails makes it unreadable.
void compare_sides(const Context& context, ValueId value, Found& found);

/// The same for values that no operator makes (inputs and given parameters: equal up to rounding,
/// or not).
void compare_leaves(const Context& context, std::vector<Found>& found);

}  // namespace opdrift::verdict::judging
