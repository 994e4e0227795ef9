#pragma once

#include "opdrift/verdict/explain/explain.hpp"
#include "opdrift/verdict/explain/refit.hpp"

namespace opdrift::verdict::refit {

/// An alternative at the sampled elements, its sums estimated for the whole tensor:
///   sum left^2 = E over focus [left^2 / d^2] * sum d^2 + N E over even [left^2 where d = 0]
/// Nothing when it cannot be computed.
std::optional<Rest> try_alternative(const Evidence& evidence, const Alternative& alternative);

}  // namespace opdrift::verdict::refit
