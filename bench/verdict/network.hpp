#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/engine/onnxruntime.hpp"
#include "opdrift/io/onnx/model.hpp"
#include "opdrift/pipeline/judge/onnx_problem.hpp"
#include "opdrift/tensor/tensor.hpp"
#include "opdrift/verdict/problem.hpp"

namespace opdrift::evaluation {

using verdict::ValueId;

/// Tensors of one run by ValueId; nothing for parameters and for values that were not kept.
using Values = std::vector<std::optional<tensor::Tensor>>;

/// A network ready to be run and judged: the simplified model, the problem made of it, its inputs
/// and the golden run (ONNX Runtime, f32, unoptimised, every tensor).
class Network {
 public:
  /// Runs the golden. Fails as the runtime does.
  static Result<std::unique_ptr<Network>> open(engine::Runtime& runtime, io::onnx::Model model,
                                               std::vector<engine::NamedTensor> inputs);
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  const io::onnx::Model& model() const { return model_; }
  const std::vector<engine::NamedTensor>& inputs() const { return inputs_; }
  const verdict::Problem& problem() const { return onnx_.problem; }
  const Values& golden() const { return golden_; }

  /// The node behind operator `op` of the problem.
  const io::onnx::Node& node(std::size_t op) const;
  /// A parameter's tensor, aligned; nullptr for other values.
  const tensor::Tensor* parameter(ValueId id) const;
  std::optional<ValueId> find(const std::string& name) const;
  /// Operators that depend on value `id`, in order.
  std::vector<std::size_t> readers_of(ValueId id) const;
  /// Values computed by operators and kept by the golden, in order.
  const std::vector<ValueId>& computed() const { return computed_; }
  /// Operator that makes each value; the number of operators for inputs and parameters.
  std::size_t producer(ValueId id) const { return producer_[id]; }

 private:
  Network(io::onnx::Model model, std::vector<engine::NamedTensor> inputs);
  Status run_golden(engine::Runtime& runtime);

  io::onnx::Model model_;
  std::vector<engine::NamedTensor> inputs_;
  pipeline::GraphProblem onnx_;
  Values parameters_;
  Values golden_;
  std::vector<std::size_t> producer_;
  std::vector<ValueId> computed_;
};

/// Runs a whole model and returns the named values that are tensors of numbers.
Result<std::vector<std::optional<tensor::Tensor>>> run_whole(
    engine::Runtime& runtime, io::onnx::Model model, const std::vector<engine::NamedTensor>& inputs,
    const std::vector<std::string>& wanted, engine::Optimization optimization);

}  // namespace opdrift::evaluation
