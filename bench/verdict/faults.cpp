#include "faults.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "half_sum.hpp"

namespace opdrift::evaluation {

namespace {

using Floats = std::vector<float>;
using Harmed = std::optional<Floats>;
using tensor::DType;
using tensor::Shape;

double rms_of(std::span<const float> values) {
  double sum = 0.0;
  for (const float value : values) {
    sum += static_cast<double>(value) * static_cast<double>(value);
  }
  return values.empty() ? 0.0 : std::sqrt(sum / static_cast<double>(values.size()));
}

/// The tensor seen as channels: axis 1 with four axes or more, else the last one.
struct Channels {
  explicit Channels(const Shape& shape) {
    const std::size_t axis = shape.size() >= 4 ? 1 : shape.size() - 1;
    count = shape.empty() ? 1 : shape[axis];
    for (std::size_t i = axis + 1; i < shape.size(); ++i) {
      inner *= shape[i];
    }
  }
  std::size_t of(std::size_t index) const { return index / inner % count; }

  std::size_t count = 1;
  std::size_t inner = 1;
};

/// Group numbers by falling energy; `group_of(i)` names the group of element i.
template <typename GroupOf>
std::vector<std::size_t> by_energy(std::span<const float> values, std::size_t groups,
                                   const GroupOf& group_of) {
  std::vector<double> energy(groups, 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    energy[group_of(i)] += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  }
  std::vector<std::size_t> order(groups);
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return energy[a] > energy[b]; });
  return order;
}

const std::string& type_of(const FaultSite& site) {
  return site.network.node(site.op).op_type;
}

const tensor::Tensor* parameter_at(const FaultSite& site, std::size_t index) {
  const std::vector<ValueId>& inputs = site.network.problem().operators[site.op].inputs;
  return index < inputs.size() && inputs[index] != verdict::kAbsent
             ? site.network.parameter(inputs[index])
             : nullptr;
}

Harmed with_scaled_channel(FaultSite& site, Floats values, float factor) {
  const Shape& shape = site.clean().desc.shape;
  const Channels channels(shape);
  if (shape.size() < 2 || channels.count < 4) {
    return std::nullopt;
  }
  const auto order =
      by_energy(values, channels.count, [&](std::size_t i) { return channels.of(i); });
  const std::size_t chosen = order[channels.count / 4];
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] *= channels.of(i) == chosen ? factor : 1.0F;
  }
  return values;
}

Harmed scaled(Floats values, float factor) {
  for (float& value : values) {
    value *= factor;
  }
  return values;
}

Harmed swap_channels(FaultSite& site, Floats values) {
  const Shape& shape = site.clean().desc.shape;
  const Channels channels(shape);
  if (shape.size() < 2 || channels.count < 4) {
    return std::nullopt;
  }
  const auto order =
      by_energy(values, channels.count, [&](std::size_t i) { return channels.of(i); });
  const std::size_t one = order[channels.count / 8];
  const std::size_t two = order[channels.count / 4 + 1];
  const Floats clean = values;
  const std::size_t block = channels.inner;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t channel = channels.of(i);
    if (channel == one || channel == two) {
      const std::size_t other = channel == one ? two : one;
      values[i] = clean[i + other * block - channel * block];
    }
  }
  return values;
}

Harmed one_element(FaultSite& site, Floats values) {
  values[site.random.below(values.size())] += static_cast<float>(3.0 * rms_of(values));
  return values;
}

Harmed one_zeroed(FaultSite& site, Floats values) {
  const double rms = rms_of(values);
  std::vector<std::size_t> large;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::abs(static_cast<double>(values[i])) > rms / 2.0) {
      large.push_back(i);
    }
  }
  values[large[site.random.below(large.size())]] = 0.0F;
  return values;
}

Harmed row_replaced(FaultSite& site, Floats values) {
  const std::size_t width = site.clean().desc.shape.back();
  const std::size_t rows = values.size() / width;
  if (rows < 2 || width < 4) {
    return std::nullopt;
  }
  const auto order = by_energy(values, rows, [&](std::size_t i) { return i / width; });
  std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(order[rows / 2] * width), width,
              values.begin() + static_cast<std::ptrdiff_t>(order[rows / 4] * width));
  return values;
}

Harmed scale_up(FaultSite& /*site*/, Floats values) {
  return scaled(std::move(values), 1.02F);
}

Harmed scale_slightly(FaultSite& /*site*/, Floats values) {
  return scaled(std::move(values), 1.002F);
}

