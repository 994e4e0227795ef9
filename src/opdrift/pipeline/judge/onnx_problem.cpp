#include "opdrift/pipeline/judge/onnx_problem.hpp"

#include <functional>
#include <queue>
#include <utility>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/io/onnx/graph.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"

namespace opdrift::pipeline {

namespace {

using verdict::kAbsent;
using verdict::ProblemOperator;
using verdict::ProblemValue;
using verdict::ValueId;

tensor::Tensor numbers(tensor::DType dtype, const tensor::Shape& shape, const void* data,
                       std::size_t size_bytes) {
  const auto* first = static_cast<const std::byte*>(data);
  tensor::Tensor made;
  made.desc.dtype = dtype;
  made.desc.shape = shape;
  made.bytes = own_bytes({first, first + size_bytes});
  return made;
}

/// The value of a Constant node, whichever of its attributes holds it.
Result<tensor::Tensor> constant_value(const io::onnx::Node& node, const std::string& folder) {
  for (const io::onnx::Attribute& attribute : node.attributes) {
    if (attribute.tensor) {
      return io::onnx::load(*attribute.tensor, folder);
    }
    const auto list = [](const auto& values, tensor::DType dtype) {
      return numbers(dtype, {values.size()}, values.data(), values.size() * sizeof(values[0]));
    };
    using io::onnx::AttributeType;
    switch (attribute.type) {
      case AttributeType::real: return numbers(tensor::DType::f32, {}, &attribute.real, 4);
      case AttributeType::integer: return numbers(tensor::DType::i64, {}, &attribute.integer, 8);
      case AttributeType::reals: return list(attribute.reals, tensor::DType::f32);
      case AttributeType::integers: return list(attribute.integers, tensor::DType::i64);
      default: break;
    }
  }
  return Error{ErrorCode::unsupported, "constant without a numeric value", node.name};
}

class Builder {
 public:
  explicit Builder(const io::onnx::Model& model)
      : model_(model), folder_(io::onnx::folder_of_model(model.path)) {
    made_.graph = io::onnx::to_graph(model);
  }

  OnnxProblem build() {
    add_parameters();
    add_inputs();
    add_operators();
    sort_operators();
    for (const io::onnx::ValueInfo& output : model_.graph.outputs) {
      const auto found = made_.value_of.find(output.name);
      if (found != made_.value_of.end()) {
        made_.problem.values[found->second].network_output = true;
      }
    }
    return std::move(made_);
  }

 private:
  ValueId value(const std::string& name, ProblemValue::Role role) {
    const auto [found, added] =
        made_.value_of.emplace(name, static_cast<ValueId>(made_.problem.values.size()));
    if (added) {
      made_.problem.values.push_back({name, role, false});
      made_.parameters.emplace_back();
    }
    return found->second;
  }

  void add_parameter(const std::string& name, Result<tensor::Tensor> data) {
    const ValueId id = value(name, ProblemValue::Role::parameter);
    if (data) {
      made_.parameters[id] = std::move(*data);
    } else {
      made_.notes.push_back("parameter '" + name + "': " + data.error().to_string());
    }
  }

  void add_parameters() {
    for (const io::onnx::Tensor& initializer : model_.graph.initializers) {
      add_parameter(initializer.name, io::onnx::load(initializer, folder_));
    }
    for (const std::string& name : model_.graph.sparse_initializers) {
      add_parameter(name, Error{ErrorCode::unsupported, "sparse constants are not read"});
    }
    for (const io::onnx::Node& node : model_.graph.nodes) {
      if (node.op_type == "Constant" && !node.outputs.empty()) {
        add_parameter(node.outputs[0], constant_value(node, folder_));
      }
    }
  }

  void add_inputs() {
    for (const io::onnx::ValueInfo& input : model_.graph.inputs) {
      value(input.name, ProblemValue::Role::network_input);
    }
  }

  void add_operators() {
    std::vector<bool> made(made_.problem.values.size(), true);  // inputs and parameters
    for (std::size_t n = 0; n < model_.graph.nodes.size(); ++n) {
      const io::onnx::Node& node = model_.graph.nodes[n];
      if (node.op_type == "Constant") {
        continue;
      }
      ProblemOperator op;
      op.op = &made_.graph.operators[n];
      op.kind = replay::find_kind(node.op_type, replay::Dialect::onnx);
      bool repeated = false;
      for (const std::string& name : node.outputs) {
        const ValueId id = name.empty() ? kAbsent : value(name, ProblemValue::Role::computed);
        made.resize(made_.problem.values.size(), false);
        repeated = repeated || (id != kAbsent && made[id]);
        op.outputs.push_back(id);
      }
      if (repeated) {
        made_.notes.push_back("operator '" + op.op->name + "' makes a value that exists already");
        continue;
      }
      for (const ValueId id : op.outputs) {
        if (id != kAbsent) {
          made[id] = true;
        }
      }
      made_.problem.operators.push_back(std::move(op));
      node_of_.push_back(n);
    }
    connect_inputs();
  }

  void connect_inputs() {
    for (std::size_t i = 0; i < node_of_.size(); ++i) {
      for (const std::string& name : model_.graph.nodes[node_of_[i]].inputs) {
        made_.problem.operators[i].inputs.push_back(
            name.empty() ? kAbsent : value(name, ProblemValue::Role::computed));
      }
    }
  }

  /// Kahn's algorithm; of the operators that are ready the first of the file goes first.
  void sort_operators() {
    std::vector<ProblemOperator>& operators = made_.problem.operators;
    std::vector<std::size_t> producer(made_.problem.values.size(), operators.size());
    for (std::size_t i = 0; i < operators.size(); ++i) {
      for (const ValueId id : operators[i].outputs) {
        if (id != kAbsent) {
          producer[id] = i;
        }
      }
    }
    std::vector<std::vector<std::size_t>> readers(operators.size());
    std::vector<std::size_t> waits(operators.size(), 0);
    for (std::size_t i = 0; i < operators.size(); ++i) {
      for (const ValueId id : operators[i].inputs) {
        if (id != kAbsent && producer[id] < operators.size()) {
          readers[producer[id]].push_back(i);
          ++waits[i];
        }
      }
    }
    std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
    for (std::size_t i = 0; i < operators.size(); ++i) {
      if (waits[i] == 0) {
        ready.push(i);
      }
    }
    std::vector<ProblemOperator> sorted;
    while (!ready.empty()) {
      const std::size_t next = ready.top();
      ready.pop();
      for (const std::size_t reader : readers[next]) {
        if (--waits[reader] == 0) {
          ready.push(reader);
        }
      }
      sorted.push_back(std::move(operators[next]));
    }
    if (sorted.size() < operators.size()) {
      made_.notes.push_back(std::to_string(operators.size() - sorted.size()) +
                            " operators stand on or behind a cycle and cannot be judged");
    }
    operators = std::move(sorted);
  }

  const io::onnx::Model& model_;
  std::string folder_;
  OnnxProblem made_;
  std::vector<std::size_t> node_of_;
};

}  // namespace

OnnxProblem onnx_problem(const io::onnx::Model& model) {
  return Builder(model).build();
}

}  // namespace opdrift::pipeline
