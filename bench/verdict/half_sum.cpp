#include "half_sum.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "numbers.hpp"

namespace opdrift::evaluation {

namespace {

namespace onnx = io::onnx;

constexpr std::size_t kMinTerms = 32;

// Nearest with ties to even, by the bits; subnormals keep their digits, which no sum here notices.
template <unsigned kDropped>
float narrow(float value) {
  auto bits = std::bit_cast<std::uint32_t>(value);
  bits += ((1U << (kDropped - 1)) - 1U) + ((bits >> kDropped) & 1U);
  bits &= ~((1U << kDropped) - 1U);
  return std::bit_cast<float>(bits);
}

template <unsigned kDropped>
void add_products(std::span<float> sums, const float* row, float factor) {
  for (std::size_t j = 0; j < sums.size(); ++j) {
    sums[j] = narrow<kDropped>(sums[j] + narrow<kDropped>(row[j] * factor));
  }
}

/// rows x terms times terms x columns, sums in the narrow type.
std::vector<float> product(std::span<const float> left, std::span<const float> right,
                           std::size_t rows, std::size_t terms, std::size_t columns,
                           tensor::DType accumulator) {
  std::vector<float> result(rows * columns, 0.0F);
  const auto add = accumulator == tensor::DType::f16 ? add_products<13> : add_products<16>;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t k = 0; k < terms; ++k) {
      add(std::span(result).subspan(i * columns, columns), right.data() + k * columns,
          left[i * terms + k]);
    }
  }
  if (accumulator == tensor::DType::f16) {
    for (float& value : result) {
      if (std::abs(value) > 65504.0F) {
        value = std::copysign(std::numeric_limits<float>::infinity(), value);
      }
    }
  }
  return result;
}

std::vector<float> transposed(std::span<const float> matrix, std::size_t rows,
                              std::size_t columns) {
  std::vector<float> made(matrix.size());
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      made[j * rows + i] = matrix[i * columns + j];
    }
  }
  return made;
}

std::int64_t integer(const onnx::Node& node, std::string_view name, std::int64_t fallback) {
  const onnx::Attribute* attribute = node.attribute(name);
  return attribute == nullptr ? fallback : attribute->integer;
}

std::vector<std::int64_t> integers(const onnx::Node& node, std::string_view name, std::size_t count,
                                   std::int64_t fallback) {
  const onnx::Attribute* attribute = node.attribute(name);
  return attribute == nullptr || attribute->integers.size() != count
             ? std::vector<std::int64_t>(count, fallback)
             : attribute->integers;
}

std::optional<tensor::Tensor> matmul(std::span<const tensor::Tensor* const> inputs,
                                     tensor::DType accumulator) {
  const tensor::Shape& left = inputs[0]->desc.shape;
  const tensor::Shape& right = inputs[1]->desc.shape;
  if (left.size() < 2 || right.size() != 2 || left.back() < kMinTerms) {
    return std::nullopt;
  }
  const std::size_t terms = left.back();
  const std::span<const float> values = floats_of(*inputs[0]);
  tensor::Shape shape = left;
  shape.back() = right[1];
  return make_floats(shape, product(values, floats_of(*inputs[1]), values.size() / terms, terms,
                                    right[1], accumulator));
}

std::optional<tensor::Tensor> gemm(const onnx::Node& node,
                                   std::span<const tensor::Tensor* const> inputs,
                                   tensor::DType accumulator) {
  const tensor::Shape& left = inputs[0]->desc.shape;
  const tensor::Shape& right = inputs[1]->desc.shape;
  if (integer(node, "transA", 0) != 0 || left[1] < kMinTerms) {
    return std::nullopt;
  }
  const bool transpose = integer(node, "transB", 0) != 0;
  const std::size_t columns = transpose ? right[0] : right[1];
  const std::span<const float> weights = floats_of(*inputs[1]);
  const std::vector<float> turned =
      transpose ? transposed(weights, right[0], right[1]) : std::vector<float>();
  std::vector<float> sums = product(floats_of(*inputs[0]), transpose ? turned : weights, left[0],
                                    left[1], columns, accumulator);
  if (inputs.size() > 2 && inputs[2] != nullptr) {
    const std::span<const float> bias = floats_of(*inputs[2]);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] += bias[i % bias.size()];
    }
  }
  return make_floats({left[0], columns}, std::move(sums));
}

/// A convolution over one or two axes, seen as two.
struct Window {
  std::size_t in[2] = {1, 1};
  std::size_t kernel[2] = {1, 1};
  std::size_t out[2] = {1, 1};
  std::int64_t stride[2] = {1, 1};
  std::int64_t dilation[2] = {1, 1};
  std::int64_t before[2] = {0, 0};
};

std::int64_t same_padding(const Window& window, std::size_t axis, bool upper) {
  const auto in = static_cast<std::int64_t>(window.in[axis]);
  const std::int64_t outputs = (in + window.stride[axis] - 1) / window.stride[axis];
  const auto kernel = static_cast<std::int64_t>(window.kernel[axis]);
  const std::int64_t total = std::max<std::int64_t>(
      0, (outputs - 1) * window.stride[axis] + (kernel - 1) * window.dilation[axis] + 1 - in);
  return upper ? total / 2 : total - total / 2;
}