Harmed channel_up(FaultSite& site, Floats values) {
  return with_scaled_channel(site, std::move(values), 1.2F);
}

Harmed channel_slightly(FaultSite& site, Floats values) {
  return with_scaled_channel(site, std::move(values), 1.02F);
}

/// Subtracts a parameter that is stretched to the shape of the output from the right, or along
/// axis 1 for the bias of a convolution.
Harmed without(const FaultSite& site, Floats values, const tensor::Tensor& bias,
               bool along_axis_1) {
  const Shape& shape = site.clean().desc.shape;
  const std::span<const float> terms = floats_of(bias);
  std::size_t inner = 1;
  for (std::size_t i = 2; along_axis_1 && i < shape.size(); ++i) {
    inner *= shape[i];
  }
  Shape from = bias.desc.shape;
  while (!along_axis_1 && !from.empty() && from.back() == 1 && from.size() <= shape.size()) {
    inner *= shape[shape.size() - (bias.desc.shape.size() - from.size()) - 1];
    from.pop_back();
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] -= terms[i / inner % terms.size()];
  }
  return values;
}

Harmed bias_dropped(FaultSite& site, Floats values) {
  const std::string& type = type_of(site);
  if (type == "Conv" || type == "Gemm") {
    const tensor::Tensor* bias = parameter_at(site, 2);
    return bias == nullptr ? std::nullopt : without(site, std::move(values), *bias, type == "Conv");
  }
  for (std::size_t i = 0; type == "Add" && i < 2; ++i) {
    const tensor::Tensor* bias = parameter_at(site, i);
    if (bias != nullptr && bias->desc.dtype == DType::f32 && floats_of(*bias).size() > 4 &&
        bias->desc.shape.size() <= site.clean().desc.shape.size()) {
      return without(site, std::move(values), *bias, false);
    }
  }
  return std::nullopt;
}

constexpr double kWrongEpsilon = 1e-3;

Harmed batch_norm_epsilon(const FaultSite& site, Floats values) {
  const auto inputs = site.target.inputs_of(site.op, site.values);
  const std::span<const float> x = floats_of(*inputs[0]);
  const Shape& shape = site.clean().desc.shape;
  std::size_t inner = 1;
  for (std::size_t i = 2; i < shape.size(); ++i) {
    inner *= shape[i];
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t c = i / inner % shape[1];
    const auto at = [&](std::size_t k) { return static_cast<double>(floats_of(*inputs[k])[c]); };
    const double factor = at(1) / std::sqrt(at(4) + kWrongEpsilon);
    values[i] = static_cast<float>((static_cast<double>(x[i]) - at(3)) * factor + at(2));
  }
  return values;
}

Harmed layer_norm_epsilon(const FaultSite& site, Floats values) {
  const auto inputs = site.target.inputs_of(site.op, site.values);
  const std::size_t width = site.clean().desc.shape.back();
  for (std::size_t row = 0; row < values.size() / width; ++row) {
    const std::span<const float> x = floats_of(*inputs[0]).subspan(row * width, width);
    const double mean = std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(width);
    double variance = 0.0;
    for (const float value : x) {
      variance += (static_cast<double>(value) - mean) * (static_cast<double>(value) - mean);
    }
    const double factor = 1.0 / std::sqrt(variance / static_cast<double>(width) + kWrongEpsilon);
    for (std::size_t i = 0; i < width; ++i) {
      const double bias = inputs.size() > 2 ? static_cast<double>(floats_of(*inputs[2])[i]) : 0.0;
      values[row * width + i] =
          static_cast<float>((static_cast<double>(x[i]) - mean) * factor *
                                 static_cast<double>(floats_of(*inputs[1])[i]) +
                             bias);
    }
  }
  return values;
}

Harmed wrong_epsilon(FaultSite& site, Floats values) {
  const std::string& type = type_of(site);
  if (type == "BatchNormalization") {
    return batch_norm_epsilon(site, std::move(values));
  }
  if (type == "LayerNormalization") {
    return layer_norm_epsilon(site, std::move(values));
  }
  for (std::size_t i = 0; type == "Add" && i < 2; ++i) {
    const tensor::Tensor* constant = parameter_at(site, i);
    if (constant != nullptr && constant->desc.dtype == DType::f32 &&
        floats_of(*constant).size() == 1 && floats_of(*constant)[0] > 0.0F &&
        floats_of(*constant)[0] < 1e-4F) {
      for (float& value : values) {
        value += static_cast<float>(kWrongEpsilon);
      }
      return values;
    }
  }
  return std::nullopt;
}

