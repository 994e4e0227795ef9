#include "opdrift/engine/taps.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "opdrift/engine/import_domain.hpp"
#include "opdrift/io/onnx/writer.hpp"

namespace opdrift::engine {

namespace {

namespace onnx = io::onnx;

onnx::Node make_tap_node(std::string type, const std::string& name, std::size_t number,
                         std::vector<std::string> inputs, std::vector<std::string> outputs) {
  onnx::Node node =
      onnx::make_node(std::move(type), name, std::move(inputs), std::move(outputs),
                      {onnx::make_attribute(kTapNumber, static_cast<std::int64_t>(number))});
  node.domain = kTapDomain;
  return node;
}

bool makes_other_kinds(const onnx::Node& node) {
  const std::string& type = node.op_type;
  if (type.find("Sequence") != std::string::npos || type.starts_with("Optional") ||
      type == "ZipMap") {
    return true;
  }
  return std::any_of(
      node.attributes.begin(), node.attributes.end(), [](const onnx::Attribute& attribute) {
        return std::any_of(attribute.graphs.begin(), attribute.graphs.end(), [](const auto& body) {
          return std::any_of(body->nodes.begin(), body->nodes.end(), makes_other_kinds);
        });
      });
}

}  // namespace

std::string add_taps(onnx::Model& model, std::span<const Tap> taps) {
  std::string token;
  for (std::size_t i = 0; i < taps.size(); ++i) {
    std::vector<std::string> inputs = {taps[i].value};
    if (!token.empty() || !taps[i].beside.empty()) {
      inputs.push_back(token);
    }
    if (!taps[i].beside.empty()) {
      inputs.push_back(taps[i].beside);
    }
    token = "opdrift_tap/" + std::to_string(i);
    model.graph.nodes.push_back(make_tap_node(kTapType, token, i, std::move(inputs), {token}));
  }
  if (!token.empty()) {
    import_domain(model, kTapDomain);
    model.graph.outputs.push_back(onnx::make_value_info(token));
  }
  return token;
}

void add_sources(onnx::Model& model, std::span<const Source> sources) {
  std::vector<onnx::Node> nodes;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const Source& source = sources[i];
    nodes.push_back(make_tap_node(source_type(source.element_type),
                                  source.value + "/opdrift_source", i, {}, {source.value}));
    std::vector<onnx::Dim> dims;
    for (const std::uint64_t extent : source.shape) {
      dims.push_back({extent, ""});
    }
    model.graph.value_infos.push_back(
        onnx::make_value_info(source.value, source.element_type, dims));
  }
  if (!nodes.empty()) {
    import_domain(model, kTapDomain);
  }
  std::vector<onnx::Node>& all = model.graph.nodes;
  all.insert(all.begin(), std::make_move_iterator(nodes.begin()),
             std::make_move_iterator(nodes.end()));
}

std::span<const int> tappable_types() {
  static constexpr std::array<int, 14> kTypes = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16};
  return kTypes;
}

bool tappable(int element_type) {
  const std::span<const int> types = tappable_types();
  return std::find(types.begin(), types.end(), element_type) != types.end();
}

bool may_hold_other_kinds(const onnx::Model& model) {
  const onnx::Graph& graph = model.graph;
  return !model.functions.empty() ||
         std::any_of(
             graph.inputs.begin(), graph.inputs.end(),
             [](const onnx::ValueInfo& info) { return info.kind != onnx::ValueKind::tensor; }) ||
         std::any_of(graph.nodes.begin(), graph.nodes.end(), makes_other_kinds);
}

std::string source_type(int element_type) {
  return "Source" + std::to_string(element_type);
}

}  // namespace opdrift::engine
