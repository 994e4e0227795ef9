#pragma once

#include <cstdint>
#include <span>

// The inner loops of sampled sums of products, in vectors of the processor they run on.

namespace opdrift::replay {

struct DotProducts {
  double sum = 0.0;      ///< sum of l r
  double squares = 0.0;  ///< sum of (l r)^2
};

/// Of two lists of one length.
DotProducts dot_products(std::span<const double> left, std::span<const double> right);

/// A step of the formats whose digits are as many in every binade.
struct EvenSteps {
  std::int64_t least = 0;  ///< exponent of the smallest normal number
  std::int64_t digits = 0;
};

/// round_T(x) - x; adding and taking away 1.5 * 2^52 steps rounds to a multiple of the step. 0
/// where the result is not finite.
inline double narrowing_error(double x, double step) {
  const double magic = step * 0x1.8p52;
  const double error = ((x + magic) - magic) - x;
  return error - error == 0.0 ? error : 0.0;
}

/// narrowing_error() of every value, the step being that of its binade.
void narrowing_errors(std::span<const double> values, const EvenSteps& steps, double* errors);

}  // namespace opdrift::replay
