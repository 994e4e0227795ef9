#include "opdrift/engine/damage.hpp"

#include <cstring>
#include <utility>
#include <vector>

#include "opdrift/base/text.hpp"
#include "opdrift/io/onnx/graph.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"

namespace opdrift::engine {

namespace {

namespace onnx = io::onnx;

constexpr int kFloat = 1;  // TensorProto.FLOAT

/// Where a constant is kept: among the initializers, or in a Constant node.
struct ConstantPlace {
  onnx::Tensor* tensor = nullptr;
  onnx::Node* node = nullptr;
  onnx::Attribute* attribute = nullptr;
};

std::optional<ConstantPlace> find_constant(onnx::Graph& graph, const std::string& name) {
  for (onnx::Tensor& tensor : graph.initializers) {
    if (tensor.name == name && tensor.data_type == kFloat) {
      return ConstantPlace{&tensor, nullptr, nullptr};
    }
  }
  for (onnx::Node& node : graph.nodes) {
    if (node.op_type != "Constant" || node.outputs.empty() || node.outputs.front() != name) {
      continue;
    }
    for (onnx::Attribute& attribute : node.attributes) {
      if (attribute.tensor && attribute.tensor->data_type == kFloat) {
        return ConstantPlace{&*attribute.tensor, &node, &attribute};
      }
    }
  }
  return std::nullopt;
}

/// Positions of nodes with a constant f32 at this input.
std::vector<std::size_t> candidates(onnx::Graph& graph, const std::vector<std::string>& names,
                                    const DamageOptions& options) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const onnx::Node& node = graph.nodes[i];
    const bool wanted = options.node.empty() ? node.op_type == "Conv" : names[i] == options.node;
    if (wanted && node.inputs.size() > options.input &&
        find_constant(graph, node.inputs[options.input])) {
      found.push_back(i);
    }
  }
  return found;
}

std::vector<std::byte> scaled(const tensor::Tensor& tensor, std::uint64_t channel, float factor,
                              std::uint64_t per_channel) {
  std::vector<std::byte> bytes(tensor.bytes.span.begin(), tensor.bytes.span.end());
  for (std::uint64_t i = channel * per_channel; i < (channel + 1) * per_channel; ++i) {
    float value = 0;
    std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
    value *= factor;
    std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
  }
  return bytes;
}

}  // namespace

Result<Damage> damage_weight(onnx::Model& model, const std::string& folder,
                             const DamageOptions& options) {
  const std::vector<std::string> names = onnx::node_names(model.graph);
  const std::vector<std::size_t> found = candidates(model.graph, names, options);
  if (found.empty()) {
    return Error{ErrorCode::not_found,
                 options.node.empty() ? "expected a Conv with constant float weights, found none"
                                      : "expected a node '" + printable(options.node) +
                                            "' with constant floats at input " +
                                            std::to_string(options.input) + ", found none"};
  }
  const std::size_t position = found[found.size() / 2];
  const std::string name = model.graph.nodes[position].inputs[options.input];
  const std::optional<ConstantPlace> place = find_constant(model.graph, name);
  OPDRIFT_TRY(const tensor::Tensor weight, onnx::load(*place->tensor, folder));
  const tensor::Shape& shape = weight.desc.shape;
  if (shape.empty() || options.channel >= shape.front()) {
    return Error{ErrorCode::out_of_range, "channel " + std::to_string(options.channel) +
                                              " of a weight of shape (" + tensor::to_string(shape) +
                                              ")"};
  }
  OPDRIFT_TRY(const std::uint64_t count, tensor::element_count(shape));
  const std::uint64_t per_channel = count / shape.front();
  *place->tensor = onnx::make_tensor(place->tensor->name, tensor::DType::f32, shape,
                                     scaled(weight, options.channel, options.factor, per_channel));
  if (place->node != nullptr) {
    place->node->message = {};
    place->attribute->message = {};
  }
  return Damage{names[position], name, per_channel};
}

}  // namespace opdrift::engine
