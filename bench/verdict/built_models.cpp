#include "built_models.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "numbers.hpp"

#include "opdrift/base/protobuf_cursor.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"
#include "opdrift/io/onnx/writer.hpp"

namespace opdrift::evaluation {

namespace {

namespace onnx = io::onnx;
using tensor::DType;

constexpr std::size_t kTokens = 24;
constexpr std::size_t kWidth = 96;
constexpr std::size_t kHeads = 4;
constexpr std::size_t kOutliers[] = {5, 41, 77};
constexpr std::int64_t kOpset = 20;

class ModelBuilder {
 public:
  explicit ModelBuilder(std::string_view seed) : random_(seed) {
    model_.ir_version = 9;
    model_.opsets.push_back({"", kOpset});
    io::ProtobufField version;
    version.number = 1;
    version.type = io::WireType::varint;
    version.value = 9;
    model_.unknown.push_back({version, nullptr});
    io::ProtobufWriter opset;
    opset.varint(2, kOpset);
    const Bytes bytes = own_bytes(opset.take());
    io::ProtobufField field;
    field.number = 8;
    field.type = io::WireType::bytes;
    field.bytes = bytes.span;
    model_.unknown.push_back({field, bytes.owner});
    model_.graph.name = "built";
  }

  Random& random() { return random_; }

  std::string constant(const tensor::Shape& shape, const std::vector<float>& values) {
    return add(DType::f32, shape, std::as_bytes(std::span<const float>(values)));
  }
  std::string constant(const std::vector<std::int64_t>& values) {
    return add(DType::i64, {values.size()}, std::as_bytes(std::span<const std::int64_t>(values)));
  }
  std::string constant(const tensor::Shape& shape, const std::vector<std::int8_t>& codes) {
    return add(DType::i8, shape, std::as_bytes(std::span<const std::int8_t>(codes)));
  }

  std::string constant(const tensor::Shape& shape, const std::vector<std::int32_t>& codes) {
    return add(DType::i32, shape, std::as_bytes(std::span<const std::int32_t>(codes)));
  }

  std::vector<float> normals(std::size_t count, double deviation, double mean = 0.0) {
    std::vector<float> values(count);
    for (float& value : values) {
      value = static_cast<float>(mean + deviation * random_.normal());
    }
    return values;
  }

  std::string op(const std::string& type, std::vector<std::string> inputs,
                 std::vector<onnx::Attribute> attributes = {}) {
    const std::string name = type + "_" + std::to_string(++count_);
    model_.graph.nodes.push_back(
        onnx::make_node(type, name, std::move(inputs), {name + "_out"}, std::move(attributes)));
    return name + "_out";
  }

  /// x W + b with columns of different strength.
  std::string dense(const std::string& x, std::size_t from, std::size_t to, double gain) {
    std::vector<float> weights = normals(from * to, gain / std::sqrt(static_cast<double>(from)));
    std::vector<float> column(to);
    for (float& value : column) {
      value = static_cast<float>(std::exp(0.4 * random_.normal()));
    }
    for (std::size_t i = 0; i < weights.size(); ++i) {
      weights[i] *= column[i % to];
    }
    const std::string product = op("MatMul", {x, constant({from, to}, weights)});
    return op("Add", {product, constant({to}, normals(to, 0.05))});
  }

  onnx::Model finish(const tensor::Shape& input, const std::string& output, std::string name) {
    std::vector<onnx::Dim> dims;
    for (const std::uint64_t extent : input) {
      dims.push_back({extent, ""});
    }
    model_.graph.inputs.push_back(onnx::make_value_info("x", 1, dims));
    model_.graph.nodes.push_back(onnx::make_node("Identity", "last", {output}, {name}));
    model_.graph.outputs.push_back(onnx::make_value_info(std::move(name)));
    return std::move(model_);
  }

 private:
  std::string add(DType dtype, const tensor::Shape& shape, ByteSpan bytes) {
    const std::string name = "c" + std::to_string(++count_);
    model_.graph.initializers.push_back(onnx::make_tensor(name, dtype, shape, bytes));
    return name;
  }

