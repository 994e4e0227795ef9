#include "opdrift/verdict/explain/operator_alternatives.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <string_view>

#include "opdrift/replay/registry.hpp"
#include "opdrift/replay/replay.hpp"
#include "opdrift/verdict/explain/narrow_sums.hpp"

namespace opdrift::verdict {

namespace {

using replay::Array;
using replay::Call;
using replay::OperatorKind;

using Values = Result<std::vector<double>>;
using Positions = std::span<const std::uint64_t>;

constexpr std::uint64_t kMostNormalised = std::uint64_t{1} << 24;  // elements replayed in whole

double sigmoid(double x) {
  return 1.0 / (1.0 + std::exp(-x));
}

struct Function {
  std::string_view kind;  ///< row of the operator table that is this function; "" for none
  const char* name;
  double (*value)(double x);
};

constexpr double kTanhScale = 0.7978845608028654;  // sqrt(2 / pi)

const std::array<Function, 13>& functions() {
  static const std::array<Function, 13> kFunctions = {{
      {"Identity", "identity", [](double x) { return x; }},
      {"Relu", "Relu", [](double x) { return std::max(x, 0.0); }},
      {"LeakyRelu", "LeakyRelu with slope 0.01", [](double x) { return x < 0.0 ? 0.01 * x : x; }},
      {"Relu6", "Relu6", [](double x) { return std::clamp(x, 0.0, 6.0); }},
      {"Sigmoid", "Sigmoid", &sigmoid},
      {"HardSigmoid", "HardSigmoid with slope 1/5",
       [](double x) { return std::clamp(0.2 * x + 0.5, 0.0, 1.0); }},
      {"HardSigmoidSixth", "HardSigmoid with slope 1/6",
       [](double x) { return std::clamp(x / 6.0 + 0.5, 0.0, 1.0); }},
      {"Tanh", "Tanh", [](double x) { return std::tanh(x); }},
      {"Gelu", "exact Gelu", [](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }},
      {"GeluTanh", "Gelu through tanh",
       [](double x) {
         return 0.5 * x * (1.0 + std::tanh(kTanhScale * (x + 0.044715 * x * x * x)));
       }},
      {"QuickGelu", "QuickGelu", [](double x) { return x * sigmoid(1.702 * x); }},
      {"Silu", "Silu", [](double x) { return x * sigmoid(x); }},
      {"HardSwish", "HardSwish", [](double x) { return x * std::clamp(x / 6.0 + 0.5, 0.0, 1.0); }},
  }};
  return kFunctions;
}

bool is_activation(std::string_view kind) {
  constexpr std::array<std::string_view, 7> kOthers = {"Clip", "Elu", "Softplus",  "Mish",
                                                       "Selu", "Erf", "LogSigmoid"};
  return std::find(kOthers.begin(), kOthers.end(), kind) != kOthers.end() ||
         (kind != "Identity" &&
          std::any_of(functions().begin(), functions().end(),
                      [&](const Function& function) { return function.kind == kind; }));
}

std::vector<Alternative> other_activations(const OperatorKind& kind, const Call& call) {
  std::vector<Alternative> alternatives;
  const Array* input = call.input(0);
  if (input == nullptr) {
    return alternatives;
  }
  for (const Function& function : functions()) {
    // A LeakyRelu of another slope is another function of the same kind.
    const bool same =
        function.kind == kind.name &&
        (kind.name != "LeakyRelu" || call.real({"alpha", "negative_slope"}, 0.01) == 0.01);
    if (same) {
      continue;
    }
    alternatives.push_back(
        {ExplanationKind::other_function,
         std::string("computes ") + function.name + " where " + std::string(kind.name) +
             " is expected",
         [input, value = function.value](Positions positions) -> Values {
           std::vector<double> values;
           values.reserve(positions.size());
           for (const std::uint64_t at : positions) {
             if (at >= input->size()) {
               return Error{ErrorCode::out_of_range, "expected an output like the input"};
             }
             values.push_back(value(input->values[static_cast<std::size_t>(at)]));
           }
           return values;
         }});
  }
  return alternatives;
}

std::string_view epsilon_name(const Call& call) {
  return call.has({"eps"}) && !call.has({"epsilon"}) ? "eps" : "epsilon";
}

/// Output 0 of a kind at some positions, replayed whole.
Values replayed_at(const OperatorKind& kind, const Call& call, Positions positions) {
  OPDRIFT_TRY(const replay::Outputs outputs, replay::evaluate(kind, call));
  std::vector<double> values;
  for (const std::uint64_t at : positions) {
    if (outputs.empty() || at >= outputs.front().size()) {
      return Error{ErrorCode::out_of_range, "expected an output of another shape"};
    }
    values.push_back(outputs.front().values[static_cast<std::size_t>(at)]);
  }
  return values;
}

Values normalised_with(const OperatorKind& kind, const Call& call, double epsilon,
                       Positions positions) {
  graph::Operator changed = call.op;
  graph::Attribute attribute;
  attribute.kind = graph::Attribute::Kind::real;
  attribute.reals = {epsilon};
  changed.attributes[std::string(epsilon_name(call))] = attribute;
  return replayed_at(kind, Call{changed, call.inputs, call.deltas, call.limits}, positions);
}

std::vector<Alternative> other_epsilons(const OperatorKind& kind, const Call& call) {
  std::vector<Alternative> alternatives;
  const Array* input = call.input(0);
  if (input == nullptr || input->size() > kMostNormalised) {
    return alternatives;
  }
  const double own = call.real({"epsilon", "eps"}, 1e-5);
  for (const double epsilon : {0.1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-12, 0.0}) {
    if (std::abs(epsilon - own) <= 1e-3 * own) {
      continue;
    }
    std::array<char, 64> text = {};
    std::snprintf(text.data(), text.size(), "adds epsilon %.3g where %.3g is expected", epsilon,
                  own);
    // Copied, as its spans are; what they point to is the caller's.
    alternatives.push_back(
        {ExplanationKind::other_function, text.data(), [&kind, call, epsilon](Positions positions) {
           return normalised_with(kind, call, epsilon, positions);
         }});
  }
  return alternatives;
}

/// Kinds that read the same inputs and are taken for each other.
struct Sibling {
  std::string_view kind;
  std::string_view other;
};

constexpr Sibling kSiblings[] = {
    {"MaxPool", "AveragePool"},
    {"AveragePool", "MaxPool"},
    {"GlobalAveragePool", "GlobalMaxPool"},
    {"GlobalMaxPool", "GlobalAveragePool"},
    {"Add", "Mul"},
    {"Add", "Sub"},
    {"Sub", "Add"},
    {"Mul", "Add"},
    {"Mul", "Div"},
    {"Div", "Mul"},
    {"Max", "Min"},
    {"Min", "Max"},
    {"ReduceMean", "ReduceSum"},
    {"ReduceMean", "ReduceMax"},
    {"ReduceSum", "ReduceMean"},
    {"ReduceMax", "ReduceMean"},
    {"ReduceMax", "ReduceMin"},
    {"ReduceMin", "ReduceMax"},
    {"Softmax", "Identity"},
    {"Softmax", "LogSoftmax"},
    {"LogSoftmax", "Softmax"},
};

std::vector<Alternative> siblings(const OperatorKind& kind, const Call& call) {
  std::vector<Alternative> alternatives;
  const Array* input = call.input(0);
  if (input == nullptr || input->size() > kMostNormalised) {
    return alternatives;
  }
  for (const Sibling& sibling : kSiblings) {
    const auto kinds = replay::all_kinds();
    const auto other = std::find_if(kinds.begin(), kinds.end(), [&](const OperatorKind& one) {
      return one.name == sibling.other;
    });
    if (sibling.kind == kind.name && other != kinds.end()) {
      alternatives.push_back({ExplanationKind::other_function,
                              "computes " + std::string(sibling.other) + " where " +
                                  std::string(kind.name) + " is expected",
                              [&found = *other, call](Positions positions) {
                                return replayed_at(found, call, positions);
                              }});
    }
  }
  return alternatives;
}

std::vector<Alternative> narrow_accumulators(const OperatorKind& kind, const Call& call,
                                             tensor::DType stored) {
  std::vector<Alternative> alternatives;
  const std::string type(tensor::name_of(stored));
  for (const bool products : {true, false}) {
    alternatives.push_back(
        {ExplanationKind::half_accumulation,
         "sums are kept in " + type + (products ? ", products rounded to it as well" : ""),
         [&kind, call, stored, products](Positions positions) {
           return refit::narrow_sums(kind, call, {stored, products}, positions);
         }});
  }
  return alternatives;
}

}  // namespace

std::vector<Alternative> operator_alternatives(const OperatorKind& kind, const Call& call,
                                               tensor::DType stored) {
  if (is_activation(kind.name)) {
    return other_activations(kind, call);
  }
  if (kind.family == replay::Family::normalisation && kind.evaluate != nullptr) {
    return other_epsilons(kind, call);
  }
  const bool narrow = tensor::is_floating(stored) && tensor::info(stored).mantissa_bits <= 10;
  if (refit::sums_in_order(kind) && narrow) {
    return narrow_accumulators(kind, call, stored);
  }
  return siblings(kind, call);
}

}  // namespace opdrift::verdict
