#include "opdrift/pipeline/judge/ge_problem.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "opdrift/pipeline/judge/call_problem.hpp"
#include "opdrift/pipeline/judge/judge_pairs.hpp"
#include "opdrift/pipeline/judge/judge_run.hpp"
#include "opdrift/replay/registry.hpp"

namespace opdrift::pipeline {

namespace {

using verdict::kAbsent;
using verdict::ValueId;

std::string value_name(const std::string& op, int output) {
  return op + ":" + std::to_string(output);
}

std::optional<std::size_t> at(const Positions& positions, std::size_t index) {
  return index < positions.size() ? positions[index] : std::nullopt;
}

/// The calls of one step.
class GeStep {
 public:
  GeStep(const MeasuredPairs& measured, CallProblem& problem)
      : measured_(measured), problem_(problem) {}

  void add(const GeCall& call) {
    const std::string why = why_not(call);
    if (!why.empty()) {
      leave(call, why);
      return;
    }
    std::size_t external = 0;
    inside_.clear();
    for (std::size_t piece = 0; piece < call.pieces.size(); ++piece) {
      const graph::Operator& op = call.pieces[piece];
      std::vector<ValueId> inputs =
          call.pieces.size() == 1 ? own_inputs(call) : inputs_of(call, piece, external);
      std::vector<ValueId> outputs =
          piece + 1 == call.pieces.size() ? made_by(call) : hidden_of(call, piece);
      problem_.add(op, replay::find_kind(op.type, replay::Dialect::ascend), std::move(inputs),
                   std::move(outputs));
    }
  }

 private:
  bool has_tensors(std::size_t pair) const {
    const IndexPair& both = measured_.pairing.pairs[pair];
    return !both.own_golden && measured_.golden.tensors[both.golden].summary == nullptr &&
           measured_.target.tensors[both.target].summary == nullptr;
  }

  std::string why_not(const GeCall& call) const {
    if (call.pieces.empty()) {
      return call.trouble.empty() ? "the graph does not explain the operator" : call.trouble;
    }
    for (const graph::Operator& op : call.pieces) {
      if (replay::find_kind(op.type, replay::Dialect::ascend) == nullptr) {
        return "no replay knows " + op.type;
      }
    }
    const bool measured = std::any_of(call.output_pairs.begin(), call.output_pairs.end(),
                                      [&](const auto& pair) { return pair && has_tensors(*pair); });
    return measured ? "" : "its tensors were not kept";
  }

  /// Rows of an operator that is not replayed; it still hands on what stands upstream.
  void leave(const GeCall& call, const std::string& why) {
    std::vector<ValueId> inputs;
    for (const auto& pair : call.input_pairs) {
      if (pair && has_tensors(*pair)) {
        inputs.push_back(read(call, *pair, ""));
      }
    }
    std::vector<ValueId> outputs = made_by(call);
    graph::Operator op;
    op.name = call.name;
    op.type = call.pieces.empty() ? "unknown" : call.pieces.back().type;
    problem_.add(std::move(op), nullptr, std::move(inputs), std::move(outputs), why);
  }

  ValueId read(const GeCall& call, std::size_t pair, const std::string& producer) {
    const bool data = call.data != nullptr && call.data->contains(producer);
    return problem_.read(pair, data);
  }

  /// Everything the operator dumped, in its order: attributes that are tensors, too. Optional
  /// inputs that nothing feeds are not dumped but keep their place.
  std::vector<ValueId> own_inputs(const GeCall& call) {
    const graph::Operator& op = call.pieces.front();
    std::vector<ValueId> inputs;
    std::size_t dumped = 0;
    for (const graph::InputRef& ref : op.inputs) {
      if (ref.index < 0 || dumped == call.target_inputs.size()) {
        continue;
      }
      inputs.push_back(ref.text.empty() ? kAbsent : own_input(call, dumped++, ref.producer));
    }
    while (dumped < call.target_inputs.size()) {
      inputs.push_back(own_input(call, dumped++, ""));
    }
    return inputs;
  }

  ValueId own_input(const GeCall& call, std::size_t number, const std::string& producer) {
    const auto pair = at(call.input_pairs, number);
    return pair && has_tensors(*pair) ? read(call, *pair, producer) : target_only(call, number);
  }

  ValueId target_only(const GeCall& call, std::size_t input) {
    if (input >= call.target_inputs.size()) {
      return kAbsent;
    }
    const auto tensor = load(measured_.target.tensors[call.target_inputs[input]]);
    if (!tensor) {
      return kAbsent;
    }
    auto both = align_pair(*tensor, *tensor);
    return both ? problem_.parameter(call.name + ":input:" + std::to_string(input),
                                     std::move(both->target))
                : kAbsent;
  }