  onnx::Model model_;
  Random random_;
  int count_ = 0;
};

std::string layer_norm(ModelBuilder& builder, const std::string& x) {
  std::vector<float> scale = builder.normals(kWidth, 0.3, 1.0);
  for (const std::size_t channel : kOutliers) {
    scale[channel] *= 0.2F;
  }
  return builder.op("LayerNormalization",
                    {x, builder.constant({kWidth}, scale),
                     builder.constant({kWidth}, builder.normals(kWidth, 0.1))});
}

std::string heads(ModelBuilder& builder, const std::string& x, double gain) {
  const auto depth = static_cast<std::int64_t>(kWidth / kHeads);
  const std::string split = builder.constant(
      {1, static_cast<std::int64_t>(kTokens), static_cast<std::int64_t>(kHeads), depth});
  const std::string parted = builder.op("Reshape", {builder.dense(x, kWidth, kWidth, gain), split});
  return builder.op("Transpose", {parted},
                    {onnx::make_attribute("perm", std::vector<std::int64_t>{0, 2, 1, 3})});
}

std::string attention(ModelBuilder& builder, const std::string& x, const std::string& mask) {
  const std::string query = heads(builder, x, 1.5);
  const std::string key = heads(builder, x, 1.5);
  const std::string value = heads(builder, x, 0.8);
  const std::string turned = builder.op(
      "Transpose", {key}, {onnx::make_attribute("perm", std::vector<std::int64_t>{0, 1, 3, 2})});
  const float scale = 1.0F / std::sqrt(static_cast<float>(kWidth) / static_cast<float>(kHeads));
  const std::string logits = builder.op(
      "Mul", {builder.op("MatMul", {query, turned}), builder.constant({}, std::vector{scale})});
  const std::string weights = builder.op("Softmax", {builder.op("Add", {logits, mask})});
  const std::string mixed =
      builder.op("Transpose", {builder.op("MatMul", {weights, value})},
                 {onnx::make_attribute("perm", std::vector<std::int64_t>{0, 2, 1, 3})});
  const std::string joined =
      builder.constant({1, static_cast<std::int64_t>(kTokens), static_cast<std::int64_t>(kWidth)});
  return builder.dense(builder.op("Reshape", {mixed, joined}), kWidth, kWidth, 1.0);
}

/// Weights as int8 codes at one scale per tensor.
struct Int8Weights {
  std::string value;
  float scale = 1.0F;
};

Int8Weights int8_weights(ModelBuilder& builder, std::size_t from, std::size_t to) {
  const std::vector<float> weights =
      builder.normals(from * to, 1.0 / std::sqrt(static_cast<double>(from)));
  float largest = 0.0F;
  for (const float weight : weights) {
    largest = std::max(largest, std::abs(weight));
  }
  const float scale = largest / 127.0F;
  std::vector<std::int8_t> codes(weights.size());
  for (std::size_t i = 0; i < codes.size(); ++i) {
    codes[i] = static_cast<std::int8_t>(std::lround(weights[i] / scale));
  }
  return {builder.op("DequantizeLinear",
                     {builder.constant({from, to}, codes), builder.constant({}, std::vector{scale}),
                      builder.constant({}, std::vector<std::int8_t>{0})}),
          scale};
}

/// A bias as int32 codes at the scale of the products, as quantising exporters store it.
std::string int32_bias(ModelBuilder& builder, std::size_t count, float scale) {
  std::vector<std::int32_t> codes(count);
  for (std::int32_t& code : codes) {
    code = static_cast<std::int32_t>(
        std::lround(0.1 * builder.random().normal() / static_cast<double>(scale)));
  }
  return builder.op("DequantizeLinear",
                    {builder.constant({count}, codes), builder.constant({}, std::vector{scale})});
}

std::string through_int8(ModelBuilder& builder, const std::string& x, float scale,
                         std::int8_t zero) {
  const std::string factor = builder.constant({}, std::vector{scale});
  const std::string offset = builder.constant({}, std::vector{zero});
  const std::string codes = builder.op("QuantizeLinear", {x, factor, offset});
  return builder.op("DequantizeLinear", {codes, factor, offset});
}

}  // namespace

io::onnx::Model layer_norm_transformer() {
  ModelBuilder builder("layer_norm_transformer");
  std::vector<float> causal(kTokens * kTokens, 0.0F);
  for (std::size_t i = 0; i < causal.size(); ++i) {
    causal[i] = i % kTokens > i / kTokens ? -10000.0F : 0.0F;
  }
  const std::string mask = builder.constant({1, 1, kTokens, kTokens}, causal);
  std::string x = "x";
  for (int block = 0; block < 4; ++block) {
    x = builder.op("Add", {x, attention(builder, layer_norm(builder, x), mask)});
    const std::string wide =
        builder.op("Gelu", {builder.dense(layer_norm(builder, x), kWidth, 4 * kWidth, 1.0)});
    x = builder.op("Add", {x, builder.dense(wide, 4 * kWidth, kWidth, 0.7)});
  }
  const std::string logits = builder.dense(layer_norm(builder, x), kWidth, 300, 2.0);
  return builder.finish({1, kTokens, kWidth}, builder.op("Softmax", {logits}), "probabilities");
}

io::onnx::Model quantised_perceptron() {
  ModelBuilder builder("quantised_perceptron");
  std::string x = "x";
  for (int layer = 0; layer < 5; ++layer) {
    const float scale = layer == 0 ? 0.03F : 0.02F;
    const std::string codes =
        through_int8(builder, x, scale, static_cast<std::int8_t>(layer == 0 ? 0 : -100));
    const Int8Weights weights = int8_weights(builder, 96, 96);
    const std::string product = builder.op("MatMul", {codes, weights.value});
    x = builder.op("Add", {product, int32_bias(builder, 96, scale * weights.scale)});
    x = layer < 4 ? builder.op("Relu", {x}) : builder.op("Softmax", {x});
  }
  return builder.finish({32, 96}, x, "y");
}

tensor::Tensor transformer_input() {
  Random random("transformer_input");
  std::vector<float> values(kTokens * kWidth);
  for (float& value : values) {
    value = static_cast<float>(random.normal());
  }
  constexpr float kStrength[] = {40.0F, 15.0F, 25.0F};
  for (std::size_t token = 0; token < kTokens; ++token) {
    for (std::size_t i = 0; i < std::size(kOutliers); ++i) {
      values[token * kWidth + kOutliers[i]] *= token == 0 ? 4.0F * kStrength[i] : kStrength[i];
    }
  }
  return make_floats({1, kTokens, kWidth}, std::move(values));
}

tensor::Tensor perceptron_input() {
  Random random("perceptron_input");
  std::vector<float> values(32 * 96);
  for (float& value : values) {
    value = static_cast<float>(random.normal());
  }
  return make_floats({32, 96}, std::move(values));
}

}  // namespace opdrift::evaluation