Window window_of(const onnx::Node& node, std::span<const tensor::Tensor* const> inputs,
                 std::size_t axes) {
  Window window;
  const tensor::Shape& in = inputs[0]->desc.shape;
  const tensor::Shape& weights = inputs[1]->desc.shape;
  const auto strides = integers(node, "strides", axes, 1);
  const auto dilations = integers(node, "dilations", axes, 1);
  const auto pads = integers(node, "pads", 2 * axes, 0);
  const onnx::Attribute* automatic = node.attribute("auto_pad");
  for (std::size_t i = 0; i < axes; ++i) {
    const std::size_t axis = i + 2 - axes;
    window.in[axis] = in[2 + i];
    window.kernel[axis] = weights[2 + i];
    window.stride[axis] = strides[i];
    window.dilation[axis] = dilations[i];
    window.before[axis] = pads[i];
    std::int64_t padding = pads[i] + pads[axes + i];
    if (automatic != nullptr && automatic->text.starts_with("SAME")) {
      window.before[axis] = same_padding(window, axis, automatic->text == "SAME_UPPER");
      window.out[axis] = static_cast<std::size_t>(
          (static_cast<std::int64_t>(in[2 + i]) + strides[i] - 1) / strides[i]);
      continue;
    }
    const std::int64_t reach = static_cast<std::int64_t>(in[2 + i]) + padding -
                               (static_cast<std::int64_t>(weights[2 + i]) - 1) * dilations[i] - 1;
    window.out[axis] = static_cast<std::size_t>(reach / strides[i] + 1);
  }
  return window;
}

/// Input values under every kernel position, terms x output positions.
std::vector<float> unrolled(std::span<const float> image, std::size_t channels,
                            const Window& window) {
  const std::size_t positions = window.out[0] * window.out[1];
  std::vector<float> columns(channels * window.kernel[0] * window.kernel[1] * positions, 0.0F);
  std::size_t next = 0;
  for (std::size_t term = 0; term < columns.size() / positions; ++term) {
    const std::size_t kx = term % window.kernel[1];
    const std::size_t ky = term / window.kernel[1] % window.kernel[0];
    const std::size_t channel = term / (window.kernel[0] * window.kernel[1]);
    for (std::size_t position = 0; position < positions; ++position, ++next) {
      const std::int64_t y =
          static_cast<std::int64_t>(position / window.out[1]) * window.stride[0] +
          static_cast<std::int64_t>(ky) * window.dilation[0] - window.before[0];
      const std::int64_t x =
          static_cast<std::int64_t>(position % window.out[1]) * window.stride[1] +
          static_cast<std::int64_t>(kx) * window.dilation[1] - window.before[1];
      if (y >= 0 && x >= 0 && y < static_cast<std::int64_t>(window.in[0]) &&
          x < static_cast<std::int64_t>(window.in[1])) {
        columns[next] =
            image[(channel * window.in[0] + static_cast<std::size_t>(y)) * window.in[1] +
                  static_cast<std::size_t>(x)];
      }
    }
  }
  return columns;
}

std::optional<tensor::Tensor> convolution(const onnx::Node& node,
                                          std::span<const tensor::Tensor* const> inputs,
                                          tensor::DType accumulator) {
  const tensor::Shape& weights = inputs[1]->desc.shape;
  const std::size_t axes = weights.size() - 2;
  std::size_t terms = 1;
  for (std::size_t i = 1; i < weights.size(); ++i) {
    terms *= weights[i];
  }
  if (integer(node, "group", 1) != 1 || terms < kMinTerms || axes < 1 || axes > 2) {
    return std::nullopt;
  }
  const Window window = window_of(node, inputs, axes);
  const std::size_t batch = inputs[0]->desc.shape[0];
  const std::size_t positions = window.out[0] * window.out[1];
  const std::span<const float> images = floats_of(*inputs[0]);
  std::vector<float> sums;
  for (std::size_t b = 0; b < batch; ++b) {
    const std::size_t size = images.size() / batch;
    const std::vector<float> one =
        product(floats_of(*inputs[1]), unrolled(images.subspan(b * size, size), weights[1], window),
                weights[0], terms, positions, accumulator);
    sums.insert(sums.end(), one.begin(), one.end());
  }
  if (inputs.size() > 2 && inputs[2] != nullptr) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] += floats_of(*inputs[2])[i / positions % weights[0]];
    }
  }
  tensor::Shape shape = {batch, weights[0]};
  shape.insert(shape.end(), window.out + (2 - axes), window.out + 2);
  return make_floats(shape, std::move(sums));
}

}  // namespace

std::optional<tensor::Tensor> half_sum(const io::onnx::Node& node,
                                       std::span<const tensor::Tensor* const> inputs,
                                       tensor::DType accumulator) {
  const bool known = node.op_type == "MatMul" || node.op_type == "Gemm" || node.op_type == "Conv";
  if (!known || inputs[0]->desc.dtype != tensor::DType::f32) {
    return std::nullopt;
  }
  if (node.op_type == "MatMul") {
    return matmul(inputs, accumulator);
  }
  return node.op_type == "Gemm" ? gemm(node, inputs, accumulator)
                                : convolution(node, inputs, accumulator);
}

}  // namespace opdrift::evaluation
