#pragma once

#include <span>

#include "opdrift/verdict/explain/evidence.hpp"

namespace opdrift::verdict::refit {

/// Draws `evidence.sample` from chunks of the profile; the same elements for the same tensors.
void draw_sample(Evidence& evidence);

/// What a refit leaves of the squared error, estimated from its values at the sample: near 0 for
/// the right hypothesis, near 1 or above for a wrong one. `predicted` is parallel to the sample;
/// NaN where the refit says nothing, which is left out.
double estimated_rest(const Evidence& evidence, std::span<const double> predicted);

/// A source of even numbers below a bound, the same on every machine.
class Dice {
 public:
  std::uint64_t below(std::uint64_t bound);
  double unit();  ///< [0, 1)

 private:
  std::uint64_t next();
  std::uint64_t state_ = 0x9e3779b97f4a7c15U;
};

}  // namespace opdrift::verdict::refit
