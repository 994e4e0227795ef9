#include "opdrift/pipeline/judge/explain_run.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "opdrift/replay/replay.hpp"
#include "opdrift/verdict/explain/explain.hpp"
#include "opdrift/verdict/explain/operator_alternatives.hpp"

namespace opdrift::pipeline {

namespace {

using verdict::kAbsent;
using verdict::ProblemOperator;
using verdict::RunSide;
using verdict::ValueId;

constexpr std::size_t kMostExplained = 16;
/// Tensors around a culprit that are looked at for copies of it.
constexpr std::size_t kMostCopies = 64;

/// A replay for an explanation costs about as much as the operator; larger ones go without.
constexpr replay::Limits kLimits{.max_elements = std::uint64_t{1} << 25,
                                 .max_multiply_adds = std::uint64_t{1} << 33};

/// The inputs of an operator as the target had them.
struct Inputs {
  std::vector<std::optional<replay::Array>> arrays;
  std::vector<const replay::Array*> pointers;
};

std::shared_ptr<const Inputs> load_inputs(const ProblemOperator& op, const PairValues& values) {
  auto inputs = std::make_shared<Inputs>();
  for (const ValueId value : op.inputs) {
    inputs->arrays.emplace_back();
    if (value == kAbsent) {
      continue;
    }
    const RunSide side = values.has(RunSide::target, value) ? RunSide::target : RunSide::golden;
    const auto view = values.view(side, value);
    auto array = view ? replay::load(*view, kLimits) : Result<replay::Array>(view.error());
    if (!array || (side == RunSide::golden && !values.has(RunSide::golden, value))) {
      return nullptr;
    }
    inputs->arrays.back() = std::move(*array);
  }
  for (const auto& array : inputs->arrays) {
    inputs->pointers.push_back(array ? &*array : nullptr);
  }
  return inputs;
}

/// Output `index` of an operator on these inputs; nothing when it cannot be had.
std::optional<replay::Array> replayed(const replay::OperatorKind* kind, const graph::Operator& op,
                                      const Inputs& inputs, std::size_t index) {
  if (kind == nullptr || kind->evaluate == nullptr) {
    return std::nullopt;
  }
  auto outputs = replay::evaluate(*kind, {.op = op, .inputs = inputs.pointers, .limits = kLimits});
  if (!outputs || index >= outputs->size()) {
    return std::nullopt;
  }
  return std::move((*outputs)[index]);
}

tensor::Tensor tensor_of(const replay::Array& array) {
  std::vector<std::byte> bytes(array.values.size() * sizeof(double));
  std::memcpy(bytes.data(), array.values.data(), bytes.size());
  tensor::Tensor tensor;
  tensor.desc.dtype = tensor::DType::f64;
  tensor.desc.shape = array.shape;
  tensor.bytes = own_bytes(std::move(bytes));
  return tensor;
}

class Explainer {
 public:
  Explainer(const GraphProblem& problem, const PairValues& values, const ExplainRunOptions& options,
            verdict::RunResult& result)
      : problem_(problem),
        values_(values),
        options_(options),
        result_(result),
        maker_(problem.problem.values.size(), nullptr) {
    for (const ProblemOperator& op : problem.problem.operators) {
      for (const ValueId value : op.outputs) {
        if (value != kAbsent) {
          maker_[value] = &op.op->name;
        }
      }
    }
  }

  void run() {
    std::size_t culprits = 0;
    std::size_t watched = 0;
    for (ValueId value = 0; value < problem_.problem.values.size(); ++value) {
      if (maker_[value] == nullptr && is_other_leaf(value) && ++culprits <= kMostExplained) {
        explain_leaf(value);
      }
    }
    for (const ProblemOperator& op : problem_.problem.operators) {
      for (std::size_t i = 0; i < op.outputs.size(); ++i) {
        if (is_culprit(op.outputs[i]) && ++culprits <= kMostExplained) {
          explain(op, i);
        }
      }
    }
    for (const ProblemOperator& op : problem_.problem.operators) {
      for (std::size_t i = 0; i < op.outputs.size(); ++i) {
        if (is_unexplained(op.outputs[i]) && ++watched <= kMostExplained) {
          explain(op, i);
        }
      }
    }
    if (culprits > kMostExplained) {
      result_.notes.push_back("the first " + std::to_string(kMostExplained) + " of " +
                              std::to_string(culprits) + " culprits were explained");
    }
  }

