#include "opdrift/engine/optimised_model.hpp"

#include <memory>
#include <unordered_set>
#include <utility>

namespace opdrift::engine {

namespace {

namespace onnx = io::onnx;

/// Returns whether anything was dropped.
bool drop_repeated_constants(onnx::Graph& graph);

bool drop_in_bodies(onnx::Node& node) {
  bool dropped = false;
  for (onnx::Attribute& attribute : node.attributes) {
    for (std::shared_ptr<const onnx::Graph>& body : attribute.graphs) {
      auto edited = std::make_shared<onnx::Graph>(*body);
      if (drop_repeated_constants(*edited)) {
        body = std::move(edited);
        attribute.message = {};
        node.message = {};
        dropped = true;
      }
    }
  }
  return dropped;
}

bool drop_repeated_constants(onnx::Graph& graph) {
  std::unordered_set<std::string> names;
  bool dropped = std::erase_if(graph.initializers, [&](const onnx::Tensor& constant) {
                   return !names.insert(constant.name).second;
                 }) > 0;
  for (onnx::Node& node : graph.nodes) {
    dropped = drop_in_bodies(node) || dropped;
  }
  return dropped;
}

}  // namespace

Result<onnx::Model> open_optimised_model(const std::string& path) {
  OPDRIFT_TRY(onnx::Model model, onnx::open_model(path));
  drop_repeated_constants(model.graph);
  return model;
}

}  // namespace opdrift::engine
