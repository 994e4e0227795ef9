#include "simplify.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "opdrift/io/onnx/tensor_data.hpp"
#include "opdrift/io/onnx/writer.hpp"

namespace opdrift::evaluation {

namespace {

namespace onnx = io::onnx;

template <typename T>
onnx::Tensor list_tensor(const std::string& name, tensor::DType dtype, const std::vector<T>& values,
                         const tensor::Shape& shape) {
  return onnx::make_tensor(name, dtype, shape, std::as_bytes(std::span<const T>(values)));
}

Result<onnx::Tensor> constant_of(const onnx::Node& node) {
  const std::string& name = node.outputs.front();
  for (const onnx::Attribute& attribute : node.attributes) {
    if (attribute.tensor) {
      OPDRIFT_TRY(const tensor::Tensor loaded, onnx::load(*attribute.tensor, "."));
      return onnx::make_tensor(name, loaded.desc.dtype, loaded.desc.shape, loaded.bytes.span);
    }
    using onnx::AttributeType;
    switch (attribute.type) {
      case AttributeType::real:
        return list_tensor(name, tensor::DType::f32, std::vector{attribute.real}, {});
      case AttributeType::integer:
        return list_tensor(name, tensor::DType::i64, std::vector{attribute.integer}, {});
      case AttributeType::reals:
        return list_tensor(name, tensor::DType::f32, attribute.reals, {attribute.reals.size()});
      case AttributeType::integers:
        return list_tensor(name, tensor::DType::i64, attribute.integers,
                           {attribute.integers.size()});
      default: break;
    }
  }
  return Error{ErrorCode::unsupported, "constant without a numeric value", node.name};
}

Status constants_to_initializers(onnx::Graph& graph) {
  std::vector<onnx::Node> kept;
  for (onnx::Node& node : graph.nodes) {
    if (node.op_type != "Constant") {
      kept.push_back(std::move(node));
      continue;
    }
    OPDRIFT_TRY(onnx::Tensor constant, constant_of(node));
    graph.initializers.push_back(std::move(constant));
  }
  graph.nodes = std::move(kept);
  return Unit{};
}

Result<bool> taken(engine::Runtime& runtime, const onnx::Model& model, const std::string& condition,
                   const std::vector<engine::NamedTensor>& inputs) {
  for (const onnx::Tensor& constant : model.graph.initializers) {
    if (constant.name == condition) {
      OPDRIFT_TRY(const tensor::Tensor value, onnx::load(constant, "."));
      return !value.bytes.span.empty() && value.bytes.span[0] != std::byte{0};
    }
  }
  onnx::Model probe = model;
  const std::vector<std::string> wanted = {condition};
  engine::expose(probe, wanted);
  OPDRIFT_TRY(const auto session, engine::open_model(runtime, {probe, "."}, {.threads = 1}));
  OPDRIFT_TRY(const auto values, session->run(inputs, wanted));
  if (values.empty() || !values[0].tensor || values[0].tensor->bytes.span.empty()) {
    return Error{ErrorCode::unsupported, "the condition of an If is no tensor", condition};
  }
  return values[0].tensor->bytes.span[0] != std::byte{0};
}

/// Puts the nodes of `branch` in the place of the If at `position`.
Status inline_branch(onnx::Graph& graph, std::size_t position, const onnx::Graph& branch) {
  const onnx::Node replaced = graph.nodes[position];
  onnx::Graph inner = branch;
  OPDRIFT_CHECK_OK(constants_to_initializers(inner));
  for (std::size_t i = 0; i < inner.outputs.size() && i < replaced.outputs.size(); ++i) {
    inner.nodes.push_back(
        onnx::make_node("Identity", "", {inner.outputs[i].name}, {replaced.outputs[i]}));
  }
  const auto at = graph.nodes.begin() + static_cast<std::ptrdiff_t>(position);
  graph.nodes.insert(graph.nodes.erase(at), std::make_move_iterator(inner.nodes.begin()),
                     std::make_move_iterator(inner.nodes.end()));
  std::move(inner.initializers.begin(), inner.initializers.end(),
            std::back_inserter(graph.initializers));
  return Unit{};
}

Status inline_ifs(engine::Runtime& runtime, onnx::Model& model,
                  const std::vector<engine::NamedTensor>& inputs) {
  for (;;) {
    std::vector<onnx::Node>& nodes = model.graph.nodes;
    const auto found = std::find_if(nodes.begin(), nodes.end(), [](const onnx::Node& node) {
      return node.op_type == "If" && node.domain.empty();
    });
    if (found == nodes.end()) {
      return Unit{};
    }
    OPDRIFT_TRY(const bool yes, taken(runtime, model, found->inputs.at(0), inputs));
    const onnx::Attribute* branch = found->attribute(yes ? "then_branch" : "else_branch");
    if (branch == nullptr || branch->graphs.empty()) {
      return Error{ErrorCode::malformed, "an If without branches", found->name};
    }
    const auto body = branch->graphs.front();
    OPDRIFT_CHECK_OK(
        inline_branch(model.graph, static_cast<std::size_t>(found - nodes.begin()), *body));
  }
}

void drop_identities(onnx::Graph& graph) {
  std::unordered_set<std::string> outputs;
  for (const onnx::ValueInfo& output : graph.outputs) {
    outputs.insert(output.name);
  }
  std::unordered_map<std::string, std::string> renamed;
  std::vector<onnx::Node> kept;
  for (onnx::Node& node : graph.nodes) {
    for (std::string& input : node.inputs) {
      if (const auto found = renamed.find(input); found != renamed.end()) {
        input = found->second;
        node.message = {};
      }
    }
    if (node.op_type == "Identity" && !outputs.contains(node.outputs.at(0))) {
      renamed.emplace(node.outputs[0], node.inputs.at(0));
    } else {
      kept.push_back(std::move(node));
    }
  }
  graph.nodes = std::move(kept);
}

void drop_unread(onnx::Graph& graph) {
  std::unordered_set<std::string> needed;
  for (const onnx::ValueInfo& output : graph.outputs) {
    needed.insert(output.name);
  }
  std::vector<onnx::Node> live;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    if (std::any_of(node->outputs.begin(), node->outputs.end(),
                    [&](const std::string& output) { return needed.contains(output); })) {
      needed.insert(node->inputs.begin(), node->inputs.end());
      live.push_back(std::move(*node));
    }
  }
  std::reverse(live.begin(), live.end());
  graph.nodes = std::move(live);
  std::erase_if(graph.initializers,
                [&](const onnx::Tensor& tensor) { return !needed.contains(tensor.name); });
  std::unordered_set<std::string_view> constants;
  for (const onnx::Tensor& tensor : graph.initializers) {
    constants.insert(tensor.name);
  }
  std::erase_if(graph.inputs, [&](const onnx::ValueInfo& info) {
    return constants.contains(info.name) || !needed.contains(info.name);
  });
  graph.value_infos.clear();
}

}  // namespace

Result<io::onnx::Model> simplified(engine::Runtime& runtime, io::onnx::Model model,
                                   const std::vector<engine::NamedTensor>& inputs) {
  OPDRIFT_CHECK_OK(constants_to_initializers(model.graph));
  OPDRIFT_CHECK_OK(inline_ifs(runtime, model, inputs));
  drop_identities(model.graph);
  drop_unread(model.graph);
  engine::name_nodes(model);
  return model;
}

}  // namespace opdrift::evaluation
