#include "opdrift/verdict/judge/norms_tier.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "opdrift/replay/number_format.hpp"
#include "opdrift/verdict/judge/block_reader.hpp"

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
  const std::int64_t groups = integer_of(op, "group", integer_of(op, "groups", 1));
  if (op.type == "DepthwiseConv2D" || weights.rank() < 3 || groups < 1 || weights.size() == 0) {
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

/// Sums squares per channel while elements go by in logical order.
class ChannelSums {
 public:
  explicit ChannelSums(const replay::AxisSplit& split)
      : split_(split),
        sums_{std::vector<double>(split.extent, 0.0), std::vector<double>(split.extent, 0.0)} {}

  void take(std::uint64_t first, std::span<const double> golden, std::span<const double> target) {
    for (std::size_t at = 0; at < golden.size();) {
      const std::uint64_t position = first + at;
      const std::uint64_t left = split_.inner - position % split_.inner;
      const auto count =
          static_cast<std::size_t>(std::min<std::uint64_t>(left, golden.size() - at));
      add(position / split_.inner % split_.extent, golden.subspan(at, count),
          target.subspan(at, count));
      at += count;
    }
  }

  Channels means() {
    const auto share = static_cast<double>(split_.outer * split_.inner);
    for (std::vector<double>* list : {&sums_.error, &sums_.golden}) {
      for (double& sum : *list) {
        sum /= share;
      }
    }
    return std::move(sums_);
  }

 private:
  void add(std::size_t channel, std::span<const double> golden, std::span<const double> target) {
    double error = 0.0;
    double squares = 0.0;
    for (std::size_t i = 0; i < golden.size(); ++i) {
      const double e = target[i] - golden[i];
      error += std::isfinite(e) ? e * e : 0.0;
      squares += std::isfinite(e) ? golden[i] * golden[i] : 0.0;
    }
    sums_.error[channel] += error;
    sums_.golden[channel] += squares;
  }

  replay::AxisSplit split_;
  Channels sums_;
};

// Block by block: the tensors are as large as those that were not worth replaying.
std::optional<Channels> channels_of(const tensor::View& golden, const tensor::View& target,
                                    std::size_t axis, std::size_t extent) {
  const tensor::Shape shape = golden.shape();
  const std::uint64_t elements = golden.count();
  if (elements != target.count() || axis >= shape.size() || shape[axis] != extent ||
      elements == 0) {
    return std::nullopt;
  }
  ChannelSums sums(replay::split_at(shape, axis));
  BlockReader golden_reader(golden);
  BlockReader target_reader(target);
  for (std::uint64_t first = 0; first < elements; first += BlockReader::kMost) {
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(BlockReader::kMost, elements - first));
    sums.take(first, golden_reader.read(first, count), target_reader.read(first, count));
  }
  return sums.means();
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
  OPDRIFT_TRY(const tensor::View golden, context.source.view(RunSide::golden, op.inputs[0]));
  OPDRIFT_TRY(const tensor::View target, context.source.view(RunSide::target, op.inputs[0]));
  OPDRIFT_CHECK_OK(check_numbers(golden));
  OPDRIFT_CHECK_OK(check_numbers(target));
  const std::size_t axis =
      op.kind->name == "Conv" || golden.axes.empty() ? 1 : golden.axes.size() - 1;
  const auto channels = channels_of(golden, target, axis, norms->groups * norms->inputs);
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
