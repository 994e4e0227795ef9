#pragma once

#include <vector>

#include "opdrift/verdict/judge/arrays.hpp"
#include "opdrift/verdict/judge/found.hpp"

namespace opdrift::verdict::judging {

/// Looks at values that no operator makes (inputs and given parameters: equal up to rounding, or
/// not) and at those whose operator could not be replayed (classes and norms only).
void compare_leaves(const Context& context, std::vector<Found>& found);

}  // namespace opdrift::verdict::judging