 private:
  std::string label_of(ValueId value) const {
    const std::string& name = problem_.problem.values[value].name;
    if (options_.label) {
      return options_.label(name);
    }
    // A value may have a name that another operator has.
    const std::string* maker = maker_[value];
    return maker == nullptr || name.compare(0, maker->size(), *maker) == 0
               ? name
               : *maker + " (" + name + ")";
  }

  std::string earlier_label(ValueId value) const {
    return label_of(value) + " in " + options_.earlier.name;
  }

  const verdict::Judgement* judgement_of(ValueId value) const {
    const auto row = value == kAbsent ? std::nullopt : values_.row_of(value);
    return row && result_.tensors[*row].judgement ? &*result_.tensors[*row].judgement : nullptr;
  }

  bool is_culprit(ValueId value) const {
    const verdict::Judgement* judgement = judgement_of(value);
    return judgement != nullptr && judgement->label == verdict::Label::culprit;
  }

  /// Not blamed, because the precision costs more anyway, yet four times its budget.
  bool is_unexplained(ValueId value) const {
    const verdict::Judgement* judgement = judgement_of(value);
    return judgement != nullptr && judgement->label == verdict::Label::watch &&
           judgement->cause == verdict::Cause::below_precision;
  }

  /// A parameter or an input that is not the golden's.
  bool is_other_leaf(ValueId value) const {
    const verdict::Judgement* judgement = judgement_of(value);
    return judgement != nullptr && judgement->label != verdict::Label::healthy &&
           judgement->label != verdict::Label::unjudged;
  }

  /// Reads every tensor of the target, once, when the first culprit is met.
  const verdict::TensorFingerprints& fingerprints() {
    if (!fingerprints_) {
      fingerprints_.emplace();
      add_target(values_, [this](ValueId value) { return label_of(value); });
      if (options_.earlier.values != nullptr) {
        add_target(*options_.earlier.values,
                   [this](ValueId value) { return earlier_label(value); });
      }
    }
    return *fingerprints_;
  }

  template <typename Label>
  void add_target(const PairValues& values, const Label& label) {
    for (ValueId value = 0; value < problem_.problem.values.size(); ++value) {
      if (values.has(RunSide::target, value)) {
        if (const auto view = values.stored_target(value)) {
          fingerprints_->add(*view, label(value));
        }
      }
    }
  }

  /// A tensor that the golden has alike in both steps is not stale where the target has it so.
  bool same_in_both_steps(ValueId value, std::uint64_t content) const {
    const PairValues* earlier = options_.earlier.values;
    const auto view = earlier != nullptr && earlier->has(RunSide::golden, value)
                          ? earlier->view(RunSide::golden, value)
                          : Result<tensor::View>(Error{});
    return view && verdict::content_hash(verdict::stored_bytes(*view)) == content;
  }

