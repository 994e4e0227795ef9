#include "opdrift/pipeline/judge/onnx_problem.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
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

// Operators that a runtime laid out for itself: the ordinary names, but channels in blocks or last.
constexpr std::string_view kOwnLayouts[] = {"com.microsoft.nchwc", "com.ms.internal.nhwc"};

const replay::OperatorKind* kind_of(const io::onnx::Node& node) {
  const bool own_layout = std::find(std::begin(kOwnLayouts), std::end(kOwnLayouts), node.domain) !=
                          std::end(kOwnLayouts);
  return own_layout ? nullptr : replay::find_kind(node.op_type, replay::Dialect::onnx);
}

class Builder {
 public:
  explicit Builder(const io::onnx::Model& model)
      : model_(model), folder_(io::onnx::folder_of_model(model.path)) {
    made_.graph = io::onnx::to_graph(model);
  }

  GraphProblem build() {
    add_parameters();
    add_inputs();
    add_operators();
    sort_operators(made_);
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
    return add_value(made_, name, role);
  }

  void add_parameter(const std::string& name, const Result<tensor::Tensor>& data) {
    const ValueId id = value(name, ProblemValue::Role::parameter);
    auto view = data ? tensor::stored_view(*data) : Result<tensor::View>(data.error());
    if (view) {
      made_.parameters[id] = std::move(*view);
    } else {
      made_.notes.push_back("parameter '" + name + "': " + view.error().to_string());
    }
  }

  void add_parameters() {
    for (const io::onnx::Tensor& initializer : model_.graph.initializers) {
      add_parameter(initializer.name, io::onnx::load(initializer, folder_));
    }
    for (const std::string& name : model_.graph.sparse_initializers) {
      add_parameter(name, Error{ErrorCode::unsupported, "sparse constants are not read"});
    }
    for (std::size_t n = 0; n < model_.graph.nodes.size(); ++n) {
      const io::onnx::Node& node = model_.graph.nodes[n];
      if (node.op_type == "Constant" && !node.outputs.empty()) {
        add_parameter(node.outputs[0], constant_value(node, folder_));
        made_.constants.emplace_back(made_.graph.operators[n].name,
                                     made_.value_of.at(node.outputs[0]));
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
      op.kind = kind_of(node);
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

  const io::onnx::Model& model_;
  std::string folder_;
  GraphProblem made_;
  std::vector<std::size_t> node_of_;
};

}  // namespace

GraphProblem onnx_problem(const io::onnx::Model& model) {
  return Builder(model).build();
}

Status add_target_parameters(const io::onnx::Model& target, GraphProblem& problem) {
  const GraphProblem other = onnx_problem(target);
  problem.target_parameters.resize(problem.problem.values.size());
  std::size_t all = 0;
  std::size_t taken = 0;
  for (const auto& [name, value] : problem.value_of) {
    if (problem.problem.values[value].role != ProblemValue::Role::parameter ||
        !problem.parameters[value]) {
      continue;
    }
    ++all;
    const auto found = other.value_of.find(name);
    if (found == other.value_of.end() || !other.parameters[found->second]) {
      continue;
    }
    const tensor::View& theirs = *other.parameters[found->second];
    if (theirs.shape() != problem.parameters[value]->shape()) {
      continue;
    }
    problem.target_parameters[value] = theirs;
    problem.problem.values[value].given_for_target = true;
    ++taken;
  }
  if (taken == 0) {
    return Error{ErrorCode::mismatch,
                 "expected weights with the names and shapes of the golden's, found none",
                 target.path};
  }
  problem.notes.push_back(std::to_string(taken) + " of " + std::to_string(all) +
                          " parameters are the target's own, from '" + target.path +
                          "'; the others are the golden's");
  return Unit{};
}

}  // namespace opdrift::pipeline
