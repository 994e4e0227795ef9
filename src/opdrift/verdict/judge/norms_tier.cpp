#include "opdrift/verdict/judge/norms_tier.hpp"

#include <cmath>
#include <optional>

#include "opdrift/replay/number_format.hpp"

namespace opdrift::verdict::judging {

namespace {

using replay::Array;

constexpr double kMeanRounding = 0.42;
constexpr double kSingle = 0x1p-24;

/// The weights as a matrix of squared norms: groups of output channels over input channels.
struct WeightNorms {
  std::size_t outputs = 0;
  std::size_t inputs = 0;  ///< of one group
  std::size_t groups = 1;
  double taps = 1.0;           ///< kernel elements
  std::vector<double> square;  ///< outputs x inputs

  double reduction() const { return taps * static_cast<double>(inputs); }
};

std::int64_t integer_of(const graph::Operator& op, const char* name, std::int64_t fallback) {
  const auto found = op.attributes.find(name);
  return found == op.attributes.end() || found->second.integers.empty()
             ? fallback
             : found->second.integers.front();
}

// [output channels, input channels of a group, kernel...]
std::optional<WeightNorms> kernel_norms(const graph::Operator& op, const Array& weights) {
  const std::int64_t groups = integer_of(op, "group", 1);
  if (weights.rank() < 3 || groups < 1 || weights.size() == 0) {
    return std::nullopt;
  }
  WeightNorms norms;
  norms.outputs = weights.shape[0];
  norms.inputs = weights.shape[1];
  norms.groups = static_cast<std::size_t>(groups);
  const std::size_t taps = weights.size() / (norms.outputs * norms.inputs);
  norms.taps = static_cast<double>(taps);
  norms.square.assign(norms.outputs * norms.inputs, 0.0);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    norms.square[i / taps] += weights.values[i] * weights.values[i];
  }
  return norms.outputs % norms.groups == 0 ? std::optional(norms) : std::nullopt;
}

// [input, output], or the reverse when transposed.
std::optional<WeightNorms> matrix_norms(const Array& weights, bool transposed) {
  if (weights.rank() != 2 || weights.size() == 0) {
    return std::nullopt;
  }
  WeightNorms norms;
  norms.outputs = weights.shape[transposed ? 0 : 1];
  norms.inputs = weights.shape[transposed ? 1 : 0];
  norms.square.resize(weights.size());
  for (std::size_t o = 0; o < norms.outputs; ++o) {
    for (std::size_t i = 0; i < norms.inputs; ++i) {
      const double w = weights.values[transposed ? o * norms.inputs + i : i * norms.outputs + o];
      norms.square[o * norms.inputs + i] = w * w;
    }
  }
  return norms;
}

std::optional<WeightNorms> norms_of(const ProblemOperator& op, const Array& weights) {
  const std::string_view name = op.kind->name;
  if (name == "Conv") {
    return kernel_norms(*op.op, weights);
  }
  if (name == "MatMul") {
    return matrix_norms(weights, false);
  }
  if (name == "Gemm" && integer_of(*op.op, "transA", 0) == 0) {
    return matrix_norms(weights, integer_of(*op.op, "transB", 0) != 0);
  }
  return name == "Linear" ? matrix_norms(weights, true) : std::nullopt;
}

/// Mean squares per input channel.
struct Channels {
  std::vector<double> error;
  std::vector<double> golden;
};

std::optional<Channels> channels_of(const Pair& pair, std::size_t axis, std::size_t extent) {
  const Array& g = *pair.golden;
  const Array& t = *pair.target;
  if (g.size() != t.size() || axis >= g.rank() || g.shape[axis] != extent || g.size() == 0) {
    return std::nullopt;
  }
  const replay::AxisSplit split = replay::split_at(g.shape, axis);
  Channels channels{std::vector<double>(extent, 0.0), std::vector<double>(extent, 0.0)};
  for (std::size_t i = 0; i < g.size(); ++i) {
    const std::size_t channel = i / split.inner % split.extent;
    const double e = t.values[i] - g.values[i];
    channels.error[channel] += std::isfinite(e) ? e * e : 0.0;
    channels.golden[channel] += std::isfinite(e) ? g.values[i] * g.values[i] : 0.0;
  }
  const double share = static_cast<double>(split.outer * split.inner);
  for (std::size_t channel = 0; channel < extent; ++channel) {
    channels.error[channel] /= share;
    channels.golden[channel] /= share;
  }
  return channels;
}

// sum_o sum_i |w_oi|^2 m_i
double through(const WeightNorms& norms, const std::vector<double>& mean_squares) {
  const std::size_t per_group = norms.outputs / norms.groups;
  double sum = 0.0;
  for (std::size_t o = 0; o < norms.outputs; ++o) {
    const std::size_t first = o / per_group * norms.inputs;
    for (std::size_t i = 0; i < norms.inputs; ++i) {
      sum += norms.square[o * norms.inputs + i] * mean_squares[first + i];
    }
  }
  return sum;
}

bool at_hand(const Context& context, const ProblemOperator& op) {
  if (op.kind == nullptr || op.inputs.size() < 2 || op.inputs[0] >= context.facts.values.size() ||
      op.inputs[1] >= context.facts.values.size()) {
    return false;
  }
  return context.facts.values[op.inputs[0]].both() && context.facts.values[op.inputs[1]].golden &&
         context.problem.values[op.inputs[1]].role == ProblemValue::Role::parameter;
}

}  // namespace

Status judge_by_norms(const Context& context, ValueId value, Found& found) {
  const ValueFacts& facts = context.facts.values[value];
  const ProblemOperator& op = context.problem.operators[facts.producer];
  if (found.judgement.tier != Tier::shape || !at_hand(context, op)) {
    return Unit{};
  }
  OPDRIFT_TRY(const ArrayPtr weights, load_value(context, RunSide::golden, op.inputs[1]));
  const std::optional<WeightNorms> norms = norms_of(op, *weights);
  if (!norms) {
    return Unit{};
  }
  OPDRIFT_TRY(const Pair pair, load_pair(context, op.inputs[0]));
  const std::size_t rank = pair.golden->rank();
  const std::size_t axis = op.kind->name == "Conv" ? 1 : rank - 1;
  const auto channels = channels_of(pair, axis, norms->groups * norms->inputs);
  if (!channels) {
    return Unit{};
  }
  const double places =
      static_cast<double>(facts.golden_count) / static_cast<double>(norms->outputs);
  const double a2 = places * through(*norms, channels->golden);
  const double u = replay::unit_roundoff(found.dtype);
  const double accumulator = context.assume.half_accumulators ? std::max(u, kSingle) : kSingle;
  const double operands = context.assume.operands;
  double variance = 2.0 * norms->reduction() * accumulator * accumulator *
                    (0.09 * a2 + 0.06 * found.golden_norm * found.golden_norm);
  variance += 2.0 * kMeanRounding * kMeanRounding * operands * operands * a2;
  if (is_narrowed(context, op.inputs[1], weights->dtype, found.dtype)) {
    variance += kMeanRounding * kMeanRounding * u * u * a2;
  }
  found.white = std::sqrt(places * through(*norms, channels->error));
  found.budget = std::hypot(found.budget, std::sqrt(variance));
  found.judgement.tier = Tier::norms;
  return Unit{};
}

}  // namespace opdrift::verdict::judging
