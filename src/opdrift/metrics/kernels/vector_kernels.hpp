#pragma once

#include <vector>

#include "opdrift/metrics/kernels/levels.hpp"

namespace opdrift::metrics::kernels {

/// Vector levels compiled in that this machine can run, slowest first.
std::vector<Level> vector_levels();

}  // namespace opdrift::metrics::kernels
