#include "opdrift/verdict/judge/shape_tier.hpp"

#include <algorithm>
#include <cmath>

#include "opdrift/replay/budget.hpp"
#include "opdrift/replay/number_format.hpp"
#include "opdrift/replay/replay.hpp"

namespace opdrift::verdict::judging {

namespace {

using replay::Array;
using replay::AxisSplit;

constexpr double kDeviationOfMedian = 1.4826;
constexpr double kMedianOfChiSquared = 0.455;
constexpr double kTiny = 1e-300;
constexpr std::uint64_t kBytesPerElement = 64;
constexpr std::size_t kLeastPlaces = 8;

double median_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::size_t channel_axis(std::size_t rank) {
  return rank >= 4 ? 1 : rank - 1;
}

// Mean of |e| per channel, each value cut at four times the channel's median.
std::vector<double> channel_scales(std::span<const double> e, const AxisSplit& split) {
  std::vector<double> scales(split.extent, 0.0);
  std::vector<double> values(split.outer * split.inner);
  for (std::size_t channel = 0; channel < split.extent; ++channel) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] =
          std::abs(e[(i / split.inner * split.extent + channel) * split.inner + i % split.inner]);
    }
    std::vector<double> sorted = values;
    const double cut = 4.0 * median_of(sorted) + kTiny;
    double sum = 0.0;
    for (const double value : values) {
      sum += std::min(value, cut);
    }
    scales[channel] = sum / static_cast<double>(values.size());
  }
  return scales;
}

// Median of |e| over the channels, per place.
std::vector<double> place_scales(std::span<const double> e, const AxisSplit& split) {
  std::vector<double> scales(split.outer * split.inner, 0.0);
  std::vector<double> values(split.extent);
  for (std::size_t place = 0; place < scales.size(); ++place) {
    for (std::size_t channel = 0; channel < split.extent; ++channel) {
      values[channel] = std::abs(
          e[(place / split.inner * split.extent + channel) * split.inner + place % split.inner]);
    }
    scales[place] = median_of(values);
  }
  return scales;
}

std::vector<double> row_channel_variance(std::span<const double> e, const tensor::Shape& shape) {
  std::vector<double> variance(e.size());
  if (shape.size() < 2) {
    std::vector<double> sizes;
    for (const double x : e) {
      sizes.push_back(std::abs(x));
    }
    const double deviation = kDeviationOfMedian * median_of(sizes);
    std::fill(variance.begin(), variance.end(), deviation * deviation);
    return variance;
  }
  const AxisSplit split = replay::split_at(shape, channel_axis(shape.size()));
  const std::vector<double> channels = channel_scales(e, split);
  const std::vector<double> places = place_scales(e, split);
  double mean = 0.0;
  for (const double p : places) {
    mean += p / static_cast<double>(places.size());
  }
  for (std::size_t i = 0; i < e.size(); ++i) {
    const std::size_t channel = i / split.inner % split.extent;
    const std::size_t place = i / split.inner / split.extent * split.inner + i % split.inner;
    const double deviation = kDeviationOfMedian * channels[channel] *
                             std::max(places[place], 0.3 * mean) / std::max(mean, kTiny);
    variance[i] = deviation * deviation;
  }
  return variance;
}

std::int64_t integer_attribute(const graph::Operator& op, const char* name, std::int64_t fallback) {
  const auto found = op.attributes.find(name);
  return found == op.attributes.end() || found->second.integers.empty()
             ? fallback
             : found->second.integers.front();
}