  /// Labels of a culprit and of what its neighbours copy of it on the golden side too (a reshape, a
  /// slice, a concatenation): that these hold its bytes is no accident.
  std::vector<std::string> copies_of(ValueId culprit, const tensor::View& golden) const {
    verdict::TensorFingerprints parts;
    parts.add(golden, "");
    const std::uint64_t content = verdict::content_hash(verdict::stored_bytes(golden));
    std::vector<ValueId> copies = {culprit};
    const auto is_copy = [&](ValueId value) {
      if (value == kAbsent || std::find(copies.begin(), copies.end(), value) != copies.end() ||
          !values_.has(RunSide::golden, value)) {
        return false;
      }
      const auto view = values_.view(RunSide::golden, value);
      return view && (verdict::content_hash(verdict::stored_bytes(*view)) == content ||
                      !parts.find(*view).empty());
    };
    for (std::size_t next = 0; next < copies.size() && copies.size() < kMostCopies; ++next) {
      for (const ProblemOperator& op : problem_.problem.operators) {
        const auto has = [&](const std::vector<ValueId>& ends) {
          return std::find(ends.begin(), ends.end(), copies[next]) != ends.end();
        };
        for (const auto& [near, far] : {std::pair(&op.inputs, &op.outputs),  //
                                        std::pair(&op.outputs, &op.inputs)}) {
          if (has(*near)) {
            std::copy_if(far->begin(), far->end(), std::back_inserter(copies), is_copy);
          }
        }
      }
    }
    std::vector<std::string> labels;
    for (const ValueId value : copies) {
      labels.push_back(label_of(value));
      if (same_in_both_steps(value, content)) {
        labels.push_back(earlier_label(value));
      }
    }
    return labels;
  }

  void explain_leaf(ValueId value) {
    const auto golden = values_.view(RunSide::golden, value);
    const auto target = values_.view(RunSide::target, value);
    if (!golden || !target) {
      return;
    }
    verdict::ExplainContext context;
    if (problem_.problem.values[value].role == verdict::ProblemValue::Role::parameter) {
      for (std::size_t axis = 0; axis < golden->axes.size(); ++axis) {
        context.axis_names.push_back(std::to_string(axis));  // weights are no picture
      }
    }
    examine(value, *golden, *target, nullptr, std::move(context));
  }

  void examine(ValueId value, const tensor::View& golden, const tensor::View& target,
               const tensor::View* expected, verdict::ExplainContext context) {
    context.jobs = worker_count(options_.jobs);
    context.cancel = options_.cancel;
    auto found = verdict::examine(golden, target, expected, context);
    if (found) {
      verdict::TensorResult& row = result_.tensors[*values_.row_of(value)];
      row.explanations = std::move(found->explanations);
      row.place = std::move(found->place);
    }
  }

  void explain(const ProblemOperator& op, std::size_t index) {
    const ValueId value = op.outputs[index];
    const auto golden = values_.view(RunSide::golden, value);
    const auto target = values_.view(RunSide::target, value);
    if (!golden || !target) {
      return;
    }
    const std::shared_ptr<const Inputs> inputs = load_inputs(op, values_);
    const std::optional<replay::Array> made =
        inputs ? replayed(op.kind, *op.op, *inputs, index) : std::nullopt;
    const Result<tensor::View> expected =
        made ? tensor::stored_view(tensor_of(*made)) : Result<tensor::View>(Error{});
    verdict::ExplainContext context;
    if (is_culprit(value)) {  // another tensor's data are never below what precision costs
      context.fingerprints = &fingerprints();
      context.without = copies_of(value, *golden);
      for (const ValueId input : op.inputs) {
        if (input != kAbsent) {
          context.inputs.push_back(label_of(input));
        }
      }
    }
    if (inputs && op.kind != nullptr && index == 0) {
      context.alternatives = verdict::operator_alternatives(
          *op.kind, {.op = *op.op, .inputs = inputs->pointers, .limits = kLimits},
          target->tensor.desc.dtype);
    }
    examine(value, *golden, *target, expected ? &*expected : nullptr, std::move(context));
  }

  const GraphProblem& problem_;
  const PairValues& values_;
  const ExplainRunOptions& options_;
  verdict::RunResult& result_;
  std::vector<const std::string*> maker_;  // name of the operator that makes each value
  std::optional<verdict::TensorFingerprints> fingerprints_;
};

}  // namespace

void explain_run(const GraphProblem& problem, const PairValues& values,
                 const ExplainRunOptions& options, verdict::RunResult& result) {
  Explainer(problem, values, options, result).run();
}

}  // namespace opdrift::pipeline
