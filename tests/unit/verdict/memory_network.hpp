#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "opdrift/replay/budget.hpp"
#include "opdrift/replay/number_format.hpp"
#include "opdrift/replay/registry.hpp"
#include "opdrift/replay/replay.hpp"
#include "opdrift/tensor/encode.hpp"
#include "opdrift/verdict/judge.hpp"

// A network held in memory, run twice: the golden rounds every value to its type, the target to
// another one, with faults put in by the test. Both runs are the replay room's own arithmetic,
// rounded; so a clean run agrees with the model by construction, and a fault is what the test says.

namespace opdrift::verdict::test {

using replay::Array;
using tensor::DType;
using tensor::Shape;

/// Changes what an operator of the target made, before it is stored.
using Fault = std::function<void(Array&)>;

/// How one side computes and stores.
struct RunStyle {
  DType storage = DType::f32;
  bool narrow_weights = true;    ///< round matrices and kernels to `storage`
  bool truncate = false;         ///< round towards zero
  double operand_ulp = 0.0;      ///< operands of products are rounded to this unit roundoff
  bool half_accumulate = false;  ///< MatMul sums in `storage`
  bool wide_inputs = false;      ///< operators read what was computed, not what was stored
};

inline double cut_towards_zero(double x, DType dtype) {
  const double rounded = replay::round_to(x, dtype);
  if (!std::isfinite(rounded) || std::abs(rounded) <= std::abs(x)) {
    return rounded;
  }
  // One step of the smaller neighbour's binade back.
  const double back = rounded - std::copysign(replay::ulp(x, dtype), x);
  return back;
}

inline tensor::Tensor tensor_of(const Array& array, DType dtype) {
  auto bytes = std::make_shared<std::vector<std::byte>>(
      static_cast<std::size_t>(*tensor::storage_bytes(dtype, array.size())));
  tensor::encode(dtype, array.values.data(), array.size(), bytes->data());
  tensor::Tensor tensor;
  tensor.desc.dtype = dtype;
  tensor.desc.shape = array.shape;
  tensor.bytes.span = *bytes;
  tensor.bytes.owner = bytes;
  return tensor;
}

class MemoryNetwork : public ValueSource {
 public:
  /// Deterministic values without structure, roughly normal.
  static Array noise(const Shape& shape, std::uint64_t seed, double scale = 1.0) {
    Array array{shape, std::vector<double>(replay::count_of(shape)), DType::f32};
    for (std::size_t i = 0; i < array.size(); ++i) {
      array.values[i] = scale * replay::normal_noise(seed, i);
    }
    return array;
  }

  ValueId input(const std::string& name, Array array) {
    return add(name, ProblemValue::Role::network_input, std::move(array));
  }
  ValueId parameter(const std::string& name, Array array) {
    return add(name, ProblemValue::Role::parameter, std::move(array));
  }

  /// Adds an operator with one output of the same name.
  ValueId op(const std::string& name, const std::string& type, std::vector<ValueId> inputs,
             std::map<std::string, graph::Attribute> attributes = {}) {
    return ops(name, type, std::move(inputs), 1, std::move(attributes)).front();
  }
  std::vector<ValueId> ops(const std::string& name, const std::string& type,
                           std::vector<ValueId> inputs, std::size_t outputs,
                           std::map<std::string, graph::Attribute> attributes = {}) {
    graph::Operator& node = nodes_.emplace_back();
    node.name = name;
    node.type = type;
    node.attributes = std::move(attributes);
    node.outputs.resize(outputs);
    ProblemOperator made;
    made.op = &node;
    made.kind = replay::find_kind(type, replay::Dialect::onnx);
    made.inputs = std::move(inputs);
    for (std::size_t i = 0; i < outputs; ++i) {
      const std::string value = i == 0 ? name : name + "." + std::to_string(i);
      made.outputs.push_back(add(value, ProblemValue::Role::computed, {}));
    }
    problem.operators.push_back(made);
    return made.outputs;
  }

  static graph::Attribute ints(std::vector<std::int64_t> values) {
    graph::Attribute attribute;
    attribute.kind =
        values.size() == 1 ? graph::Attribute::Kind::integer : graph::Attribute::Kind::integers;
    attribute.integers = std::move(values);
    return attribute;
  }
  static graph::Attribute real(double value) {
    graph::Attribute attribute;
    attribute.kind = graph::Attribute::Kind::real;
    attribute.reals = {value};
    return attribute;
  }

  /// Runs both sides. Faults are keyed by value name.
  void run(const RunStyle& golden, const RunStyle& target,
           const std::map<std::string, Fault>& faults = {}) {
    run_side(RunSide::golden, golden, {});
    run_side(RunSide::target, target, faults);
  }

  /// The target did not dump this value (or the golden did not).
  void hide(ValueId value, RunSide side = RunSide::target) { side_of(side).erase(value); }
  /// Replaces a stored tensor.
  void store(RunSide side, ValueId value, const Array& array, DType dtype) {
    side_of(side)[value] = tensor_of(array, dtype);
  }
  /// A stored tensor, decoded.
  Array stored(RunSide side, ValueId value) const {
    return replay::load(*view(side, value)).value();
  }

  bool has(RunSide side, ValueId value) const override { return side_of(side).count(value) > 0; }
  Result<tensor::View> view(RunSide side, ValueId value) const override {
    const auto found = side_of(side).find(value);
    if (found == side_of(side).end()) {
      return Error{ErrorCode::not_found, "no such value"};
    }
    return tensor::stored_view(found->second);
  }