  std::vector<ValueId> inputs_of(const GeCall& call, std::size_t piece, std::size_t& external) {
    std::vector<ValueId> inputs;
    const graph::Operator& op = call.pieces[piece];
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      const graph::InputRef& ref = op.inputs[i];
      if (ref.index < 0) {
        continue;  // a control edge
      }
      const auto internal = inside_.find(value_name(ref.producer, ref.index));
      inputs.push_back(internal != inside_.end() ? internal->second
                                                 : external_input(call, piece, i, external++));
    }
    return inputs;
  }

  /// From the pair of this input, else from whoever made it, else from what either side dumped.
  ValueId external_input(const GeCall& call, std::size_t piece, std::size_t input,
                         std::size_t number) {
    const graph::InputRef& ref = call.pieces[piece].inputs[input];
    const auto pair = at(call.input_pairs, number);
    if (pair && has_tensors(*pair)) {
      return read(call, *pair, ref.producer);
    }
    const auto made = made_.find(value_name(ref.producer, ref.index));
    if (made != made_.end()) {
      return made->second;
    }
    const auto golden =
        piece < call.golden_inputs.size() ? at(call.golden_inputs[piece], input) : std::nullopt;
    if (golden && number < call.target_inputs.size()) {
      return problem_.beside(call.name + ":input:" + std::to_string(number), *golden,
                             call.target_inputs[number]);
    }
    return target_only(call, number);
  }

  std::vector<ValueId> made_by(const GeCall& call) {
    std::vector<ValueId> outputs;
    const std::string& last = call.pieces.empty() ? call.name : call.pieces.back().name;
    for (std::size_t i = 0; i < call.output_pairs.size(); ++i) {
      const auto& pair = call.output_pairs[i];
      outputs.push_back(pair && has_tensors(*pair) ? problem_.make(*pair) : kAbsent);
      if (outputs.back() != kAbsent) {
        made_[value_name(last, static_cast<int>(i))] = outputs.back();
      }
    }
    return outputs;
  }

  /// What passed between fused operators.
  std::vector<ValueId> hidden_of(const GeCall& call, std::size_t piece) {
    const graph::Operator& op = call.pieces[piece];
    std::vector<ValueId> outputs;
    for (std::size_t i = 0; i < std::max<std::size_t>(op.outputs.size(), 1); ++i) {
      const std::string name = value_name(op.name, static_cast<int>(i));
      const auto golden =
          piece < call.golden_outputs.size() ? at(call.golden_outputs[piece], i) : std::nullopt;
      outputs.push_back(problem_.hidden(name, golden));
      inside_[name] = outputs.back();
    }
    return outputs;
  }

  const MeasuredPairs& measured_;
  CallProblem& problem_;
  std::unordered_map<std::string, ValueId> made_;    // by operator and output number
  std::unordered_map<std::string, ValueId> inside_;  // of the fused operator at hand
};

/// Rows that no call of the graph stands behind.
void say_what_is_not_judged(const MeasuredPairs& measured, verdict::RunResult& result) {
  for (std::size_t p = 0; p < measured.pairing.pairs.size(); ++p) {
    const auto row = measured.row_of_pair[p];
    if (row && !result.tensors[*row].judgement && !result.tensors[*row].statistics_only) {
      result.tensors[*row].judgement = by_limits(
          result.tensors[*row], measured.pairing.pairs[p].own_golden ? "inserted by the compiler"
                                                                     : "no part of a replay");
    }
  }
}

/// Returns how many operators were judged.
Result<std::size_t> judge_steps(const std::vector<GeCall>& calls, const MeasuredPairs& measured,
                                verdict::RunResult& result) {
  std::optional<verdict::RunVerdict> verdict;
  std::size_t judged = 0;
  for (std::size_t first = 0; first < calls.size();) {
    CallProblem problem(measured, result);
    GeStep step(measured, problem);
    std::size_t last = first;
    for (; last < calls.size() && calls[last].step == calls[first].step; ++last) {
      step.add(calls[last]);
    }
    if (problem.modelled() > 0) {
      judged += problem.modelled();
      OPDRIFT_CHECK_OK(problem.judge(result));
      if (!result.verdict) {
        return judged;  // interrupted
      }
      merge_step(verdict, std::move(*result.verdict), calls[first].step);
    }
    first = last;
  }
  result.verdict = std::move(verdict);
  if (result.verdict) {
    say_what_is_not_judged(measured, result);
  }
  return judged;
}

}  // namespace

Status judge_ge_calls(const std::vector<GeCall>& calls, const MeasuredPairs& measured,
                      verdict::RunResult& result) {
  if (!wants_verdict(measured.options, result)) {
    return Unit{};
  }
  OPDRIFT_TRY(const GoldenModel model, model_of(measured.options, measured.golden.path));
  if (model.model) {
    return judge_pairs(measured, result);
  }
  OPDRIFT_TRY(const std::size_t judged, judge_steps(calls, measured, result));
  return conclude(
      measured.options, result,
      judged > 0 ? "" : "no replay knows any of the operators, or tensors were not kept");
}

}  // namespace opdrift::pipeline