double sigmoid(double x) {
  return 1.0 / (1.0 + std::exp(-x));
}

using Scalar = double (*)(double);

/// What a mistaken device might compute instead.
Scalar other_function(const std::string& type) {
  if (type == "Relu") {
    return [](double x) { return 0.5 * x * (1.0 + std::erf(x / std::sqrt(2.0))); };
  }
  if (type == "LeakyRelu") {
    return [](double x) { return std::max(x, 0.0); };
  }
  if (type == "HardSigmoid") {
    return [](double x) { return sigmoid(x); };
  }
  if (type == "Sigmoid") {
    return [](double x) { return std::clamp(0.2 * x + 0.5, 0.0, 1.0); };
  }
  if (type == "Erf") {
    return [](double x) { return std::tanh(1.1283792 * x); };
  }
  if (type == "Gelu") {
    return [](double x) { return x * sigmoid(1.702 * x); };
  }
  return nullptr;
}

Harmed activation(FaultSite& site, Floats values) {
  const auto inputs = site.target.inputs_of(site.op, site.values);
  Scalar function = other_function(type_of(site));
  if (type_of(site) == "Clip" && *std::min_element(values.begin(), values.end()) >= 0.0F) {
    const float top = *std::max_element(values.begin(), values.end());
    const std::span<const float> x = floats_of(*inputs[0]);
    const bool limited = std::any_of(x.begin(), x.end(), [&](float v) { return v > top; });
    function = limited ? Scalar([](double v) { return std::max(v, 0.0); })
                       : Scalar([](double v) { return v * sigmoid(v); });
  }
  if (function == nullptr) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(function(static_cast<double>(floats_of(*inputs[0])[i])));
  }
  return values;
}

Harmed one_nan(FaultSite& site, Floats values) {
  values[site.random.below(values.size())] = std::numeric_limits<float>::quiet_NaN();
  return values;
}

Harmed store_bf16(FaultSite& site, Floats values) {
  if (site.target.arithmetic().storage != Format::fp16) {
    return std::nullopt;
  }
  round_floats(Format::bf16, values);
  return values;
}

Harmed store_e4m3(FaultSite& /*site*/, Floats values) {
  round_floats(Format::e4m3, values);
  return values;
}

Harmed half_accumulate(FaultSite& site, Floats /*values*/) {
  const auto inputs = site.target.inputs_of(site.op, site.values);
  const auto sum =
      half_sum(site.network.node(site.op), inputs, dtype_of(site.target.arithmetic().storage));
  if (!sum) {
    return std::nullopt;
  }
  const std::span<const float> sums = floats_of(*sum);
  return Floats(sums.begin(), sums.end());
}

bool nearly_equal(std::span<const float> one, std::span<const float> two, double rms) {
  for (std::size_t i = 0; i < one.size(); ++i) {
    const auto b = static_cast<double>(two[i]);
    if (!(std::abs(static_cast<double>(one[i]) - b) <= 0.02 * rms + 0.05 * std::abs(b))) {
      return false;
    }
  }
  return true;
}

/// The last earlier tensor of the same shape that holds something else, or else a later one.
Harmed stale_buffer(FaultSite& site, Floats values) {
  const double rms = rms_of(values);
  const tensor::Tensor* earlier = nullptr;
  const tensor::Tensor* later = nullptr;
  bool passed = false;
  for (const ValueId id : site.network.computed()) {
    passed = passed || id == site.output();
    const auto& other = site.values[id];
    if (id == site.output() || !other || other->desc.dtype != DType::f32 ||
        other->desc.shape != site.clean().desc.shape ||
        nearly_equal(floats_of(*other), values, rms)) {
      continue;
    }
    (passed ? later : earlier) = &*other;
  }
  const tensor::Tensor* found = earlier != nullptr ? earlier : later;
  if (found == nullptr) {
    return std::nullopt;
  }
  const std::span<const float> stale = floats_of(*found);
  return Floats(stale.begin(), stale.end());
}

Harmed tail_zero(FaultSite& /*site*/, Floats values) {
  const std::size_t tail = std::max<std::size_t>(1, values.size() / 16);
  std::fill(values.end() - static_cast<std::ptrdiff_t>(tail), values.end(), 0.0F);
  return values;
}

