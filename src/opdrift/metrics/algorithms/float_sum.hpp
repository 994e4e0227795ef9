#pragma once

#include <span>

namespace opdrift::metrics {

/// Sum of floats in float arithmetic, in the order torch adds them on a processor with eight float
/// lanes and one thread: four running sums of vectors (each a cascade of four levels, so that runs
/// of 16 or more are added before they join a longer sum), then the elements behind the last whole
/// vector, then the lanes. Fewer than eight elements are added in four running sums of scalars.
///
/// The result is what torch's `sum` gives for contiguous data of up to 32,768 elements; larger ones
/// it splits among threads.
float torch_float_sum(std::span<const float> values);

}  // namespace opdrift::metrics
