#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "opdrift/base/result.hpp"
#include "opdrift/tensor/view.hpp"

/// A summary of a tensor from which its distance to another one can be estimated when neither is
/// there any more. Count sketch (Charikar, Chen, Farach-Colton 2002) over flat indexes i:
///
///   h = mix(i)      bucket b = h mod 256      sign s = +1 or -1 by bit 8 of h
///   S[b] = sum of s x_i over the elements of the bucket
///   mix(i): z = i + 0x9E3779B97F4A7C15; z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
///           z = (z ^ z >> 27) * 0x94D049BB133111EB; z ^ z >> 31          (64-bit, splitmix64)
///
/// The sketch is linear, so sum (S_x[b] - S_y[b])^2 estimates |x - y|^2: right on average, with a
/// standard deviation of at most sqrt(2 / 256) = 9 % of it. Values that are not finite count as 0;
/// complex elements as their real parts. Equal tensors have equal sketches, bit by bit.
namespace opdrift::metrics {

inline constexpr std::size_t kSketchBuckets = 256;

struct Sketch {
  std::array<double, kSketchBuckets> buckets{};
  std::uint64_t count = 0;      ///< elements
  std::uint64_t nonfinite = 0;  ///< of them counted as 0
};

/// Reads the tensor once. Fails with unsupported_dtype.
Result<Sketch> sketch_of(const tensor::View& view);

/// Estimate of |target - golden| / |golden| with its standard deviation (a share of the estimate).
/// Fails with `mismatch` when the element counts differ.
struct SketchDistance {
  double relative_l2 = 0.0;  ///< 0 for equal sketches; infinite when only the golden is all zero
  double deviation = 0.0;
};
Result<SketchDistance> estimate_distance(const Sketch& golden, const Sketch& target);

}  // namespace opdrift::metrics
