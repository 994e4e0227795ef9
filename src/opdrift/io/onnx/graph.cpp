#include "opdrift/io/onnx/graph.hpp"

#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "opdrift/io/onnx/tensor_data.hpp"
#include "opdrift/tensor/decode.hpp"

namespace opdrift::io::onnx {

namespace {

constexpr std::uint64_t kMaxAttributeElements = 1024;

struct Producer {
  std::string_view node;
  int index = 0;
};

std::string free_name(const std::string& wanted, const std::unordered_set<std::string>& taken) {
  if (!taken.contains(wanted)) {
    return wanted;
  }
  for (std::uint64_t n = 999;; ++n) {
    std::string candidate = wanted + "_" + std::to_string(n);
    if (!taken.contains(candidate)) {
      return candidate;
    }
  }
}

void fill_tensor(const Tensor& source, const std::string& folder, graph::Attribute& out) {
  const Result<tensor::Tensor> loaded = load(source, folder);
  if (!loaded || !tensor::info(loaded->desc.dtype).decodable) {
    return;
  }
  const tensor::DType dtype = loaded->desc.dtype;
  const std::uint64_t count = tensor::element_count(loaded->desc.shape).value_or(0);
  if (count > kMaxAttributeElements) {
    return;
  }
  out.kind = graph::Attribute::Kind::tensor;
  out.tensor_shape = loaded->desc.shape;
  out.tensor_dtype = dtype;
  out.reals.resize(count);
  const std::byte* data = loaded->bytes.span.data();
  tensor::decode_to_double(dtype, data, 0, count, out.reals.data());
  if (dtype == tensor::DType::i64 || dtype == tensor::DType::u64) {
    ByteCursor cursor(loaded->bytes.span);
    for (std::uint64_t i = 0; i < count; ++i) {
      out.integers.push_back(static_cast<std::int64_t>(cursor.u64("element").value_or(0U)));
    }
  }
}

graph::Attribute convert(const Attribute& attribute, const std::string& folder) {
  using Kind = graph::Attribute::Kind;
  graph::Attribute out;
  switch (attribute.type) {
    case AttributeType::integer:
      out.kind = Kind::integer;
      out.integers = {attribute.integer};
      break;
    case AttributeType::real:
      out.kind = Kind::real;
      out.reals = {static_cast<double>(attribute.real)};
      break;
    case AttributeType::text:
      out.kind = Kind::text;
      out.texts = {attribute.text};
      break;
    case AttributeType::integers:
      out.kind = Kind::integers;
      out.integers = attribute.integers;
      break;
    case AttributeType::reals:
      out.kind = Kind::reals;
      out.reals.assign(attribute.reals.begin(), attribute.reals.end());
      break;
    case AttributeType::texts:
      out.kind = Kind::texts;
      out.texts = attribute.texts;
      break;
    case AttributeType::tensor:
      if (attribute.tensor) {
        fill_tensor(*attribute.tensor, folder, out);
      }
      break;
    default: break;
  }
  return out;
}

/// Looks things up while operators are made.
class Converter {
 public:
  Converter(const Model& model, const std::vector<std::string>& names)
      : folder_(folder_of_model(model.path)) {
    const Graph& graph = model.graph;
    for (const auto* infos : {&graph.inputs, &graph.outputs, &graph.value_infos}) {
      for (const ValueInfo& info : *infos) {
        infos_.emplace(info.name, &info);
      }
    }
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
      const std::vector<std::string>& outputs = graph.nodes[n].outputs;
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (!outputs[i].empty()) {
          producers_.emplace(outputs[i], Producer{names[n], static_cast<int>(i)});
        }
      }
    }
    for (const OpsetImport& opset : model.opsets) {
      opsets_.emplace(opset.domain == "ai.onnx" ? "" : opset.domain, opset.version);
    }
  }

  graph::Operator convert_node(const Node& node, const std::string& name, std::size_t position) {
    graph::Operator op;
    op.name = name;
    op.type = node.op_type;
    op.domain = node.domain == "ai.onnx" ? "" : node.domain;
    const auto opset = opsets_.find(op.domain);
    op.opset = opset == opsets_.end() ? 0 : static_cast<int>(opset->second);
    op.id = static_cast<std::int64_t>(position);
    op.original_names = {name};
    for (const std::string& input : node.inputs) {
      op.inputs.push_back(input_ref(input));
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      op.outputs.push_back(output_desc(node.outputs[i], name, static_cast<int>(i)));
    }
    for (const Attribute& attribute : node.attributes) {
      op.attributes.insert_or_assign(attribute.name, convert(attribute, folder_));
      for (const auto& body : attribute.graphs) {
        op.subgraphs.push_back(body->name);
      }
    }
    return op;
  }

 private:
  graph::InputRef input_ref(const std::string& tensor) const {
    graph::InputRef ref;
    ref.tensor = tensor;
    ref.text = tensor;
    const auto producer = producers_.find(tensor);
    if (producer != producers_.end()) {
      ref.producer = producer->second.node;
      ref.index = producer->second.index;
    }
    return ref;
  }

  graph::OutputDesc output_desc(const std::string& tensor, const std::string& node,
                                int index) const {
    graph::OutputDesc desc;
    desc.tensor = tensor;
    desc.origin_name = node;
    desc.origin_index = index;
    const auto info = infos_.find(tensor);
    if (info == infos_.end() || info->second->kind != ValueKind::tensor) {
      return desc;
    }
    if (const auto dtype = dtype_of(info->second->element_type)) {
      desc.dtype = tensor::name_of(*dtype);
    }
    tensor::Shape shape;
    for (const Dim& dim : info->second->shape.value_or(std::vector<Dim>{})) {
      if (!dim.value) {
        return desc;
      }
      shape.push_back(*dim.value);
    }
    desc.shape = shape;
    desc.origin_shape = std::move(shape);
    return desc;
  }

  std::string folder_;
  std::unordered_map<std::string_view, const ValueInfo*> infos_;
  std::unordered_map<std::string_view, Producer> producers_;
  std::unordered_map<std::string, std::int64_t> opsets_;
};

}  // namespace

std::vector<std::string> node_names(const Graph& graph) {
  std::unordered_set<std::string> taken;
  for (const Node& node : graph.nodes) {
    taken.insert(node.name);
  }
  std::vector<std::string> names;
  names.reserve(graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (node.name.empty()) {
      names.push_back(free_name(node.op_type + "_" + std::to_string(i), taken));
      taken.insert(names.back());
    } else {
      names.push_back(node.name);
    }
  }
  return names;
}

graph::Graph to_graph(const Model& model) {
  const std::vector<std::string> names = node_names(model.graph);
  graph::Graph graph;
  graph.name = model.graph.name;
  graph.source_path = model.path;
  graph.graph_names = {model.graph.name};
  Converter converter(model, names);
  for (std::size_t i = 0; i < model.graph.nodes.size(); ++i) {
    graph.operators.push_back(converter.convert_node(model.graph.nodes[i], names[i], i));
  }
  return graph;
}

}  // namespace opdrift::io::onnx
