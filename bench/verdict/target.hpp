#pragma once

#include <memory>
#include <span>
#include <unordered_set>
#include <vector>

#include "network.hpp"
#include "numbers.hpp"

#include "opdrift/base/result.hpp"
#include "opdrift/engine/onnxruntime.hpp"

/// Emulated targets: every operator is run by itself in f32, on inputs as the target holds them,
/// and its result is rounded to what the target stores.
namespace opdrift::evaluation {

/// Which constants are stored narrow.
enum class Narrowed : std::uint8_t {
  weights,  ///< matrices and kernels: two axes or more, over 64 elements
  all,      ///< every f32 constant but scales of Resize and of quantised values
};

/// How a target computes.
struct Arithmetic {
  Format storage = Format::fp32;
  Format operands = Format::fp32;  ///< of Conv, ConvTranspose, MatMul and Gemm
  bool half_accumulators = false;  ///< sums of dense products kept in the storage format
  bool loose_functions = false;    ///< exp, sigmoid and the like off by up to one u more
  Narrowed narrowed = Narrowed::weights;
};

/// Runs operators of one network one at a time. One thread at a time.
class OperatorRunner {
 public:
  OperatorRunner(engine::Runtime& runtime, const Network& network);

  /// Outputs of operator `op`, in order of the node; absent ones are empty. Nothing is rounded.
  /// `inputs` are in the order of the node, nullptr where absent.
  Result<Values> run(std::size_t op, std::span<const tensor::Tensor* const> inputs);

 private:
  Result<engine::Session*> session(std::size_t op, std::span<const tensor::Tensor* const> inputs);

  engine::Runtime& runtime_;
  const Network& network_;
  std::vector<std::unique_ptr<engine::Session>> sessions_;
};

/// A network on one emulated target.
class Target {
 public:
  Target(OperatorRunner& runner, const Network& network, const Arithmetic& arithmetic);

  const Arithmetic& arithmetic() const { return arithmetic_; }

  /// The whole run: rounded inputs and everything computed from them.
  Result<Values> run();
  /// Runs `operators` (in order) again on changed `values`, leaving alone what is in `kept`.
  Status rerun(std::span<const std::size_t> operators, const std::unordered_set<ValueId>& kept,
               Values& values);

  /// Inputs of an operator as the target holds them, parameters narrowed.
  std::vector<const tensor::Tensor*> inputs_of(std::size_t op, const Values& values) const;
  /// Results of an operator before they are stored.
  Result<Values> compute(std::size_t op, const Values& values);
  Result<Values> compute(std::size_t op, std::span<const tensor::Tensor* const> inputs);

 private:
  void loosen(std::size_t op, Values& outputs) const;

  OperatorRunner& runner_;
  const Network& network_;
  Arithmetic arithmetic_;
  Values parameters_;  ///< as the target stores them
};

}  // namespace opdrift::evaluation