Harmed transposed(FaultSite& site, Floats values) {
  const Shape& shape = site.clean().desc.shape;
  if (shape.size() < 2 || std::min(shape.back(), shape[shape.size() - 2]) < 2) {
    return std::nullopt;
  }
  const std::size_t columns = shape.back();
  const std::size_t rows = shape[shape.size() - 2];
  const Floats clean = values;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t in = i % (rows * columns);
    values[i / (rows * columns) * (rows * columns) + in % columns * rows + in / columns] = clean[i];
  }
  return values;
}

/// Limits what lies beyond the 99.8 % quantile of the magnitudes.
Harmed clamp(FaultSite& /*site*/, Floats values) {
  Floats sizes = values;
  for (float& size : sizes) {
    size = std::abs(size);
  }
  std::sort(sizes.begin(), sizes.end());
  const double at = 0.998 * static_cast<double>(sizes.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sizes.size() - 1);
  const double limit = static_cast<double>(sizes[below]) +
                       (at - std::floor(at)) * static_cast<double>(sizes[above] - sizes[below]);
  for (float& value : values) {
    value = std::clamp(value, -static_cast<float>(limit), static_cast<float>(limit));
  }
  return values;
}

Harmed with_weights(FaultSite& site, void (*harm)(const Shape&, Floats&)) {
  const std::string& type = type_of(site);
  if ((type != "Conv" && type != "MatMul" && type != "Gemm") || parameter_at(site, 1) == nullptr) {
    return std::nullopt;
  }
  auto inputs = site.target.inputs_of(site.op, site.values);
  const std::span<const float> clean = floats_of(*inputs[1]);
  Floats weights(clean.begin(), clean.end());
  harm(inputs[1]->desc.shape, weights);
  const tensor::Tensor harmed = make_floats(inputs[1]->desc.shape, std::move(weights));
  inputs[1] = &harmed;
  const Result<Values> outputs = site.target.compute(site.op, inputs);
  if (!outputs || !(*outputs)[0]) {
    return std::nullopt;
  }
  const std::span<const float> made = floats_of(*(*outputs)[0]);
  return Floats(made.begin(), made.end());
}

/// Multiplies one of the larger weights by 16: a flipped bit of the exponent.
Harmed weight_bit(FaultSite& site, Floats /*values*/) {
  return with_weights(site, [](const Shape& /*shape*/, Floats& weights) {
    std::vector<std::size_t> order(weights.size());
    std::iota(order.begin(), order.end(), 0U);
    const auto at = order.begin() + static_cast<std::ptrdiff_t>(order.size() / 8);
    std::nth_element(order.begin(), at, order.end(), [&](std::size_t a, std::size_t b) {
      const float left = std::abs(weights[a]);
      const float right = std::abs(weights[b]);
      return left != right ? left > right : a < b;
    });
    weights[*at] *= 16.0F;
  });
}

Harmed weight_column(FaultSite& site, Floats /*values*/) {
  return with_weights(site, [](const Shape& shape, Floats& weights) {
    const std::size_t width = shape.back();
    for (std::size_t i = width / 3; i < weights.size(); i += width) {
      weights[i] = 0.0F;
    }
  });
}

Harmed truncated(FaultSite& site, Floats /*values*/) {
  const std::string& type = type_of(site);
  if (type == "Relu" || type == "Reshape" || type == "Transpose") {
    return std::nullopt;
  }
  const Result<Values> outputs = site.target.compute(site.op, site.values);
  if (!outputs || !(*outputs)[0]) {
    return std::nullopt;
  }
  const std::span<const float> made = floats_of(*(*outputs)[0]);
  Floats cut(made.begin(), made.end());
  if (site.target.arithmetic().storage == Format::bf16) {
    for (float& value : cut) {
      value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0xFFFF0000U);
    }
  } else {
    round_floats(Format::fp16_truncated, cut);
  }
  return cut;
}

Harmed rolled(FaultSite& site, Floats values) {
  const std::size_t width = site.clean().desc.shape.back();
  if (width <= 3) {
    return std::nullopt;
  }
  for (std::size_t row = 0; row < values.size(); row += width) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(row);
    const auto last = first + static_cast<std::ptrdiff_t>(width);
    std::rotate(first, last - 1, last);
  }
  return values;
}

