// Makes a network whose values are as large as those of real ones: make_model FILE BLOCKS [KIND]
//
//   convolutions   x [1, 64, 256, 256]   block: Conv 3 x 3 -> Relu -> Add to what went in
//   overflowing    the same, whose values leave the range of fp16 after some 36 blocks
//   transformer    x [1, 1024, 768]      block: attention of one head and a gated layer of 3072
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "opdrift/base/protobuf_cursor.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"
#include "opdrift/io/onnx/writer.hpp"

namespace {

namespace onnx = opdrift::io::onnx;

constexpr std::uint64_t kChannels = 64;
constexpr std::uint64_t kExtent = 256;
constexpr std::uint64_t kTokens = 1024;
constexpr std::uint64_t kWidth = 768;
constexpr std::uint64_t kIrVersion = 8;
constexpr std::uint64_t kOpset = 17;

onnx::Model empty_model() {
  onnx::Model model;
  model.ir_version = static_cast<std::int64_t>(kIrVersion);
  model.opsets.push_back({"", static_cast<std::int64_t>(kOpset)});
  opdrift::io::ProtobufField version;
  version.number = 1;
  version.type = opdrift::io::WireType::varint;
  version.value = kIrVersion;
  model.unknown.push_back({version, nullptr});
  opdrift::io::ProtobufWriter opset;
  opset.varint(2, kOpset);
  const opdrift::Bytes bytes = opdrift::own_bytes(opset.take());
  opdrift::io::ProtobufField imports;
  imports.number = 8;
  imports.type = opdrift::io::WireType::bytes;
  imports.bytes = bytes.span;
  model.unknown.push_back({imports, bytes.owner});
  model.graph.name = "large";
  return model;
}

/// Sums of twelve uniform numbers, near enough to normal ones.
std::vector<float> weights(std::size_t count, double deviation, std::uint32_t& state) {
  std::vector<float> values(count);
  for (float& value : values) {
    double sum = -6.0;
    for (int i = 0; i < 12; ++i) {
      state = state * 1664525U + 1013904223U;
      sum += static_cast<double>(state >> 8U) / 16777216.0;
    }
    value = static_cast<float>(deviation * sum);
  }
  return values;
}

/// A network that grows by one operator at a time.
class Maker {
 public:
  onnx::Model model = empty_model();

  std::string weight(const std::string& name, const opdrift::tensor::Shape& shape,
                     double deviation) {
    std::size_t count = 1;
    for (const std::uint64_t extent : shape) {
      count *= extent;
    }
    const std::vector<float> values = weights(count, deviation, state_);
    model.graph.initializers.push_back(onnx::make_tensor(
        name, opdrift::tensor::DType::f32, shape, std::as_bytes(std::span<const float>(values))));
    return name;
  }

  std::string op(const std::string& type, const std::string& name,
                 const std::vector<std::string>& inputs,
                 const std::vector<onnx::Attribute>& attributes = {}) {
    model.graph.nodes.push_back(onnx::make_node(type, name, inputs, {name + "_out"}, attributes));
    return name + "_out";
  }

 private:
  std::uint32_t state_ = 1;
};

std::string convolution_block(Maker& net, const std::string& x, const std::string& number,
                              double deviation) {
  const std::string w = net.weight("w" + number, {kChannels, kChannels, 3, 3}, deviation);
  const std::string c =
      net.op("Conv", "conv" + number, {x, w},
             {onnx::make_attribute("pads", std::vector<std::int64_t>{1, 1, 1, 1})});
  return net.op("Add", "add" + number, {x, net.op("Relu", "relu" + number, {c})});
}

std::string transformer_block(Maker& net, const std::string& x, const std::string& number) {
  const auto dense = [&](const std::string& name, const std::string& input, std::uint64_t rows,
                         std::uint64_t columns, double deviation) {
    return net.op("MatMul", name + number,
                  {input, net.weight("w_" + name + number, {rows, columns}, deviation)});
  };
  const auto normal = [&](const std::string& name, const std::string& input) {
    return net.op("LayerNormalization", name + number,
                  {input, net.weight("w_" + name + number, {kWidth}, 1.0)});
  };
  const std::string h = normal("norm1_", x);
  const std::string q = dense("q", h, kWidth, kWidth, 0.01);
  const std::string k = dense("k", h, kWidth, kWidth, 0.01);
  const std::string v = dense("v", h, kWidth, kWidth, 0.03);
  const std::string turned =
      net.op("Transpose", "turn" + number, {k},
             {onnx::make_attribute("perm", std::vector<std::int64_t>{0, 2, 1})});
  const std::string scores = net.op("MatMul", "scores" + number, {q, turned});
  const std::string shares = net.op("Softmax", "softmax" + number, {scores});
  const std::string seen = net.op("MatMul", "seen" + number, {shares, v});
  const std::string middle = net.op("Add", "add1_" + number, {x, seen});
  const std::string wide = dense("up", normal("norm2_", middle), kWidth, 4 * kWidth, 0.03);
  const std::string gate = net.op("Sigmoid", "sigmoid" + number, {wide});
  const std::string gated = net.op("Mul", "gate" + number, {wide, gate});
  return net.op("Add", "add2_" + number, {middle, dense("down", gated, 4 * kWidth, kWidth, 0.01)});
}

}  // namespace

int main(int argc, char** argv) {
  const bool transformer = argc == 4 && std::string(argv[3]) == "transformer";
  const bool overflowing = argc == 4 && std::string(argv[3]) == "overflowing";
  if (argc != 3 && !transformer && !overflowing) {
    std::fprintf(stderr, "usage: make_model FILE BLOCKS [transformer|overflowing]\n");
    return 2;
  }
  Maker net;
  const std::vector<onnx::Dim> image = {{1, ""}, {kChannels, ""}, {kExtent, ""}, {kExtent, ""}};
  const std::vector<onnx::Dim> sequence = {{1, ""}, {kTokens, ""}, {kWidth, ""}};
  const std::vector<onnx::Dim>& dims = transformer ? sequence : image;
  net.model.graph.inputs.push_back(onnx::make_value_info("x", 1, dims));
  std::string value = "x";
  const int blocks = std::atoi(argv[2]);
  // Every block adds its share to what went in: those of many stay within the range of fp16 when
  // the shares are smaller.
  constexpr double kDeviation = 0.03;
  constexpr int kFullBlocks = 24;
  const double deviation =
      overflowing ? kDeviation : kDeviation * kFullBlocks / std::max(blocks, kFullBlocks);
  for (int block = 0; block < blocks; ++block) {
    const std::string number = std::to_string(block);
    value = transformer ? transformer_block(net, value, number)
                        : convolution_block(net, value, number, deviation);
  }
  net.model.graph.outputs.push_back(onnx::make_value_info(value, 1, dims));
  const auto written = onnx::write_model(argv[1], net.model);
  if (!written) {
    std::fprintf(stderr, "make_model: %s\n", written.error().to_string().c_str());
    return 1;
  }
  return 0;
}