// Squared difference of an operator's first input between the sides; nothing when not dumped.
Result<Array> input_error(const Context& context, const ProblemOperator& op) {
  if (op.inputs.empty() || op.inputs.front() >= context.facts.values.size() ||
      !context.facts.values[op.inputs.front()].both()) {
    return Error{ErrorCode::not_found, "its input was not dumped on both sides"};
  }
  OPDRIFT_TRY(const Pair pair, load_pair(context, op.inputs.front()));
  Array error = *pair.golden;
  if (pair.target->size() != error.size()) {
    return Error{ErrorCode::mismatch, "its inputs differ in size"};
  }
  for (std::size_t i = 0; i < error.size(); ++i) {
    const double d = pair.target->values[i] - error.values[i];
    error.values[i] = std::isfinite(d) ? d * d : 0.0;
  }
  return error;
}

// Kernel extents from the attribute or from the weights, where a side has them.
tensor::Shape kernel_of(const Context& context, const ProblemOperator& op) {
  const auto found = op.op->attributes.find("kernel_shape");
  if (found != op.op->attributes.end()) {
    return {found->second.integers.begin(), found->second.integers.end()};
  }
  if (op.inputs.size() > 1 && op.inputs[1] < context.facts.values.size()) {
    const tensor::Shape& shape = context.facts.values[op.inputs[1]].shape;
    return shape.size() > 2 ? tensor::Shape(shape.begin() + 2, shape.end()) : tensor::Shape{};
  }
  return {};
}

// Energy under the kernel, the same for all output channels of a group.
Result<std::vector<double>> energy_under_kernel(const Context& context, const ProblemOperator& op,
                                                const Array& error, const tensor::Shape& out) {
  const tensor::Shape kernel = kernel_of(context, op);
  const auto groups =
      static_cast<std::uint64_t>(std::max<std::int64_t>(1, integer_attribute(*op.op, "group", 1)));
  if (kernel.empty() || error.rank() < 3 || out.size() != error.rank() ||
      error.shape[1] % groups != 0 || out[1] % groups != 0) {
    return Error{ErrorCode::unsupported, "its kernel is not known"};
  }
  Array ones;
  ones.shape = {groups, error.shape[1] / groups};
  ones.shape.insert(ones.shape.end(), kernel.begin(), kernel.end());
  ones.values.assign(replay::count_of(ones.shape), 1.0);
  const std::vector<const Array*> inputs = {&error, &ones};
  OPDRIFT_TRY(const replay::Outputs outputs,
              replay::evaluate(*op.kind, {*op.op, inputs, {}, limits_of(context.options)}));
  const AxisSplit split = replay::split_at(out, 1);
  const Array& energy = outputs.front();
  if (energy.size() != split.outer * groups * split.inner) {
    return Error{ErrorCode::unsupported, "its result has another shape"};
  }
  std::vector<double> wide(replay::count_of(out));
  for (std::size_t i = 0; i < wide.size(); ++i) {
    const std::size_t channel = i / split.inner % split.extent;
    const std::size_t group = channel / (split.extent / groups);
    wide[i] = energy.values[(i / split.inner / split.extent * groups + group) * split.inner +
                            i % split.inner];
  }
  return wide;
}

// Energy of the input row that an output row is made of.
Result<std::vector<double>> energy_of_row(const ProblemOperator& op, const Array& error,
                                          const tensor::Shape& out) {
  if (out.empty() || error.rank() < 2 || integer_attribute(*op.op, "transA", 0) != 0) {
    return Error{ErrorCode::unsupported, "its rows are not known"};
  }
  const std::size_t columns = out.back();
  const std::size_t reduced = error.shape.back();
  const std::size_t rows = columns == 0 ? 0 : replay::count_of(out) / columns;
  if (reduced == 0 || error.size() / reduced != rows) {
    return Error{ErrorCode::unsupported, "its rows do not fit"};
  }
  std::vector<double> wide(rows * columns);
  for (std::size_t row = 0; row < rows; ++row) {
    double sum = 0.0;
    for (std::size_t k = 0; k < reduced; ++k) {
      sum += error.values[row * reduced + k];
    }
    std::fill_n(wide.begin() + static_cast<std::ptrdiff_t>(row * columns), columns, sum);
  }
  return wide;
}