  ValueId id(const std::string& name) const {
    for (ValueId value = 0; value < problem.values.size(); ++value) {
      if (problem.values[value].name == name) {
        return value;
      }
    }
    ADD_FAILURE() << "no value " << name;
    return kAbsent;
  }

  JudgedRun judge(const JudgeOptions& options = {}) const {
    return verdict::judge(problem, *this, options).value();
  }
  const Judgement& of(const JudgedRun& run, const std::string& name) const {
    static const Judgement kNone;
    const auto& judged = run.values[id(name)];
    if (!judged) {
      ADD_FAILURE() << name << " has no judgement";
      return kNone;
    }
    return *judged;
  }
  /// Names of all values with a label.
  std::vector<std::string> with(const JudgedRun& run, Label label) const {
    std::vector<std::string> names;
    for (ValueId value = 0; value < run.values.size(); ++value) {
      if (run.values[value] && run.values[value]->label == label) {
        names.push_back(problem.values[value].name);
      }
    }
    return names;
  }
  /// Names of the first divergence and its ties.
  std::vector<std::string> first(const JudgedRun& run) const {
    std::vector<std::string> names;
    for (const std::size_t value : run.run.first_divergence) {
      names.push_back(problem.values[value].name);
    }
    return names;
  }

  Problem problem;

 private:
  using Side = std::map<ValueId, tensor::Tensor>;

  Side& side_of(RunSide side) { return side == RunSide::golden ? golden_ : target_; }
  const Side& side_of(RunSide side) const { return side == RunSide::golden ? golden_ : target_; }

  ValueId add(const std::string& name, ProblemValue::Role role, Array array) {
    ProblemValue value;
    value.name = name;
    value.role = role;
    problem.values.push_back(value);
    sources_.push_back(std::move(array));
    return static_cast<ValueId>(problem.values.size() - 1);
  }

  static Array rounded(const Array& array, const RunStyle& style) {
    Array result = array;
    if (!tensor::is_floating(array.dtype)) {
      return result;
    }
    for (double& value : result.values) {
      value = style.truncate ? cut_towards_zero(value, style.storage)
                             : replay::round_to(value, style.storage);
    }
    result.dtype = style.storage;
    return result;
  }

  static Array narrowed_operand(const Array& array, double roundoff) {
    Array result = array;
    for (double& value : result.values) {
      if (value != 0.0 && std::isfinite(value)) {
        const double step = std::ldexp(2.0 * roundoff, std::ilogb(value));
        value = std::nearbyint(value / step) * step;
      }
    }
    return result;
  }

  static Array half_product(const Array& left, const Array& right, DType dtype) {
    const std::size_t m = left.shape[0];
    const std::size_t k = left.shape[1];
    const std::size_t n = right.shape[1];
    Array y{{m, n}, std::vector<double>(m * n), DType::f32};
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        double sum = 0.0;
        for (std::size_t l = 0; l < k; ++l) {
          sum = replay::round_to(sum + left.values[i * k + l] * right.values[l * n + j], dtype);
        }
        y.values[i * n + j] = sum;
      }
    }
    return y;
  }

  replay::Outputs evaluate(const ProblemOperator& node, std::vector<const Array*> inputs,
                           const RunStyle& style) const {
    std::vector<Array> narrow(inputs.size());
    if (style.operand_ulp > 0.0 && node.kind->weighted()) {
      for (std::size_t i = 0; i < 2; ++i) {
        narrow[i] = narrowed_operand(*inputs[i], style.operand_ulp);
        inputs[i] = &narrow[i];
      }
    }
    if (style.half_accumulate && node.op->type == "MatMul") {
      return {half_product(*inputs[0], *inputs[1], style.storage)};
    }
    return replay::evaluate(*node.kind, replay::Call{*node.op, inputs}).value();
  }

  void run_side(RunSide side, const RunStyle& style, const std::map<std::string, Fault>& faults) {
    Side& dumped = side_of(side);
    dumped.clear();
    std::vector<Array> read(sources_.size());
    for (ValueId value = 0; value < sources_.size(); ++value) {
      const bool parameter = problem.values[value].role == ProblemValue::Role::parameter;
      if (problem.values[value].role == ProblemValue::Role::computed) {
        continue;
      }
      RunStyle own = style;
      own.truncate = false;
      const bool matrix = sources_[value].rank() >= 2 && sources_[value].size() > 64;
      own.storage = parameter && !(style.narrow_weights && matrix) ? DType::f32 : style.storage;
      read[value] = rounded(sources_[value], own);
      if (!parameter || side == RunSide::golden) {
        dumped[value] = tensor_of(read[value], read[value].dtype);
      }
    }
    for (const ProblemOperator& node : problem.operators) {
      std::vector<const Array*> inputs;
      for (const ValueId value : node.inputs) {
        inputs.push_back(value == kAbsent ? nullptr : &read[value]);
      }
      replay::Outputs outputs = evaluate(node, inputs, style);
      for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        const auto fault = faults.find(problem.values[node.outputs[i]].name);
        if (fault != faults.end()) {
          fault->second(outputs[i]);
        }
        const Array stored = rounded(outputs[i], style);
        dumped[node.outputs[i]] = tensor_of(stored, stored.dtype);
        read[node.outputs[i]] = style.wide_inputs ? outputs[i] : stored;
      }
    }
  }

  std::deque<graph::Operator> nodes_;
  std::vector<Array> sources_;
  Side golden_;
  Side target_;
};

}  // namespace opdrift::verdict::test
