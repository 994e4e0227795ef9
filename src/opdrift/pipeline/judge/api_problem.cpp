#include "opdrift/pipeline/judge/api_problem.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "opdrift/base/text.hpp"
#include "opdrift/graph/api_run.hpp"
#include "opdrift/pipeline/judge/api_arguments.hpp"
#include "opdrift/pipeline/judge/call_problem.hpp"
#include "opdrift/pipeline/judge/judge_pairs.hpp"
#include "opdrift/pipeline/judge/judge_run.hpp"
#include "opdrift/replay/registry.hpp"

namespace opdrift::pipeline {

namespace {

using verdict::kAbsent;
using verdict::ValueId;

constexpr std::size_t kNone = ~std::size_t{0};

/// One call as the golden recorded it.
struct Call {
  ApiCallRecord record;
  graph::CallDirection direction = graph::CallDirection::none;
  std::vector<std::size_t> tensors;  ///< positions of saved tensors and numbers that went in
  std::vector<std::size_t> outputs;  ///< positions of what came out
  bool legible = true;               ///< every leaf could be told by its name
};

/// A number or word that was recorded as such, not as a tensor.
std::optional<ApiScalar> scalar_of(const IndexedTensor& tensor) {
  ApiScalar scalar;
  if (tensor.summary != nullptr && tensor.desc.dtype == tensor::DType::raw) {
    scalar.text = tensor.summary->checksum;
    return scalar;
  }
  if (tensor.container == nullptr || tensor.container->tensors.size() != 1) {
    return std::nullopt;
  }
  const auto bytes = tensor.container->tensors.front().bytes.span;
  std::array<std::byte, 8> number{};
  std::copy_n(bytes.begin(), std::min(bytes.size(), number.size()), number.begin());
  if (tensor.desc.dtype == tensor::DType::f64) {
    double real = 0.0;
    std::memcpy(&real, number.data(), sizeof(real));
    scalar.real = real;
  } else {
    std::int64_t integer = 0;
    std::memcpy(&integer, number.data(), sizeof(integer));
    scalar.integer = integer;
  }
  return scalar;
}

class ApiJudge {
 public:
  ApiJudge(const MeasuredPairs& measured, verdict::RunResult& result)
      : measured_(measured), result_(result) {
    pair_of_.resize(measured.golden.tensors.size(), kNone);
    for (std::size_t p = 0; p < measured.pairing.pairs.size(); ++p) {
      std::size_t& pair = pair_of_[measured.pairing.pairs[p].golden];
      pair = pair == kNone ? p : pair;
    }
  }

  /// Returns how many calls were judged.
  Result<std::size_t> run() {
    std::optional<verdict::RunVerdict> verdict;
    std::size_t judged = 0;
    const std::vector<IndexedTensor>& tensors = measured_.golden.tensors;
    for (std::size_t first = 0; first < tensors.size();) {
      std::size_t last = first;
      while (last < tensors.size() && tensors[last].name.step == tensors[first].name.step) {
        ++last;
      }
      CallProblem problem(measured_, result_);
      add_calls(first, last, problem);
      if (problem.modelled() > 0) {
        judged += problem.modelled();
        OPDRIFT_CHECK_OK(problem.judge(result_));
        if (!result_.verdict) {
          return judged;  // interrupted
        }
        merge_step(verdict, std::move(*result_.verdict), tensors[first].name.step);
      }
      first = last;
    }
    result_.verdict = std::move(verdict);
    if (result_.verdict) {
      say_what_is_not_judged();
    }
    return judged;
  }

 private:
  void add_calls(std::size_t first, std::size_t last, CallProblem& problem) {
    begun_ = false;
    const std::vector<IndexedTensor>& tensors = measured_.golden.tensors;
    while (first < last) {
      std::size_t end = first;
      while (end < last && tensors[end].name.operator_name == tensors[first].name.operator_name) {
        ++end;
      }
      add_call(record_of(first, end), problem);
      first = end;
    }
  }

  /// True for pairs with all elements on both sides.
  bool has_tensors(std::size_t golden) const {
    const std::size_t pair = pair_of_[golden];
    return pair != kNone && measured_.golden.tensors[golden].summary == nullptr &&
           measured_.target.tensors[measured_.pairing.pairs[pair].target].summary == nullptr;
  }

  Call record_of(std::size_t first, std::size_t end) const {
    Call call;
    call.record.name = measured_.golden.tensors[first].name.operator_name;
    graph::ApiEntry entry;
    graph::split_api_name(call.record.name, entry);
    call.record.prefix = std::string(entry.prefix);
    call.direction = entry.direction;
    for (std::size_t i = first; i < end; ++i) {
      add_leaf(i, call);
    }
    return call;
  }

  /// "input.3.0" -> argument "3", first of a list; "parameters.weight"; "output.0".
  void add_leaf(std::size_t position, Call& call) const {
    const IndexedTensor& tensor = measured_.golden.tensors[position];
    std::string_view rest = tensor.name.tensor_name;
    const std::string start = call.record.name + ".";
    const ApiTensor described{position, tensor.desc.shape, tensor.desc.dtype};
    (tensor.name.output ? call.outputs : call.tensors).push_back(position);
    if (tensor.name.output) {
      call.record.outputs.push_back(described);
      return;
    }
    if (!rest.starts_with(start)) {
      call.legible = false;
      return;
    }
    rest.remove_prefix(start.size());
    const std::vector<std::string_view> parts = split(rest, '.');
    if (parts.size() < 2) {
      call.legible = false;
      return;
    }
    const std::string key(parts[1]);
    std::vector<ApiArgument>& arguments = call.record.arguments;
    if (arguments.empty() || arguments.back().key != key) {
      arguments.push_back({key, parts.size() > 2, {}});
    }
    ApiLeafValue leaf;
    leaf.scalar = scalar_of(tensor);
    const bool word = leaf.scalar && !leaf.scalar->integer && !leaf.scalar->real;
    if (!word) {
      leaf.tensor = described;
    }
    arguments.back().leaves.push_back(std::move(leaf));
  }

