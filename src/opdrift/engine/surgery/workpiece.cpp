#include "opdrift/engine/surgery/workpiece.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "opdrift/base/text.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/io/onnx/graph.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"

namespace opdrift::engine {

namespace {

namespace onnx = io::onnx;
using tensor::DType;

constexpr std::int64_t kFirstIrWithFreeInitializers = 4;

template <typename T>
onnx::Tensor numbers(const std::string& name, DType dtype, const tensor::Shape& shape,
                     const std::vector<T>& values) {
  return onnx::make_tensor(name, dtype, shape, std::as_bytes(std::span(values)));
}

/// The value of a Constant node as an initializer; nothing for sparse values and nonsense.
std::optional<onnx::Tensor> constant_of(const onnx::Node& node) {
  if (node.op_type != "Constant" || node.outputs.size() != 1 || node.attributes.size() != 1) {
    return std::nullopt;
  }
  const std::string& name = node.outputs.front();
  const onnx::Attribute& value = node.attributes.front();
  const auto count = [](const auto& list) { return tensor::Shape{list.size()}; };
  if (value.tensor) {
    const Result<onnx::Tensor> tensor = renamed(*value.tensor, name);
    return tensor ? std::optional(*tensor) : std::nullopt;
  }
  if (value.name == "value_float") {
    return numbers(name, DType::f32, {}, std::vector<float>{value.real});
  }
  if (value.name == "value_floats") {
    return numbers(name, DType::f32, count(value.reals), value.reals);
  }
  if (value.name == "value_int") {
    return numbers(name, DType::i64, {}, std::vector<std::int64_t>{value.integer});
  }
  if (value.name == "value_ints") {
    return numbers(name, DType::i64, count(value.integers), value.integers);
  }
  if (value.name == "value_string") {
    return onnx::make_text_tensor(name, {}, {value.text});
  }
  if (value.name == "value_strings") {
    return onnx::make_text_tensor(name, count(value.texts), value.texts);
  }
  return std::nullopt;
}

void take_out_constants(onnx::Graph& graph, std::vector<std::string>& dump_names) {
  std::vector<onnx::Node> nodes;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (std::optional<onnx::Tensor> constant = constant_of(graph.nodes[i])) {
      graph.initializers.push_back(std::move(*constant));
    } else {
      nodes.push_back(std::move(graph.nodes[i]));
      names.push_back(std::move(dump_names[i]));
    }
  }
  graph.nodes = std::move(nodes);
  dump_names = std::move(names);
}

void name_by_output(onnx::Graph& graph) {
  for (onnx::Node& node : graph.nodes) {
    if (node.name.empty()) {
      const auto output = std::find_if(node.outputs.begin(), node.outputs.end(),
                                       [](const std::string& value) { return !value.empty(); });
      node.name = node.op_type + "_" + (output == node.outputs.end() ? "" : *output);
      node.message = {};
    }
  }
}

void drop_initializer_inputs(onnx::Graph& graph) {
  std::unordered_set<std::string_view> constants;
  for (const std::string_view name : initializer_names(graph)) {
    constants.insert(name);
  }
  std::erase_if(graph.inputs,
                [&](const onnx::ValueInfo& input) { return constants.contains(input.name); });
}

void raise_ir_version(onnx::Model& model) {
  if (model.ir_version >= kFirstIrWithFreeInitializers) {
    return;
  }
  model.ir_version = kFirstIrWithFreeInitializers;
  std::erase_if(model.unknown, [](const onnx::RawField& raw) { return raw.field.number == 1; });
  onnx::RawField version;
  version.field.number = 1;
  version.field.value = kFirstIrWithFreeInitializers;
  model.unknown.insert(model.unknown.begin(), version);
}

}  // namespace

Result<Workpiece> prepare(PlacedModel placed) {
  Workpiece piece;
  onnx::Graph& graph = placed.model.graph;
  piece.dump_names = onnx::node_names(graph);
  take_out_constants(graph, piece.dump_names);
  name_by_output(graph);
  drop_initializer_inputs(graph);
  raise_ir_version(placed.model);
  OPDRIFT_TRY(piece.graph, NodeGraph::build(graph));
  piece.placed = std::move(placed);
  return piece;
}

Result<Workpiece> open_workpiece(const std::string& path) {
  OPDRIFT_TRY(onnx::Model model, onnx::open_model(path));
  return io::in_file(prepare({std::move(model), onnx::folder_of_model(path)}), path);
}

Result<std::size_t> find_node(const Workpiece& piece, const std::string& name,
                              const std::string& what) {
  std::vector<std::size_t> found = piece.graph.named(name);
  for (std::size_t node = 0; found.empty() && node < piece.dump_names.size(); ++node) {
    if (piece.dump_names[node] == name) {
      found.push_back(node);
    }
  }
  if (found.size() == 1) {
    return found.front();
  }
  if (found.size() > 1) {
    return Error{ErrorCode::ambiguous, "operator " + what + ": " + std::to_string(found.size()) +
                                           " operators are called '" + printable(name) + "'"};
  }
  std::vector<std::string_view> names;
  for (std::size_t node = 0; node < piece.graph.size(); ++node) {
    names.emplace_back(piece.graph.name(node));
  }
  return Error{ErrorCode::not_found, "operator " + what + ": the model has no '" + printable(name) +
                                         "'" + did_you_mean(name, names)};
}

std::vector<std::size_t> input_readers(const Workpiece& piece) {
  std::unordered_set<std::string_view> inputs;
  for (const onnx::ValueInfo& input : piece.placed.model.graph.inputs) {
    inputs.insert(input.name);
  }
  std::vector<std::size_t> readers;
  for (std::size_t node = 0; node < piece.graph.size(); ++node) {
    const std::vector<std::string>& reads = piece.graph.reads(node);
    if (std::any_of(reads.begin(), reads.end(),
                    [&](const std::string& value) { return inputs.contains(value); })) {
      readers.push_back(node);
    }
  }
  return readers;
}

std::vector<std::size_t> output_makers(const Workpiece& piece) {
  std::vector<std::size_t> makers;
  for (const onnx::ValueInfo& output : piece.placed.model.graph.outputs) {
    const std::optional<std::size_t> maker = piece.graph.producer(output.name);
    if (maker && std::find(makers.begin(), makers.end(), *maker) == makers.end()) {
      makers.push_back(*maker);
    }
  }
  return makers;
}

}  // namespace opdrift::engine
