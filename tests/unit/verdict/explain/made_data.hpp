#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "opdrift/tensor/encode.hpp"
#include "opdrift/tensor/view.hpp"

/// Tensors made of numbers, and faults planted in them.
namespace opdrift::verdict::testing {

using tensor::DType;
using tensor::Shape;
using tensor::View;

inline std::uint64_t count_of(const Shape& shape) {
  std::uint64_t count = 1;
  for (const std::uint64_t extent : shape) {
    count *= extent;
  }
  return count;
}

/// Row-major tensor of `values` stored as `dtype`.
inline View made_view(const std::vector<double>& values, const Shape& shape, DType dtype) {
  tensor::Tensor tensor;
  tensor.desc.dtype = dtype;
  tensor.desc.shape = shape;
  std::vector<std::byte> bytes(*tensor::storage_bytes(dtype, values.size()));
  tensor::encode(dtype, values.data(), values.size(), bytes.data());
  tensor.bytes = own_bytes(std::move(bytes));
  return *tensor::shaped_view(tensor, shape);
}

/// Normal numbers; channels (axis 1 of four, else the last) of different size and mean, as real
/// activations have them. No two channels and no two rows are alike.
inline std::vector<double> activations(const Shape& shape, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  const std::size_t axis = shape.size() >= 4 ? 1 : shape.empty() ? 0 : shape.size() - 1;
  std::uint64_t inner = 1;
  for (std::size_t k = axis + 1; k < shape.size(); ++k) {
    inner *= shape[k];
  }
  const std::uint64_t channels = shape.empty() ? 1 : shape[axis];
  std::vector<double> scale(channels);
  std::vector<double> mean(channels);
  for (std::size_t c = 0; c < channels; ++c) {
    scale[c] = std::exp(0.5 * normal(random));
    mean[c] = 0.5 * normal(random);
  }
  std::vector<double> values(count_of(shape));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t c = i / inner % channels;
    // Held in float, so that an fp32 golden is these very numbers.
    values[i] = static_cast<double>(static_cast<float>(mean[c] + scale[c] * normal(random)));
  }
  return values;
}

/// Values as a target of `dtype` would have stored them.
inline std::vector<double> stored(std::vector<double> values, DType dtype) {
  for (double& value : values) {
    value = tensor::round_through(dtype, value);
  }
  return values;
}

}  // namespace opdrift::verdict::testing
