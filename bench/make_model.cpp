// Makes a network whose values are as large as those of real detectors: make_model FILE BLOCKS
//
//   x [1, 64, 256, 256]   block: Conv 3 x 3 -> Relu -> Add to what went in
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

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: make_model FILE BLOCKS\n");
    return 2;
  }
  onnx::Model model = empty_model();
  const std::vector<onnx::Dim> dims = {{1, ""}, {kChannels, ""}, {kExtent, ""}, {kExtent, ""}};
  model.graph.inputs.push_back(onnx::make_value_info("x", 1, dims));
  std::uint32_t state = 1;
  std::string value = "x";
  const int blocks = std::atoi(argv[2]);
  for (int block = 0; block < blocks; ++block) {
    const std::string number = std::to_string(block);
    const std::vector<float> w = weights(kChannels * kChannels * 9, 0.03, state);
    model.graph.initializers.push_back(onnx::make_tensor("w" + number, opdrift::tensor::DType::f32,
                                                         {kChannels, kChannels, 3, 3},
                                                         std::as_bytes(std::span<const float>(w))));
    model.graph.nodes.push_back(
        onnx::make_node("Conv", "conv" + number, {value, "w" + number}, {"c" + number},
                        {onnx::make_attribute("pads", std::vector<std::int64_t>{1, 1, 1, 1})}));
    model.graph.nodes.push_back(
        onnx::make_node("Relu", "relu" + number, {"c" + number}, {"r" + number}));
    model.graph.nodes.push_back(
        onnx::make_node("Add", "add" + number, {value, "r" + number}, {"a" + number}));
    value = "a" + number;
  }
  model.graph.outputs.push_back(onnx::make_value_info(value, 1, dims));
  const auto written = onnx::write_model(argv[1], model);
  if (!written) {
    std::fprintf(stderr, "make_model: %s\n", written.error().to_string().c_str());
    return 1;
  }
  return 0;
}