constexpr FaultKind kKinds[] = {
    {"swapped channels", "two busy channels exchanged", false, swap_channels},
    {"one element", "3 rms added to one element", false, one_element},
    {"one zeroed", "one large element set to 0", false, one_zeroed},
    {"row replaced", "one row overwritten by another", false, row_replaced},
    {"x 1.02", "all elements 2 % larger", false, scale_up},
    {"channel x 1.2", "one channel 20 % larger", false, channel_up},
    {"epsilon", "1e-3 in a normalisation", false, wrong_epsilon},
    {"activation", "another activation function", false, activation},
    {"NaN", "one element becomes NaN", false, one_nan},
    {"stored bf16", "rounded to bf16 in an fp16 run", false, store_bf16},
    {"stored e4m3", "rounded to fp8", false, store_e4m3},
    {"half sums", "products summed in half precision", false, half_accumulate},
    {"stale buffer", "holds an earlier tensor", false, stale_buffer},
    {"zero tail", "the last sixteenth is 0", false, tail_zero},
    {"transposed", "last two axes exchanged", false, transposed},
    {"clamped", "limited at the 99.8 % quantile", false, clamp},
    {"weight bit", "one weight 16 times as large", false, weight_bit},
    {"weight column", "one column of weights is 0", false, weight_column},
    {"truncated", "results cut off towards zero", false, truncated},
    {"rolled", "shifted by one along the last axis", false, rolled},
    {"x 1.002", "all elements 0.2 % larger", true, scale_slightly},
    {"channel x 1.02", "one channel 2 % larger", true, channel_slightly},
    {"bias dropped", "the bias is not added", true, bias_dropped},
};

constexpr std::array<std::string_view, 8> kNeverHarmed = {
    "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Shape", "Cast", "Identity", "Gather"};

bool same_bits(std::span<const float> one, std::span<const float> two) {
  return std::equal(one.begin(), one.end(), two.begin(), two.end(),
                    [](float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); });
}

/// Operators whose first output may be harmed.
std::vector<std::size_t> harmable(const Network& network, const Values& values) {
  std::vector<std::size_t> found;
  for (std::size_t op = 0; op < network.problem().operators.size(); ++op) {
    const std::vector<ValueId>& outputs = network.problem().operators[op].outputs;
    const std::string& type = network.node(op).op_type;
    if (outputs.empty() || outputs[0] == verdict::kAbsent || !values[outputs[0]] ||
        !network.golden()[outputs[0]] ||
        std::find(kNeverHarmed.begin(), kNeverHarmed.end(), type) != kNeverHarmed.end()) {
      continue;
    }
    const tensor::TensorDesc& desc = values[outputs[0]]->desc;
    if (desc.dtype == DType::f32 && !desc.shape.empty()) {
      found.push_back(op);
    }
  }
  return found;
}

}  // namespace

std::span<const FaultKind> fault_kinds() {
  return kKinds;
}

std::optional<tensor::Tensor> plant(const FaultKind& kind, FaultSite& site) {
  const std::span<const float> clean = floats_of(site.clean());
  const double rms = rms_of(clean);
  if (clean.size() < 8 || rms == 0.0 || !std::isfinite(rms)) {
    return std::nullopt;
  }
  Harmed harmed = kind.make(site, Floats(clean.begin(), clean.end()));
  if (!harmed) {
    return std::nullopt;
  }
  round_floats(site.target.arithmetic().storage, *harmed);
  if (same_bits(*harmed, clean)) {
    return std::nullopt;
  }
  return make_floats(site.clean().desc.shape, std::move(*harmed));
}

std::optional<PlantedFault> plant_near(const FaultKind& kind, double spot, const Network& network,
                                       Target& target, const Values& values, Random& random,
                                       std::span<const std::size_t> used) {
  const std::vector<std::size_t> operators = harmable(network, values);
  const auto count = static_cast<double>(operators.size());
  std::vector<std::size_t> order(operators.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto distance = [&](std::size_t i) {
    return std::abs(static_cast<double>(i) - spot * (count - 1.0));
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return distance(a) < distance(b); });
  for (const std::size_t i : order) {
    if (distance(i) > 0.2 * count + 2.0) {
      break;
    }
    const std::size_t op = operators[i];
    if (std::find(used.begin(), used.end(), op) != used.end()) {
      continue;
    }
    FaultSite site{network, target, values, op, random};
    if (auto harmed = plant(kind, site)) {
      return PlantedFault{op, std::move(*harmed)};
    }
  }
  return std::nullopt;
}

}  // namespace opdrift::evaluation
