#include "opdrift/engine/instrument.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "opdrift/io/onnx/graph.hpp"
#include "opdrift/io/onnx/writer.hpp"

namespace opdrift::engine {

namespace {

namespace onnx = io::onnx;

void collect_captured(const onnx::Graph& body, std::unordered_set<std::string>& known,
                      std::vector<std::string>& captured) {
  std::unordered_set<std::string> local = known;
  for (const onnx::ValueInfo& input : body.inputs) {
    local.insert(input.name);
  }
  for (const std::string_view name : initializer_names(body)) {
    local.emplace(name);
  }
  for (const onnx::Node& node : body.nodes) {
    local.insert(node.outputs.begin(), node.outputs.end());
  }
  const auto read = [&](const std::string& name) {
    if (!name.empty() && !local.contains(name)) {
      captured.push_back(name);
    }
  };
  for (const onnx::Node& node : body.nodes) {
    std::for_each(node.inputs.begin(), node.inputs.end(), read);
    for (const onnx::Attribute& attribute : node.attributes) {
      for (const auto& inner : attribute.graphs) {
        collect_captured(*inner, local, captured);
      }
    }
  }
  for (const onnx::ValueInfo& output : body.outputs) {
    read(output.name);
  }
}

using ProducerMap = std::unordered_map<std::string_view, std::size_t>;

ProducerMap producers_of(const onnx::Graph& graph) {
  ProducerMap producers;
  for (const NodeOutput& output : node_outputs(graph)) {
    producers.emplace(graph.nodes[output.node].outputs[output.index], output.node);
  }
  return producers;
}

/// Walks back through `original` from the outputs of one optimised node.
class OriginWalk {
 public:
  OriginWalk(const onnx::Graph& optimized, const onnx::Graph& original)
      : original_(original),
        kept_(producers_of(optimized)),
        producers_(producers_of(original)),
        visited_by_(original.nodes.size(), 0) {}

  std::vector<std::size_t> originals(const onnx::Node& node) {
    ++walk_;
    std::vector<std::size_t> found;
    std::vector<std::size_t> open;
    for (const std::string& output : node.outputs) {
      visit(output, found, open);
    }
    while (!open.empty()) {
      const onnx::Node& next = original_.nodes[open.back()];
      open.pop_back();
      step_back(next, found, open);
    }
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  void step_back(const onnx::Node& node, std::vector<std::size_t>& found,
                 std::vector<std::size_t>& open) {
    std::vector<std::string> read = captured_values(node);
    read.insert(read.end(), node.inputs.begin(), node.inputs.end());
    for (const std::string& name : read) {
      if (!kept_.contains(name)) {
        visit(name, found, open);
      }
    }
  }

  void visit(const std::string& value, std::vector<std::size_t>& found,
             std::vector<std::size_t>& open) {
    const auto producer = producers_.find(value);
    if (producer == producers_.end() || visited_by_[producer->second] == walk_ ||
        original_.nodes[producer->second].op_type == "Constant") {
      return;
    }
    visited_by_[producer->second] = walk_;
    found.push_back(producer->second);
    open.push_back(producer->second);
  }

  const onnx::Graph& original_;
  ProducerMap kept_;
  ProducerMap producers_;
  std::vector<std::size_t> visited_by_;
  std::size_t walk_ = 0;
};

}  // namespace

std::size_t name_nodes(onnx::Model& model) {
  std::vector<std::string> names = onnx::node_names(model.graph);
  std::size_t nameless = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    onnx::Node& node = model.graph.nodes[i];
    if (node.name.empty()) {
      node.name = std::move(names[i]);
      node.message = {};
      ++nameless;
    }
  }
  return nameless;
}

void expose(onnx::Model& model, std::span<const std::string> values) {
  model.graph.outputs.clear();
  for (const std::string& value : values) {
    model.graph.outputs.push_back(onnx::make_value_info(value));
  }
}

void fix_input_shapes(onnx::Model& model, std::span<const NamedTensor> inputs) {
  for (onnx::ValueInfo& info : model.graph.inputs) {
    for (const NamedTensor& input : inputs) {
      if (input.name == info.name) {
        std::vector<onnx::Dim> dims;
        for (const std::uint64_t extent : input.tensor.desc.shape) {
          dims.push_back({extent, ""});
        }
        info = onnx::make_value_info(info.name, info.element_type, dims);
        break;
      }
    }
  }
}

std::vector<NodeOutput> node_outputs(const onnx::Graph& graph) {
  std::vector<NodeOutput> outputs;
  for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
    const std::vector<std::string>& names = graph.nodes[node].outputs;
    for (std::size_t index = 0; index < names.size(); ++index) {
      if (!names[index].empty()) {
        outputs.push_back({node, index, names[index]});
      }
    }
  }
  return outputs;
}

std::vector<std::string> captured_values(const onnx::Node& node) {
  std::vector<std::string> captured;
  std::unordered_set<std::string> known;
  for (const onnx::Attribute& attribute : node.attributes) {
    for (const auto& body : attribute.graphs) {
      collect_captured(*body, known, captured);
    }
  }
  return captured;
}

std::vector<std::vector<std::size_t>> originals_of(const onnx::Graph& optimized,
                                                   const onnx::Graph& original) {
  OriginWalk walk(optimized, original);
  std::vector<std::vector<std::size_t>> all;
  all.reserve(optimized.nodes.size());
  for (const onnx::Node& node : optimized.nodes) {
    all.push_back(walk.originals(node));
  }
  return all;
}

void rename_added(onnx::Graph& optimized, const onnx::Graph& original,
                  const std::vector<std::vector<std::size_t>>& originals) {
  std::unordered_set<std::string_view> names;
  for (const onnx::Node& node : original.nodes) {
    names.insert(node.name);
  }
  for (std::size_t i = 0; i < optimized.nodes.size(); ++i) {
    onnx::Node& node = optimized.nodes[i];
    if (originals[i].empty() && names.contains(node.name)) {
      node.name += "/rewritten";
      node.message = {};
    }
  }
}

Result<std::unique_ptr<Session>> open_model(Runtime& runtime, const PlacedModel& placed,
                                            SessionOptions options) {
  OPDRIFT_TRY(const onnx::EncodedModel encoded, onnx::encode(placed.model));
  const std::vector<std::byte> bytes = encoded.flatten();
  options.external_folder = placed.folder;
  return runtime.open({bytes.data(), bytes.size()}, options);
}

}  // namespace opdrift::engine
