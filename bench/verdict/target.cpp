#include "target.hpp"

#include <array>
#include <string>
#include <utility>

#include "half_sum.hpp"

#include "opdrift/engine/instrument.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"
#include "opdrift/io/onnx/writer.hpp"

namespace opdrift::evaluation {

namespace {

namespace onnx = io::onnx;
using tensor::DType;

bool is_one_of(const std::string& type, std::span<const std::string_view> names) {
  for (const std::string_view name : names) {
    if (type == name) {
      return true;
    }
  }
  return false;
}

constexpr std::array<std::string_view, 4> kProducts = {"Conv", "ConvTranspose", "MatMul", "Gemm"};
constexpr std::array<std::string_view, 12> kLoose = {
    "Exp", "Softmax", "Sigmoid",     "Erf",        "Sqrt", "Div",
    "Log", "Tanh",    "HardSigmoid", "Reciprocal", "Gelu", "LayerNormalization"};

bool is_narrowed(const tensor::Tensor& tensor, Narrowed narrowed) {
  const bool weight = tensor.desc.shape.size() >= 2 && floats_of(tensor).size() > 64;
  return weight || narrowed == Narrowed::all;
}

/// Constants that are f32 whatever a network is stored in.
std::unordered_set<ValueId> wide_constants(const Network& network) {
  std::unordered_set<ValueId> wide;
  for (std::size_t op = 0; op < network.problem().operators.size(); ++op) {
    const std::string& type = network.node(op).op_type;
    if (type == "Resize" || type == "QuantizeLinear" || type == "DequantizeLinear") {
      const std::vector<ValueId>& inputs = network.problem().operators[op].inputs;
      wide.insert(inputs.begin() + 1, inputs.end());
    }
  }
  return wide;
}

std::string input_name(std::size_t index) {
  return "i" + std::to_string(index);
}

std::string output_name(std::size_t index) {
  return "o" + std::to_string(index);
}

/// A model of one node whose inputs are all given from outside.
onnx::Model single_node(const onnx::Model& whole, const onnx::Node& node,
                        std::span<const tensor::Tensor* const> inputs) {
  onnx::Model model = whole;
  model.graph = {};
  model.graph.name = "one";
  onnx::Node copy = node;
  copy.message = {};
  copy.name = "n";
  for (std::size_t i = 0; i < copy.inputs.size(); ++i) {
    if (copy.inputs[i].empty()) {
      continue;
    }
    copy.inputs[i] = input_name(i);
    std::vector<onnx::Dim> dims;
    for (const std::uint64_t extent : inputs[i]->desc.shape) {
      dims.push_back({extent, ""});
    }
    model.graph.inputs.push_back(
        onnx::make_value_info(copy.inputs[i], onnx::data_type_of(inputs[i]->desc.dtype), dims));
  }
  for (std::size_t i = 0; i < copy.outputs.size(); ++i) {
    if (!copy.outputs[i].empty()) {
      copy.outputs[i] = output_name(i);
      model.graph.outputs.push_back(onnx::make_value_info(copy.outputs[i]));
    }
  }
  model.graph.nodes.push_back(std::move(copy));
  return model;
}

}  // namespace

OperatorRunner::OperatorRunner(engine::Runtime& runtime, const Network& network)
    : runtime_(runtime), network_(network), sessions_(network.problem().operators.size()) {}

Result<engine::Session*> OperatorRunner::session(std::size_t op,
                                                 std::span<const tensor::Tensor* const> inputs) {
  if (!sessions_[op]) {
    onnx::Model model = single_node(network_.model(), network_.node(op), inputs);
    OPDRIFT_TRY(sessions_[op],
                engine::open_model(runtime_, {std::move(model), "."}, {.threads = 1}));
  }
  return sessions_[op].get();
}

Result<Values> OperatorRunner::run(std::size_t op, std::span<const tensor::Tensor* const> inputs) {
  OPDRIFT_TRY(engine::Session * session, this->session(op, inputs));
  std::vector<engine::NamedTensor> named;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] != nullptr) {
      named.push_back({input_name(i), *inputs[i]});
    }
  }
  const onnx::Node& node = network_.node(op);
  std::vector<std::string> wanted;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (!node.outputs[i].empty()) {
      wanted.push_back(output_name(i));
    }
  }
  OPDRIFT_TRY(auto results, session->run(named, wanted));
  Values outputs(node.outputs.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (!node.outputs[i].empty()) {
      outputs[i] = std::move(results[next++].tensor);
    }
  }
  return outputs;
}

