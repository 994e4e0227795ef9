#include "network.hpp"

#include <utility>

#include "numbers.hpp"

#include "opdrift/engine/instrument.hpp"

namespace opdrift::evaluation {

Result<std::vector<std::optional<tensor::Tensor>>> run_whole(
    engine::Runtime& runtime, io::onnx::Model model, const std::vector<engine::NamedTensor>& inputs,
    const std::vector<std::string>& wanted, engine::Optimization optimization) {
  engine::expose(model, wanted);
  OPDRIFT_TRY(const auto session, engine::open_model(runtime, {std::move(model), "."},
                                                     {.optimization = optimization, .threads = 1}));
  OPDRIFT_TRY(auto values, session->run(inputs, wanted));
  std::vector<std::optional<tensor::Tensor>> tensors;
  for (engine::RunValue& value : values) {
    tensors.push_back(std::move(value.tensor));
  }
  return tensors;
}

Network::Network(io::onnx::Model model, std::vector<engine::NamedTensor> inputs)
    : model_(std::move(model)),
      inputs_(std::move(inputs)),
      onnx_(pipeline::onnx_problem(model_)),
      golden_(onnx_.problem.values.size()),
      producer_(onnx_.problem.values.size(), onnx_.problem.operators.size()) {
  for (const std::optional<tensor::View>& parameter : onnx_.parameters) {
    parameters_.push_back(parameter ? std::optional(aligned_copy(parameter->tensor))
                                    : std::nullopt);
  }
  for (std::size_t i = 0; i < onnx_.problem.operators.size(); ++i) {
    for (const ValueId id : onnx_.problem.operators[i].outputs) {
      if (id != verdict::kAbsent) {
        producer_[id] = i;
      }
    }
  }
}

Result<std::unique_ptr<Network>> Network::open(engine::Runtime& runtime, io::onnx::Model model,
                                               std::vector<engine::NamedTensor> inputs) {
  std::unique_ptr<Network> network(new Network(std::move(model), std::move(inputs)));
  OPDRIFT_CHECK_OK(network->run_golden(runtime));
  return network;
}

Status Network::run_golden(engine::Runtime& runtime) {
  std::vector<std::string> names;
  std::vector<ValueId> ids;
  for (const verdict::ProblemOperator& op : problem().operators) {
    for (const ValueId id : op.outputs) {
      if (id != verdict::kAbsent) {
        names.push_back(problem().values[id].name);
        ids.push_back(id);
      }
    }
  }
  OPDRIFT_TRY(auto tensors, run_whole(runtime, model_, inputs_, names, engine::Optimization::none));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (tensors[i]) {
      golden_[ids[i]] = std::move(tensors[i]);
      computed_.push_back(ids[i]);
    }
  }
  for (const engine::NamedTensor& input : inputs_) {
    if (const auto id = find(input.name)) {
      golden_[*id] = input.tensor;
    }
  }
  return Unit{};
}

const io::onnx::Node& Network::node(std::size_t op) const {
  const graph::Operator* found = problem().operators[op].op;
  return model_.graph.nodes[static_cast<std::size_t>(found - onnx_.graph.operators.data())];
}

const tensor::Tensor* Network::parameter(ValueId id) const {
  return parameters_[id] ? &*parameters_[id] : nullptr;
}

std::optional<ValueId> Network::find(const std::string& name) const {
  const auto found = onnx_.value_of.find(name);
  return found == onnx_.value_of.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::size_t> Network::readers_of(ValueId id) const {
  std::vector<bool> touched(problem().values.size(), false);
  touched[id] = true;
  std::vector<std::size_t> readers;
  for (std::size_t i = 0; i < problem().operators.size(); ++i) {
    const verdict::ProblemOperator& op = problem().operators[i];
    bool reads = false;
    for (const ValueId input : op.inputs) {
      reads = reads || (input != verdict::kAbsent && touched[input]);
    }
    if (reads) {
      readers.push_back(i);
      for (const ValueId output : op.outputs) {
        if (output != verdict::kAbsent) {
          touched[output] = true;
        }
      }
    }
  }
  return readers;
}

}  // namespace opdrift::evaluation