  ValueId read(std::size_t golden, CallProblem& problem) const {
    if (!has_tensors(golden)) {
      return kAbsent;
    }
    const bool number = scalar_of(measured_.golden.tensors[golden]).has_value();
    if (number) {
      problem.leave_to_limits(pair_of_[golden], "a number of the call");
    }
    return problem.read(pair_of_[golden], !begun_ && !number);
  }

  void add_call(const Call& call, CallProblem& problem) {
    if (call.direction != graph::CallDirection::forward) {
      return;
    }
    if (is_module_call(call.record.prefix) && made_inside(call, problem)) {
      return;
    }
    Result<BoundCall> bound = bind_arguments(call.record);
    if (!call.legible) {
      bound = Error{ErrorCode::unsupported, "its arguments cannot be told apart"};
    }
    std::vector<ValueId> inputs;
    bool complete = true;
    if (bound) {
      for (const auto& id : bound->inputs) {
        inputs.push_back(id ? read(*id, problem) : kAbsent);
        complete = complete && (!id || inputs.back() != kAbsent);
      }
      read_the_rest(call, *bound, problem);
    } else {
      for (const std::size_t position : call.tensors) {
        inputs.push_back(read(position, problem));
      }
    }
    std::vector<ValueId> outputs;
    for (const std::size_t position : call.outputs) {
      outputs.push_back(has_tensors(position) ? problem.make(pair_of_[position]) : kAbsent);
    }
    begun_ = begun_ || std::any_of(inputs.begin(), inputs.end(),
                                   [](ValueId value) { return value != kAbsent; });
    const bool made =
        std::any_of(outputs.begin(), outputs.end(), [](ValueId value) { return value != kAbsent; });
    if (bound && complete && made) {
      problem.add(std::move(bound->op), bound->kind, std::move(inputs), std::move(outputs));
      return;
    }
    graph::Operator op;
    op.name = call.record.name;
    op.type = call.record.prefix;
    problem.add(std::move(op), nullptr, std::move(inputs), std::move(outputs),
                bound ? "not all tensors of the call were saved" : bound.error().message);
  }

  /// Tensors among arguments that the replay does not look at.
  void read_the_rest(const Call& call, const BoundCall& bound, CallProblem& problem) const {
    for (const std::size_t position : call.tensors) {
      const bool bound_input = std::any_of(bound.inputs.begin(), bound.inputs.end(),
                                           [&](const auto& id) { return id == position; });
      if (!bound_input && !scalar_of(measured_.golden.tensors[position])) {
        read(position, problem);
      }
    }
  }

  /// True when every output of a module is that of a call inside it: judged there, by itself.
  bool made_inside(const Call& call, CallProblem& problem) const {
    const bool all = !call.outputs.empty() &&
                     std::all_of(call.outputs.begin(), call.outputs.end(), [&](std::size_t out) {
                       return has_tensors(out) && problem.made_before(pair_of_[out]);
                     });
    if (!all) {
      return false;
    }
    for (const std::size_t out : call.outputs) {
      problem.is_copy(pair_of_[out]);
    }
    for (const std::size_t position : call.tensors) {
      read(position, problem);
    }
    return true;
  }

  /// Rows of what is no part of a forward call's replay.
  void say_what_is_not_judged() const {
    for (std::size_t p = 0; p < measured_.pairing.pairs.size(); ++p) {
      const auto row = measured_.row_of_pair[p];
      if (!row || result_.tensors[*row].judgement || result_.tensors[*row].statistics_only) {
        continue;
      }
      verdict::TensorResult& tensor = result_.tensors[*row];
      graph::ApiEntry entry;
      graph::split_api_name(tensor.golden_operator, entry);
      const bool forward = entry.direction == graph::CallDirection::forward;
      tensor.judgement =
          by_limits(tensor, forward ? "a number of the call" : "only forward calls are replayed");
    }
  }

  const MeasuredPairs& measured_;
  verdict::RunResult& result_;
  std::vector<std::size_t> pair_of_;  // by golden position
  bool begun_ = false;
};

bool any_tensor_saved(const DumpIndex& index) {
  return std::any_of(index.tensors.begin(), index.tensors.end(), [](const IndexedTensor& tensor) {
    return tensor.summary == nullptr && tensor.container == nullptr;
  });
}

}  // namespace

Status judge_api_calls(const MeasuredPairs& measured, verdict::RunResult& result) {
  if (!wants_verdict(measured.options, result)) {
    return Unit{};
  }
  OPDRIFT_TRY(const GoldenModel model, model_of(measured.options, measured.golden.path));
  if (model.model) {
    return judge_pairs(measured, result);
  }
  if (!any_tensor_saved(measured.golden) || !any_tensor_saved(measured.target)) {
    return conclude(measured.options, result,
                    "a replay needs the tensors of both sides, and a run without them (task other "
                    "than tensor) was recorded");
  }
  OPDRIFT_TRY(const std::size_t judged, ApiJudge(measured, result).run());
  return conclude(
      measured.options, result,
      judged > 0 ? "" : "no replay knows any of the calls, or their arguments were not saved");
}

}  // namespace opdrift::pipeline
