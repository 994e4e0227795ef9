#include "opdrift/replay/partial.hpp"

#include <algorithm>
#include <string_view>

#include "opdrift/base/text.hpp"
#include "opdrift/replay/partial/plan.hpp"

namespace opdrift::replay {

namespace {

constexpr std::string_view kElementwise[] = {"Identity",
                                             "Adds",
                                             "Muls",
                                             "Power",
                                             "Relu",
                                             "Relu6",
                                             "Clip",
                                             "Max",
                                             "Min",
                                             "Neg",
                                             "Abs",
                                             "Sign",
                                             "Ceil",
                                             "Floor",
                                             "Round",
                                             "Where",
                                             "ThresholdedRelu",
                                             "Add",
                                             "Sub",
                                             "Sum",
                                             "Mean",
                                             "Eltwise",
                                             "Mul",
                                             "Square",
                                             "SquaredDifference",
                                             "LeakyRelu",
                                             "Shrink",
                                             "Div",
                                             "FloorDiv",
                                             "Mod",
                                             "Reciprocal",
                                             "Pow",
                                             "Sqrt",
                                             "Rsqrt",
                                             "Exp",
                                             "Expm1",
                                             "Log",
                                             "Log1p",
                                             "Sin",
                                             "Cos",
                                             "Tan",
                                             "Asin",
                                             "Acos",
                                             "Atan",
                                             "Atan2",
                                             "Sinh",
                                             "Cosh",
                                             "Asinh",
                                             "Acosh",
                                             "Atanh",
                                             "Sigmoid",
                                             "LogSigmoid",
                                             "HardSigmoid",
                                             "HardSigmoidSixth",
                                             "HardSwish",
                                             "Tanh",
                                             "Erf",
                                             "Gelu",
                                             "GeluTanh",
                                             "QuickGelu",
                                             "Silu",
                                             "Mish",
                                             "Softplus",
                                             "Softsign",
                                             "Elu",
                                             "Celu",
                                             "Selu",
                                             "BiasGelu",
                                             "FastGelu",
                                             "Cast"};

template <std::size_t N>
bool one_of(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

/// A planner and the kinds it plans, separated by blanks.
struct Row {
  std::string_view kinds;
  partial::Planner* plan = nullptr;
};

constexpr Row kPlanners[] = {
    {"Reshape Flatten Squeeze Unsqueeze Identity Dropout", &partial::plan_reshape},
    {"Softmax LogSoftmax LayerNormalization RMSNormalization", &partial::plan_lines},
    {"ReduceSum ReduceMean ReduceMax ReduceMin ReduceL1 ReduceL2 ReduceSumSquare ReduceLogSum "
     "ReduceLogSumExp GlobalAveragePool GlobalMaxPool",
     &partial::plan_reduction},
    {"BatchNormalization", &partial::plan_batch_norm},
    {"Transpose", &partial::plan_transpose},
    {"Concat", &partial::plan_concat},
    {"Expand", &partial::plan_expand},
    {"Tile", &partial::plan_tile},
    {"DepthToSpace", &partial::plan_depth_to_space},
    {"SpaceToDepth", &partial::plan_space_to_depth},
    {"Slice", &partial::plan_slice},
    {"Pad", &partial::plan_pad},
    {"MaxPool", &partial::plan_max_pool},
    {"AveragePool", &partial::plan_average_pool},
    {"Resize", &partial::plan_resize},
};

bool listed(std::string_view kinds, std::string_view name) {
  const std::vector<std::string_view> all = split(kinds, ' ');
  return std::find(all.begin(), all.end(), name) != all.end();
}

partial::Planner* planner_of(std::string_view name) {
  for (const Row& row : kPlanners) {
    if (listed(row.kinds, name)) {
      return row.plan;
    }
  }
  return one_of(kElementwise, name) ? &partial::plan_elementwise : nullptr;
}

}  // namespace

std::optional<Partial> plan_partial(const OperatorKind& kind, const Call& call,
                                    const tensor::Shape& output,
                                    std::span<const std::uint64_t> random,
                                    std::span<const std::uint64_t> chosen) {
  partial::Planner* const planner = planner_of(kind.name);
  if (planner == nullptr) {
    return std::nullopt;
  }
  std::optional<Partial> planned = planner(partial::Request{kind, call, output, random, chosen});
  if (planned && planned->positions.size() * 2 > count_of(output)) {
    return std::nullopt;
  }
  return planned;
}

}  // namespace opdrift::replay
