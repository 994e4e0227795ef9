#include "opdrift/engine/surgery/inline_branches.hpp"

#include <algorithm>
#include <memory>
#include <unordered_set>
#include <utility>
#include <vector>

#include "opdrift/io/onnx/tensor_data.hpp"
#include "opdrift/io/onnx/writer.hpp"

namespace opdrift::engine {

namespace {

namespace onnx = io::onnx;
using Names = std::unordered_set<std::string>;

constexpr std::size_t kMostBranches = 10'000;

Names made_names(const onnx::Graph& graph) {
  Names names;
  for (const onnx::Node& node : graph.nodes) {
    names.insert(node.outputs.begin(), node.outputs.end());
  }
  for (const std::string_view name : initializer_names(graph)) {
    names.emplace(name);
  }
  names.erase("");
  return names;
}

bool is_if(const onnx::Node& node) {
  return node.op_type == "If" && (node.domain.empty() || node.domain == "ai.onnx") &&
         node.inputs.size() == 1 && !node.outputs.empty();
}

/// The branch that runs; nullptr when it cannot take the node's place.
std::shared_ptr<const onnx::Graph> usable_branch(const onnx::Graph& graph, const onnx::Node& node,
                                                 bool condition) {
  const onnx::Attribute* attribute = node.attribute(condition ? "then_branch" : "else_branch");
  if (attribute == nullptr || attribute->graphs.size() != 1) {
    return nullptr;
  }
  std::shared_ptr<const onnx::Graph> branch = attribute->graphs.front();
  Names outer = made_names(graph);
  for (const onnx::ValueInfo& input : graph.inputs) {
    outer.insert(input.name);
  }
  const Names inner = made_names(*branch);
  const bool clash = std::any_of(inner.begin(), inner.end(),
                                 [&](const std::string& name) { return outer.contains(name); });
  const bool fits = branch->inputs.empty() && branch->sparse_initializers.empty() &&
                    branch->outputs.size() == node.outputs.size();
  return fits && !clash ? branch : nullptr;
}

void replace_node(onnx::Graph& graph, std::size_t position, const onnx::Graph& branch) {
  const onnx::Node node = std::move(graph.nodes[position]);
  std::vector<onnx::Node> nodes(branch.nodes);
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (!node.outputs[i].empty()) {
      nodes.push_back(onnx::make_node("Identity", node.name + "/" + node.outputs[i],
                                      {branch.outputs[i].name}, {node.outputs[i]}));
    }
  }
  const auto place = graph.nodes.begin() + static_cast<std::ptrdiff_t>(position);
  graph.nodes.insert(graph.nodes.erase(place), std::make_move_iterator(nodes.begin()),
                     std::make_move_iterator(nodes.end()));
  graph.initializers.insert(graph.initializers.end(), branch.initializers.begin(),
                            branch.initializers.end());
  graph.value_infos.insert(graph.value_infos.end(), branch.value_infos.begin(),
                           branch.value_infos.end());
}

std::optional<bool> as_bool(const tensor::Tensor& tensor) {
  return tensor.bytes.size() == 1 ? std::optional(tensor.bytes.span[0] != std::byte{0})
                                  : std::nullopt;
}

/// A condition by running the model up to it; nothing when that fails.
std::optional<bool> computed(Runtime& runtime, const onnx::Model& model, const std::string& folder,
                             const std::vector<NamedTensor>& inputs, const std::string& value) {
  const std::vector<std::string> names = {value};
  PlacedModel shown{model, folder};
  expose(shown.model, names);
  const auto session = open_model(runtime, shown, {});
  if (!session) {
    return std::nullopt;
  }
  const auto values = (*session)->run(inputs, names);
  return values && values->front().tensor ? as_bool(*values->front().tensor) : std::nullopt;
}

}  // namespace

Result<std::size_t> inline_taken_branches(Runtime& runtime, PlacedModel& placed,
                                          const std::vector<NamedTensor>& inputs) {
  const ConditionValue condition = [&](const onnx::Model& model,
                                       const std::string& value) -> Result<std::optional<bool>> {
    for (const NamedTensor& input : inputs) {
      if (input.name == value) {
        return as_bool(input.tensor);
      }
    }
    for (const onnx::Tensor& constant : model.graph.initializers) {
      if (constant.name == value) {
        OPDRIFT_TRY(const tensor::Tensor loaded, onnx::load(constant, placed.folder));
        return as_bool(loaded);
      }
    }
    return computed(runtime, model, placed.folder, inputs, value);
  };
  return inline_branches(placed.model, condition);
}

Result<std::size_t> inline_branches(onnx::Model& model, const ConditionValue& condition) {
  onnx::Graph& graph = model.graph;
  std::size_t replaced = 0;
  std::size_t position = 0;
  while (position < graph.nodes.size()) {
    if (!is_if(graph.nodes[position])) {
      ++position;
      continue;
    }
    OPDRIFT_TRY(const std::optional<bool> value,
                condition(model, graph.nodes[position].inputs.front()));
    const auto branch = value ? usable_branch(graph, graph.nodes[position], *value) : nullptr;
    if (!branch) {
      ++position;
      continue;
    }
    if (++replaced > kMostBranches) {
      return Error{ErrorCode::limit, "expected at most 10000 If operators within each other"};
    }
    replace_node(graph, position, *branch);  // its nodes are looked at next
  }
  return replaced;
}

}  // namespace opdrift::engine
