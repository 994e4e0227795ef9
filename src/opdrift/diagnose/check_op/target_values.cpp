#include <algorithm>
#include <filesystem>
#include <utility>

#include "opdrift/diagnose/check_op/pieces.hpp"
#include "opdrift/io/dump_manifest.hpp"
#include "opdrift/match/name_match.hpp"

namespace opdrift::diagnose {

namespace {

namespace onnx = io::onnx;
using pipeline::IndexedTensor;

/// The operator of a name, told exactly or, where no two names fall together, loosely.
class OperatorNames {
 public:
  explicit OperatorNames(const onnx::Graph& graph) {
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
      exact_.emplace(graph.nodes[n].name, n);
      const auto [found, added] = loose_.emplace(match::normalise(graph.nodes[n].name), n);
      found->second = added ? found->second : kAmbiguous;
    }
  }

  std::size_t find(const std::string& name) const {
    if (const auto found = exact_.find(name); found != exact_.end()) {
      return found->second;
    }
    const auto found = loose_.find(match::normalise(name));
    return found == loose_.end() ? kAmbiguous : found->second;
  }

  static constexpr std::size_t kAmbiguous = ~std::size_t{0};

 private:
  std::unordered_map<std::string, std::size_t> exact_;
  std::unordered_map<std::string, std::size_t> loose_;
};

void read_merged(const std::string& dump_path, TargetValues& values) {
  const auto manifest =
      io::read_dump_manifest((std::filesystem::path(dump_path) / io::kManifestFileName).string());
  if (!manifest) {
    return;
  }
  for (const auto& [file, tensor] : manifest->by_file) {
    if (tensor.originals.size() > 1) {
      values.merged[tensor.tensor_name] = {tensor.originals.begin(), tensor.originals.end()};
    }
  }
}

std::string output_key(const std::string& operator_name, std::size_t output) {
  return match::normalise(operator_name) + '\n' + std::to_string(output);
}

}  // namespace

void add_target_graph(const graph::Graph& device, const onnx::Graph& graph,
                      const pipeline::DumpIndex& target, TargetValues& values) {
  const OperatorNames names(graph);
  std::unordered_map<std::string, std::size_t> dumped;
  for (std::size_t i = 0; i < target.tensors.size(); ++i) {
    if (target.tensors[i].name.output && !target.tensors[i].summary) {
      dumped.emplace(output_key(target.tensors[i].name.operator_name, target.tensors[i].name.index),
                     i);
    }
  }
  for (const graph::Operator& op : device.operators) {
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      const graph::OutputDesc& output = op.outputs[i];
      const std::size_t node = names.find(output.origin_name);
      const auto index = static_cast<std::size_t>(std::max(0, output.origin_index.value_or(0)));
      const auto tensor = dumped.find(output_key(op.name, i));
      if (output.origin_name.empty() || node == OperatorNames::kAmbiguous ||
          tensor == dumped.end() || index >= graph.nodes[node].outputs.size()) {
        continue;
      }
      const std::string& value = graph.nodes[node].outputs[index];
      values.made.insert_or_assign(value, tensor->second);
      if (op.original_names.size() > 1) {
        values.merged[value] = {op.original_names.begin(), op.original_names.end()};
      }
    }
  }
}

std::string own_input_key(const std::string& operator_name, std::size_t input) {
  return operator_name + '\n' + std::to_string(input);
}

TargetValues target_values(const onnx::Graph& graph, const pipeline::DumpIndex& target) {
  TargetValues values;
  const OperatorNames names(graph);
  std::unordered_set<std::string> known;
  for (const onnx::ValueInfo& input : graph.inputs) {
    known.insert(input.name);
  }
  for (const onnx::Node& node : graph.nodes) {
    known.insert(node.outputs.begin(), node.outputs.end());
  }
  for (std::size_t i = 0; i < target.tensors.size(); ++i) {
    const IndexedTensor& tensor = target.tensors[i];
    if (tensor.name.step != target.tensors.front().name.step || tensor.summary) {
      continue;
    }
    const std::size_t node = names.find(tensor.name.operator_name);
    if (!tensor.name.output) {
      if (node != OperatorNames::kAmbiguous) {
        values.inputs.emplace(own_input_key(graph.nodes[node].name, tensor.name.index), i);
      }
    } else if (known.contains(tensor.name.tensor_name)) {
      values.made.emplace(tensor.name.tensor_name, i);
    } else if (node != OperatorNames::kAmbiguous &&
               tensor.name.index < graph.nodes[node].outputs.size()) {
      values.made.emplace(graph.nodes[node].outputs[tensor.name.index], i);
    } else if (known.contains(tensor.name.operator_name) && tensor.name.index == 0) {
      values.made.emplace(tensor.name.operator_name, i);
    }
  }
  read_merged(target.path, values);
  return values;
}

}  // namespace opdrift::diagnose