Result<std::vector<double>> input_energy(const Context& context, const ProblemOperator& op,
                                         const tensor::Shape& out) {
  if (op.kind == nullptr) {
    return Error{ErrorCode::unsupported, "there is no model of the operator"};
  }
  OPDRIFT_TRY(const Array error, input_error(context, op));
  if (op.kind->name == "Conv") {
    return energy_under_kernel(context, op, error, out);
  }
  if (op.kind->name == "MatMul" || op.kind->name == "Gemm" || op.kind->name == "Linear") {
    return energy_of_row(op, error, out);
  }
  return Error{ErrorCode::unsupported, "its input error has no known shape"};
}

// gamma_o B, robustly fitted per output channel.
std::vector<double> profile(std::span<const double> e, std::span<const double> energy,
                            const AxisSplit& split) {
  std::vector<double> variance(e.size(), 0.0);
  std::vector<double> shares(split.outer * split.inner);
  if (shares.size() < kLeastPlaces) {
    return variance;
  }
  for (std::size_t channel = 0; channel < split.extent; ++channel) {
    const auto at = [&](std::size_t i) {
      return (i / split.inner * split.extent + channel) * split.inner + i % split.inner;
    };
    for (std::size_t i = 0; i < shares.size(); ++i) {
      shares[i] = energy[at(i)] > 0.0 ? e[at(i)] * e[at(i)] / energy[at(i)] : 0.0;
    }
    std::vector<double> sorted = shares;
    const double gamma = median_of(sorted) / kMedianOfChiSquared;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      variance[at(i)] = gamma * energy[at(i)];
    }
  }
  return variance;
}

}  // namespace

Status judge_by_shape(const Context& context, ValueId value, Found& found) {
  const ValueFacts& facts = context.facts.values[value];
  if (facts.golden_count == 0 || facts.producer == kNobody ||
      facts.golden_count > context.options.memory_budget / kBytesPerElement) {
    return Unit{};
  }
  OPDRIFT_TRY(const Pair pair, load_pair(context, value));
  const std::vector<double>& g = pair.golden->values;
  const std::vector<double>& t = pair.target->values;
  const ProblemOperator& op = context.problem.operators[facts.producer];
  std::vector<double> e(g.size(), 0.0);
  for (std::size_t i = 0; i < e.size(); ++i) {
    e[i] = std::isfinite(g[i]) && std::isfinite(t[i]) ? t[i] - g[i] : 0.0;
  }
  std::vector<double> variance = row_channel_variance(e, facts.shape);
  const Result<std::vector<double>> energy = input_energy(context, op, facts.shape);
  if (energy && !facts.shape.empty()) {
    const std::size_t axis = op.kind->name == "Conv" ? 1 : facts.shape.size() - 1;
    const std::vector<double> shaped = profile(e, *energy, replay::split_at(facts.shape, axis));
    std::transform(variance.begin(), variance.end(), shaped.begin(), variance.begin(),
                   [](double a, double b) { return std::max(a, b); });
    found.shaped = true;
  }
  replay::Precision precision;
  precision.golden = facts.golden_dtype;
  precision.target = facts.target_dtype;
  precision.truncates = context.assume.truncation;
  double storage = 0.0;
  for (std::size_t i = 0; i < e.size(); ++i) {
    const double own = replay::storage_variance(g[i], t[i], precision);
    storage += own;
    variance[i] += own + kTiny;
  }
  const replay::Ratios ratios = replay::ratios(e, variance, {}, e.size());
  Judgement& judgement = found.judgement;
  judgement.z = ratios.z_scaled;
  judgement.tier = Tier::shape;
  found.budget = std::sqrt(storage);
  if (judgement.new_classes == 0) {
    judgement.worst = ratios.worst;
    judgement.worst_golden = g[ratios.worst];
    judgement.worst_target = t[ratios.worst];
  }
  return Unit{};
}

}  // namespace opdrift::verdict::judging
