#pragma once

#include <span>

// The inner loop of sampled sums of products, in vectors of the processor it runs on.

namespace opdrift::replay {

struct DotProducts {
  double sum = 0.0;      ///< sum of l r
  double squares = 0.0;  ///< sum of (l r)^2
};

/// Of two lists of one length.
DotProducts dot_products(std::span<const double> left, std::span<const double> right);

}  // namespace opdrift::replay
