#include "opdrift/diagnose/on_the_fly/dump_inputs.hpp"

#include <functional>
#include <string>
#include <utility>

#include "opdrift/io/onnx/graph.hpp"
#include "opdrift/match/name_match.hpp"
#include "opdrift/pipeline/align_pair.hpp"

namespace opdrift::diagnose {

namespace {

using pipeline::IndexedTensor;

class InputFinder {
 public:
  InputFinder(const io::onnx::Graph& graph, const pipeline::DumpIndex& dump)
      : graph_(graph), dump_(dump), names_(io::onnx::node_names(graph)) {}

  const IndexedTensor* find(const std::string& input) const {
    const std::string loose = match::normalise(input);
    const std::function<bool(const IndexedTensor&)> rules[] = {
        [&](const IndexedTensor& t) { return t.name.tensor_name == input; },
        [&](const IndexedTensor& t) { return is_value(t) && t.name.operator_name == input; },
        [&](const IndexedTensor& t) {
          return is_value(t) && match::normalise(t.name.operator_name) == loose;
        },
        [&](const IndexedTensor& t) { return is_read_as(t, input); },
    };
    for (const auto& rule : rules) {
      for (const IndexedTensor& tensor : dump_.tensors) {
        if (tensor.name.step == dump_.tensors.front().name.step && rule(tensor)) {
          return &tensor;
        }
      }
    }
    return nullptr;
  }

 private:
  static bool is_value(const IndexedTensor& tensor) {
    return tensor.name.output && tensor.name.index == 0;
  }

  bool is_read_as(const IndexedTensor& tensor, const std::string& input) const {
    if (tensor.name.output) {
      return false;
    }
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const std::vector<std::string>& inputs = graph_.nodes[i].inputs;
      if (tensor.name.index < inputs.size() && inputs[tensor.name.index] == input &&
          match::normalise(tensor.name.operator_name) == match::normalise(names_[i])) {
        return true;
      }
    }
    return false;
  }

  const io::onnx::Graph& graph_;
  const pipeline::DumpIndex& dump_;
  std::vector<std::string> names_;
};

}  // namespace

std::vector<engine::InputTensor> inputs_in_dump(const io::onnx::Graph& graph,
                                                const pipeline::DumpIndex& dump) {
  const InputFinder finder(graph, dump);
  std::vector<engine::InputTensor> found;
  for (const io::onnx::ValueInfo* input : engine::required_inputs(graph)) {
    const IndexedTensor* tensor = finder.find(input->name);
    if (tensor == nullptr) {
      continue;
    }
    const auto loaded = pipeline::load(*tensor);
    auto view = loaded ? pipeline::logical_view(*loaded) : Result<tensor::View>(loaded.error());
    if (view) {
      found.push_back({input->name, std::move(*view), tensor->path, "the dump " + tensor->path});
    }
  }
  return found;
}

}  // namespace opdrift::diagnose
