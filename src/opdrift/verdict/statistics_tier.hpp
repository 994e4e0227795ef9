#pragma once

#include <cstdint>

#include "opdrift/metrics/measurement.hpp"
#include "opdrift/verdict/judgement.hpp"

/// Where only statistics were kept:
///
///   q  = | ||t|| - ||g|| | / (0.42 u ||g|| sqrt(depth))   norms
///   z' = | max|t| - max|g| | / (ulp_T(max) sqrt(depth / 12)) / K(N)   largest magnitudes
///
/// CULPRIT above 4 or when the numbers of NaN or Inf differ, WATCH above 2, else HEALTHY. Errors
/// that keep norm and maximum are not seen, so equal statistics are never called equal tensors.
namespace opdrift::verdict {

/// `depth`: operators from the inputs of the network to this value, at least 1. With none of the
/// norms known the label is UNJUDGED.
Judgement judge_statistics(const metrics::SideStats& golden, const metrics::SideStats& target,
                           std::uint64_t depth = 1);

}  // namespace opdrift::verdict
