#pragma once

#include <optional>
#include <string>

#include "opdrift/verdict/result.hpp"

namespace opdrift::diagnose {

/// What a report shows of one comparison of an output; NaN and "" where there is none.
using Row = std::optional<verdict::TensorResult>;

double cosine_of(const Row& row);
double relative_l2_of(const Row& row);

/// The label of a judged row, else what the limits say, or "no fit".
std::string verdict_of(const Row& row);

}  // namespace opdrift::diagnose