Target::Target(OperatorRunner& runner, const Network& network, const Arithmetic& arithmetic)
    : runner_(runner),
      network_(network),
      arithmetic_(arithmetic),
      parameters_(network.problem().values.size()) {
  const std::unordered_set<ValueId> wide = wide_constants(network);
  for (ValueId id = 0; id < parameters_.size(); ++id) {
    const tensor::Tensor* parameter = network.parameter(id);
    if (parameter == nullptr) {
      continue;
    }
    const bool narrow = parameter->desc.dtype == DType::f32 && !wide.contains(id) &&
                        is_narrowed(*parameter, arithmetic.narrowed);
    // Weights are rounded once, off the device, to the nearest.
    const Format format =
        dtype_of(arithmetic.storage) == DType::f16 ? Format::fp16 : arithmetic.storage;
    parameters_[id] = narrow ? rounded(*parameter, format) : *parameter;
  }
}

std::vector<const tensor::Tensor*> Target::inputs_of(std::size_t op, const Values& values) const {
  std::vector<const tensor::Tensor*> inputs;
  for (const ValueId id : network_.problem().operators[op].inputs) {
    if (id == verdict::kAbsent) {
      inputs.push_back(nullptr);
    } else if (parameters_[id]) {
      inputs.push_back(&*parameters_[id]);
    } else {
      inputs.push_back(values[id] ? &*values[id] : nullptr);
    }
  }
  return inputs;
}

Result<Values> Target::compute(std::size_t op, const Values& values) {
  const std::vector<const tensor::Tensor*> inputs = inputs_of(op, values);
  return compute(op, inputs);
}

Result<Values> Target::compute(std::size_t op, std::span<const tensor::Tensor* const> inputs) {
  const onnx::Node& node = network_.node(op);
  if (arithmetic_.half_accumulators) {
    if (auto sum = half_sum(node, inputs, dtype_of(arithmetic_.storage))) {
      return Values{std::move(sum)};
    }
  }
  std::vector<const tensor::Tensor*> given(inputs.begin(), inputs.end());
  std::array<tensor::Tensor, 2> narrow;
  if (arithmetic_.operands != Format::fp32 && is_one_of(node.op_type, kProducts)) {
    for (std::size_t i = 0; i < narrow.size(); ++i) {
      narrow[i] = rounded(*inputs[i], arithmetic_.operands);
      given[i] = &narrow[i];
    }
  }
  OPDRIFT_TRY(Values outputs, runner_.run(op, given));
  if (arithmetic_.loose_functions) {
    loosen(op, outputs);
  }
  return outputs;
}

void Target::loosen(std::size_t op, Values& outputs) const {
  const onnx::Node& node = network_.node(op);
  if (!is_one_of(node.op_type, kLoose) || !outputs[0] || outputs[0]->desc.dtype != DType::f32) {
    return;
  }
  Random random(node.outputs[0]);
  const std::span<const float> exact = floats_of(*outputs[0]);
  std::vector<float> loose(exact.begin(), exact.end());
  for (float& value : loose) {
    value *= static_cast<float>(1.0 + 0x1p-11 * (2.0 * random.uniform() - 1.0));
  }
  outputs[0] = make_floats(outputs[0]->desc.shape, std::move(loose));
}

Result<Values> Target::run() {
  Values values(network_.problem().values.size());
  for (const engine::NamedTensor& input : network_.inputs()) {
    if (const auto id = network_.find(input.name)) {
      values[*id] = rounded(input.tensor, arithmetic_.storage);
    }
  }
  std::vector<std::size_t> all(network_.problem().operators.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = i;
  }
  OPDRIFT_CHECK_OK(rerun(all, {}, values));
  return values;
}

Status Target::rerun(std::span<const std::size_t> operators,
                     const std::unordered_set<ValueId>& kept, Values& values) {
  for (const std::size_t op : operators) {
    OPDRIFT_TRY(Values outputs, compute(op, values));
    const std::vector<ValueId>& ids = network_.problem().operators[op].outputs;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] != verdict::kAbsent && outputs[i] && !kept.contains(ids[i])) {
        values[ids[i]] = rounded(*outputs[i], arithmetic_.storage);
      }
    }
  }
  return Unit{};
}

}  // namespace opdrift::evaluation
