#include "opdrift/metrics/sketch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "opdrift/tensor/decode.hpp"

namespace opdrift::metrics {

namespace {

constexpr std::uint64_t kChunk = 8192;

std::uint64_t mix(std::uint64_t index) {
  std::uint64_t z = index + 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31U);
}

double squared_length(const Sketch& sketch) {
  double sum = 0.0;
  for (const double value : sketch.buckets) {
    sum += value * value;
  }
  return sum;
}

}  // namespace

Result<Sketch> sketch_of(const tensor::View& view) {
  const tensor::DType dtype = view.tensor.desc.dtype;
  if (!tensor::info(dtype).decodable) {
    return Error{ErrorCode::unsupported_dtype,
                 "elements of type " + std::string(tensor::name_of(dtype)) + " are no numbers"};
  }
  Sketch sketch;
  sketch.count = view.count();
  std::vector<std::byte> bytes(kChunk * tensor::info(dtype).bits / 8 + 16);
  std::vector<double> values(kChunk);
  for (std::uint64_t first = 0; first < sketch.count; first += kChunk) {
    const std::uint64_t count = std::min(kChunk, sketch.count - first);
    std::fill(bytes.begin(), bytes.end(), std::byte{0});
    tensor::gather(view, first, count, bytes.data());
    tensor::decode_to_double(dtype, bytes.data(), 0, count, values.data());
    for (std::uint64_t i = 0; i < count; ++i) {
      const double value = values[static_cast<std::size_t>(i)];
      if (!std::isfinite(value)) {
        ++sketch.nonfinite;
        continue;
      }
      const std::uint64_t hash = mix(first + i);
      sketch.buckets[hash % kSketchBuckets] += (hash & 0x100U) != 0 ? value : -value;
    }
  }
  return sketch;
}

Result<SketchDistance> estimate_distance(const Sketch& golden, const Sketch& target) {
  if (golden.count != target.count) {
    return Error{ErrorCode::mismatch, "expected a sketch of " + std::to_string(golden.count) +
                                          " elements, found " + std::to_string(target.count)};
  }
  Sketch difference;
  for (std::size_t i = 0; i < kSketchBuckets; ++i) {
    difference.buckets[i] = target.buckets[i] - golden.buckets[i];
  }
  const double distance2 = squared_length(difference);
  SketchDistance distance;
  distance.deviation = std::sqrt(2.0 / kSketchBuckets) / 2.0;  // of the root of the estimate
  if (distance2 > 0.0) {
    const double golden2 = squared_length(golden);
    distance.relative_l2 =
        golden2 > 0.0 ? std::sqrt(distance2 / golden2) : std::numeric_limits<double>::infinity();
  }
  return distance;
}

}  // namespace opdrift::metrics
