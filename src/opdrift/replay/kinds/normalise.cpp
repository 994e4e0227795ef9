#include <algorithm>
#include <cmath>

#include "opdrift/replay/kinds/kinds.hpp"
#include "opdrift/replay/walk.hpp"

// Normalisations: y = (x - mean) / sqrt(variance + epsilon) * scale + bias over runs of elements.

namespace opdrift::replay {

namespace {

Outputs single(Array array) {
  Outputs outputs;
  outputs.push_back(std::move(array));
  return outputs;
}

/// Mean and scale factor of one run.
struct Moments {
  double mean = 0.0;
  double inverse = 1.0;  ///< 1 / sqrt(variance + epsilon)
};

Moments moments_of(const double* x, std::size_t count, double epsilon, bool centred) {
  Moments moments;
  const auto n = static_cast<double>(count);
  for (std::size_t i = 0; centred && i < count; ++i) {
    moments.mean += x[i];
  }
  moments.mean /= n;
  double squares = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    squares += (x[i] - moments.mean) * (x[i] - moments.mean);
  }
  moments.inverse = 1.0 / std::sqrt(squares / n + epsilon);
  return moments;
}

double epsilon_of(const Call& call) {
  const std::string& type = call.op.type;
  const bool of_sum = type.rfind("SkipLayer", 0) == 0 || type.rfind("SkipSimplified", 0) == 0 ||
                      type.rfind("EmbedLayer", 0) == 0;
  return call.real({"epsilon", "eps"}, of_sum ? 1e-12 : 1e-5);
}

/// Runs of `length` consecutive elements, each normalised by itself; element i of run r is scaled
/// and shifted by entry `parameter(r, i)`, which is below `parameters`.
struct Runs {
  const Array* x = nullptr;
  std::size_t length = 1;
  std::size_t parameters = 0;
  bool centred = true;
  double epsilon = 1e-5;
  const Array* scale = nullptr;
  const Array* bias = nullptr;
  std::size_t period = 1;  ///< flat position / period % parameters is the parameter's index
};

double scale_at(const Runs& runs, std::size_t at) {
  return runs.scale == nullptr ? 1.0 : runs.scale->values[at / runs.period % runs.parameters];
}
double bias_at(const Runs& runs, std::size_t at) {
  return runs.bias == nullptr ? 0.0 : runs.bias->values[at / runs.period % runs.parameters];
}

struct Normalised {
  Array y;
  std::vector<Moments> moments;  ///< one per run
};

Normalised normalise(const Runs& runs) {
  Normalised result;
  result.y = *runs.x;
  for (std::size_t first = 0; first + runs.length <= runs.x->size() && runs.length > 0;
       first += runs.length) {
    const Moments moments =
        moments_of(runs.x->values.data() + first, runs.length, runs.epsilon, runs.centred);
    for (std::size_t at = first; at < first + runs.length; ++at) {
      result.y.values[at] =
          (runs.x->values[at] - moments.mean) * moments.inverse * scale_at(runs, at) +
          bias_at(runs, at);
    }
    result.moments.push_back(moments);
  }
  return result;
}

// Rounding of x and of the mean before their difference is scaled up: a near-constant run
// amplifies.
Terms terms_of(const Runs& runs) {
  Terms terms;
  terms.n = static_cast<double>(std::max<std::size_t>(runs.length, 1));
  const Normalised result = normalise(runs);
  terms.extra.assign(runs.x->size(), 0.0);
  for (std::size_t at = 0; at < runs.x->size() && !result.moments.empty(); ++at) {
    const Moments& moments = result.moments[at / runs.length];
    const double factor = moments.inverse * scale_at(runs, at);
    const double x = runs.x->values[at];
    const double bias = bias_at(runs, at);
    terms.extra[at] = factor * factor * (x * x + moments.mean * moments.mean) + bias * bias;
  }
  return terms;
}

Status check_parameters(const Call& call, const Runs& runs) {
  for (const Array* parameter : {runs.scale, runs.bias}) {
    if (parameter != nullptr && (parameter->size() != runs.parameters || runs.parameters == 0)) {
      return call.not_modelled("expected " + std::to_string(runs.parameters) +
                               " scales and biases, found " + std::to_string(parameter->size()));
    }
  }
  return Unit{};
}

// LayerNormalization and RMSNormalization: runs are everything from `axis` on.
Result<Runs> layer_runs(const Call& call, bool centred) {
  Runs runs;
  OPDRIFT_TRY(runs.x, call.need(0, "X"));
  const std::size_t rank = runs.x->rank();
  std::int64_t first = call.integer({"axis", "begin_norm_axis"}, -1);
  if (const auto shape = call.integers({"normalized_shape"}); shape && shape->size() <= rank) {
    first = -static_cast<std::int64_t>(shape->size());
  }
  OPDRIFT_TRY(const std::size_t axis, normal_axis(first, rank));
  runs.length =
      count_of({runs.x->shape.begin() + static_cast<std::ptrdiff_t>(axis), runs.x->shape.end()});
  runs.parameters = runs.length;
  runs.centred = centred;
  runs.epsilon = epsilon_of(call);
  runs.scale = call.input(1);
  runs.bias = centred ? call.input(2) : nullptr;
  OPDRIFT_CHECK_OK(check_parameters(call, runs));
  return runs;
}

// Instance and group normalisation: runs are the spatial elements of one or several channels.
Result<Runs> group_runs(const Call& call, bool by_channel) {
  Runs runs;
  OPDRIFT_TRY(runs.x, call.need(0, "X"));
  if (runs.x->rank() < 2) {
    return call.not_modelled("expected batch and channel");
  }
  if (call.text({"data_format"}, "") == (runs.x->rank() == 5 ? "NDHWC" : "NHWC")) {
    return call.not_modelled("channels last");
  }
  const std::size_t channels = runs.x->shape[1];
  const std::int64_t groups =
      by_channel ? static_cast<std::int64_t>(channels) : call.integer({"num_groups", "groups"}, 0);
  if (groups < 1 || channels % static_cast<std::size_t>(groups) != 0) {
    return call.not_modelled("groups do not divide the channels");
  }
  runs.period = split_at(runs.x->shape, 1).inner;
  runs.length = channels / static_cast<std::size_t>(groups) * runs.period;
  runs.parameters = channels;
  runs.epsilon = epsilon_of(call);
  runs.scale = call.input(1);
  runs.bias = call.input(2);
  if (runs.period == 0) {
    return call.not_modelled("an axis is empty");
  }
  // Opset 18 has one scale per group, 21 one per channel.
  if (!by_channel && runs.scale != nullptr &&
      runs.scale->size() == static_cast<std::size_t>(groups)) {
    runs.parameters = static_cast<std::size_t>(groups);
    runs.period *= channels / static_cast<std::size_t>(groups);
  }
  OPDRIFT_CHECK_OK(check_parameters(call, runs));
  return runs;
}

// The result, then mean (of centred runs) and inverse deviation, with axes of one for what they are
// taken over.
Outputs with_moments(const Runs& runs, bool centred) {
  Normalised result = normalise(runs);
  Array mean;
  Array inverse;
  for (const Moments& moments : result.moments) {
    mean.values.push_back(moments.mean);
    inverse.values.push_back(moments.inverse);
  }
  mean.shape = runs.x->shape;
  std::uint64_t covered = 1;
  for (std::size_t axis = runs.x->rank(); axis-- > 0 && covered < runs.length;) {
    covered *= mean.shape[axis];
    mean.shape[axis] = 1;
  }
  if (count_of(mean.shape) != mean.size()) {
    mean.shape = {mean.size()};
  }
  inverse.shape = mean.shape;
  Outputs outputs = single(std::move(result.y));
  if (centred) {
    outputs.push_back(std::move(mean));
  }
  outputs.push_back(std::move(inverse));
  return outputs;
}

}  // namespace

Result<Outputs> layer_norm(const Call& call) {
  OPDRIFT_TRY(const Runs runs, layer_runs(call, true));
  Outputs outputs = with_moments(runs, true);
  // Ascend's first LayerNorm gives out the variance itself.
  if (call.op.type == "LayerNorm" && call.has({"begin_norm_axis"})) {
    for (double& value : outputs.back().values) {
      value = 1.0 / (value * value) - runs.epsilon;
    }
  }
  return outputs;
}
Result<Terms> layer_norm_terms(const Call& call, std::size_t index, const Array& /*y*/) {
  OPDRIFT_TRY(const Runs runs, layer_runs(call, true));
  return index == 0 ? terms_of(runs) : Terms{};
}

Result<Outputs> rms_norm(const Call& call) {
  OPDRIFT_TRY(const Runs runs, layer_runs(call, false));
  return with_moments(runs, false);
}
Result<Terms> rms_norm_terms(const Call& call, std::size_t index, const Array& /*y*/) {
  OPDRIFT_TRY(const Runs runs, layer_runs(call, false));
  return index == 0 ? terms_of(runs) : Terms{};
}

Result<Outputs> instance_norm(const Call& call) {
  OPDRIFT_TRY(const Runs runs, group_runs(call, true));
  return single(normalise(runs).y);
}
Result<Terms> instance_norm_terms(const Call& call, std::size_t /*index*/, const Array& /*y*/) {
  OPDRIFT_TRY(const Runs runs, group_runs(call, true));
  return terms_of(runs);
}

Result<Outputs> group_norm(const Call& call) {
  if (call.op.domain == "com.microsoft") {
    return fused_group_norm(call);
  }
  OPDRIFT_TRY(const Runs runs, group_runs(call, false));
  return single(normalise(runs).y);
}
Result<Terms> group_norm_terms(const Call& call, std::size_t index, const Array& y) {
  if (call.op.domain == "com.microsoft") {
    return fused_group_norm_terms(call, index, y);
  }
  OPDRIFT_TRY(const Runs runs, group_runs(call, false));
  return terms_of(runs);
}

namespace {

/// (x - mean) * factor + bias with one entry per channel.
struct ChannelAffine {
  const Array* x = nullptr;
  std::vector<double> mean;
  std::vector<double> variance;
  std::vector<double> factor;
  std::vector<double> bias;
  std::size_t period = 1;
  bool training = false;
};

std::vector<double> values_or(const Array* array, std::size_t count, double fallback) {
  return array == nullptr ? std::vector<double>(count, fallback) : array->values;
}

// Training mode computes the moments from the batch.
void batch_moments(const Array& x, std::size_t channels, std::size_t period,
                   std::vector<double>& mean, std::vector<double>& variance) {
  mean.assign(channels, 0.0);
  variance.assign(channels, 0.0);
  const std::size_t per_channel = x.size() / channels;
  const auto count = static_cast<double>(per_channel);
  for (std::size_t at = 0; at < x.size(); ++at) {
    mean[at / period % channels] += x.values[at] / count;
  }
  for (std::size_t at = 0; at < x.size(); ++at) {
    const std::size_t c = at / period % channels;
    variance[c] += (x.values[at] - mean[c]) * (x.values[at] - mean[c]) / count;
  }
}

Result<ChannelAffine> batch_affine(const Call& call) {
  ChannelAffine affine;
  OPDRIFT_TRY(affine.x, call.need(0, "X"));
  if (affine.x->rank() < 2 || affine.x->size() == 0) {
    return call.not_modelled("expected batch and channel");
  }
  // ONNX: scale, bias, mean, variance. ATen: weight, bias, running mean and variance, the same.
  // Ascend BNInference: mean, variance, momentum, scale, offset.
  const bool inference = call.op.type == "BNInference";
  const Array* scale = call.input(inference ? 4 : 1);
  const Array* bias = call.input(inference ? 5 : 2);
  const Array* mean = call.input(inference ? 1 : 3);
  const Array* variance = call.input(inference ? 2 : 4);
  const std::size_t channels = affine.x->shape[1];
  for (const Array* parameter : {scale, bias, mean, variance}) {
    if (parameter != nullptr && parameter->size() != channels) {
      return call.not_modelled("expected one parameter per channel");
    }
  }
  affine.period = split_at(affine.x->shape, 1).inner;
  affine.variance = values_or(variance, channels, 1.0);
  affine.mean = values_or(mean, channels, 0.0);
  // What BNInference calls momentum divides the sums that mean and variance are stored as.
  const Array* divisor = inference ? call.input(3) : nullptr;
  for (std::size_t c = 0; divisor != nullptr && divisor->size() == 1 && c < channels; ++c) {
    const double share = divisor->values[0] == 0.0 ? 0.0 : 1.0 / divisor->values[0];
    affine.mean[c] *= share;
    affine.variance[c] *= share;
  }
  affine.training = call.integer({"training_mode", "is_training", "training"}, 0) != 0;
  if (affine.training) {
    batch_moments(*affine.x, channels, affine.period, affine.mean, affine.variance);
  } else if (mean == nullptr || variance == nullptr) {
    return call.not_modelled("mean or variance is missing");
  }
  const std::vector<double> scales = values_or(scale, channels, 1.0);
  affine.bias = values_or(bias, channels, 0.0);
  const double epsilon = epsilon_of(call);
  for (std::size_t c = 0; c < channels; ++c) {
    affine.factor.push_back(scales[c] / std::sqrt(affine.variance[c] + epsilon));
  }
  return affine;
}

Array running(const Array& old, const std::vector<double>& batch, double momentum) {
  Array mixed = old;
  for (std::size_t c = 0; c < mixed.size(); ++c) {
    mixed.values[c] = momentum * old.values[c] + (1.0 - momentum) * batch[c];
  }
  return mixed;
}

}  // namespace

Result<Outputs> batch_norm(const Call& call) {
  OPDRIFT_TRY(const ChannelAffine affine, batch_affine(call));
  Array y = *affine.x;
  const std::size_t channels = affine.factor.size();
  for (std::size_t at = 0; at < y.size(); ++at) {
    const std::size_t c = at / affine.period % channels;
    y.values[at] = (y.values[at] - affine.mean[c]) * affine.factor[c] + affine.bias[c];
  }
  Outputs outputs = single(std::move(y));
  if (affine.training && call.input(3) != nullptr && call.input(4) != nullptr) {
    const double momentum = call.real({"momentum"}, 0.9);
    outputs.push_back(running(*call.input(3), affine.mean, momentum));
    outputs.push_back(running(*call.input(4), affine.variance, momentum));
  }
  return outputs;
}

Result<Terms> batch_norm_terms(const Call& call, std::size_t /*index*/, const Array& y) {
  OPDRIFT_TRY(const ChannelAffine affine, batch_affine(call));
  Terms terms;
  if (y.size() != affine.x->size()) {
    return terms;
  }
  terms.extra.resize(y.size());
  const std::size_t channels = affine.factor.size();
  for (std::size_t at = 0; at < y.size(); ++at) {
    const std::size_t c = at / affine.period % channels;
    const double scaled = affine.x->values[at] * affine.factor[c];
    const double shifted = affine.mean[c] * affine.factor[c];
    terms.extra[at] = scaled * scaled + shifted * shifted + affine.bias[c] * affine.bias[c];
  }
  return terms;
}

// Local response normalisation across channels: x / (bias + alpha / size * sum x^2) ^ beta.
Result<Outputs> local_response(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "X"));
  // Ascend gives half the window, and alpha as it multiplies the sum.
  const bool half = call.has({"depth_radius"});
  const std::int64_t size =
      half ? 2 * std::clamp<std::int64_t>(call.integer({"depth_radius"}, 5), -1, 1 << 19) + 1
           : call.integer({"size"}, 1);
  if (x->rank() < 2 || size < 1 || size > 1 << 20) {
    return call.not_modelled("expected channels and a size");
  }
  if (call.text({"norm_region"}, "ACROSS_CHANNELS") != "ACROSS_CHANNELS") {
    return call.not_modelled("a region within a channel");
  }
  const double alpha = call.real({"alpha"}, 1e-4) / (half ? 1.0 : static_cast<double>(size));
  const double beta = call.real({"beta"}, 0.75);
  const double bias = call.real({"bias", "k"}, 1.0);
  const AxisSplit split = split_at(x->shape, 1);
  const auto channels = static_cast<std::int64_t>(split.extent);
  OPDRIFT_CHECK_OK(
      call.check_work(x->size(), static_cast<std::uint64_t>(std::min(size, channels))));
  Array y = *x;
  for (std::size_t at = 0; at < y.size(); ++at) {
    const auto c = static_cast<std::int64_t>(at / split.inner % split.extent);
    const std::int64_t first = std::max<std::int64_t>(0, c - (size - 1) / 2);
    const std::int64_t last = std::min(channels - 1, c + size / 2);
    double sum = 0.0;
    for (std::int64_t k = first; k <= last; ++k) {
      const double value = x->values[static_cast<std::size_t>(
          static_cast<std::int64_t>(at) + (k - c) * static_cast<std::int64_t>(split.inner))];
      sum += value * value;
    }
    y.values[at] = x->values[at] / std::pow(bias + alpha * sum, beta);
  }
  return single(std::move(y));
}

namespace {

template <typename Norm>
Array divide_lines(const Array& x, std::size_t axis, Norm norm) {
  const AxisSplit split = split_at(x.shape, axis);
  Array y = x;
  for (std::size_t line = 0; line < split.outer * split.inner; ++line) {
    const std::size_t start = line / split.inner * split.extent * split.inner + line % split.inner;
    double sum = 0.0;
    for (std::size_t i = 0; i < split.extent; ++i) {
      sum += norm(x.values[start + i * split.inner]);
    }
    for (std::size_t i = 0; i < split.extent; ++i) {
      y.values[start + i * split.inner] = sum;
    }
  }
  return y;
}

}  // namespace

Result<Outputs> lp_normalisation(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "input"));
  OPDRIFT_TRY(
      const std::size_t axis,
      normal_axis(call.integer({"axis", "dim"}, call.op.type == "normalize" ? 1 : -1), x->rank()));
  const std::int64_t p = call.integer({"p"}, 2);
  if (const auto axes = call.integers({"axis"}); axes && axes->size() > 1) {
    return call.not_modelled("a norm over several axes");
  }
  if (p != 1 && p != 2) {
    return call.not_modelled("p is neither 1 nor 2");
  }
  Array y = divide_lines(*x, axis, [p](double v) { return p == 1 ? std::abs(v) : v * v; });
  for (std::size_t at = 0; at < y.size(); ++at) {
    const double norm = p == 1 ? y.values[at] : std::sqrt(y.values[at]);
    y.values[at] = norm == 0.0 ? 0.0 : x->values[at] / norm;
  }
  return single(std::move(y));
}

namespace {

/// Axes to normalise moved to the end, and the order that moves them back.
struct Moved {
  Array x;
  Runs runs;
  std::vector<std::size_t> back;
};

Status move_axes(const Call& call, Moved& moved) {
  OPDRIFT_TRY(const Array* x, call.need(0, "X"));
  const auto listed = call.integers({"axes"}).value_or(std::vector<std::int64_t>{0, 2, 3});
  OPDRIFT_TRY(const auto axes, normal_axes(listed, x->rank()));
  std::vector<std::size_t> order;
  for (std::size_t axis = 0; axis < x->rank(); ++axis) {
    if (!std::binary_search(axes.begin(), axes.end(), axis)) {
      order.push_back(axis);
    }
  }
  order.insert(order.end(), axes.begin(), axes.end());
  moved.x = transposed(*x, order);
  moved.runs.x = &moved.x;
  moved.runs.length = 1;
  for (const std::size_t axis : axes) {
    moved.runs.length *= x->shape[axis];
  }
  moved.runs.epsilon = 1e-18;  // keeps 0 / 0 out; ONNX adds 1e-9 to the deviation
  moved.back.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    moved.back[order[i]] = i;
  }
  return Unit{};
}

}  // namespace

// (x - mean) / deviation over the given axes, by default batch and space.
Result<Outputs> mean_variance(const Call& call) {
  Moved moved;
  OPDRIFT_CHECK_OK(move_axes(call, moved));
  return single(transposed(normalise(moved.runs).y, moved.back));
}

// ONNX defines the variance as the mean square less the square of the mean, and so it cancels.
Result<Terms> mean_variance_terms(const Call& call, std::size_t /*index*/, const Array& /*y*/) {
  Moved moved;
  OPDRIFT_CHECK_OK(move_axes(call, moved));
  Terms terms = terms_of(moved.runs);
  const Normalised result = normalise(moved.runs);
  for (std::size_t at = 0; at < terms.extra.size() && !result.moments.empty(); ++at) {
    const Moments& moments = result.moments[at / moved.runs.length];
    const double share = 1.0 + moments.mean * moments.mean * moments.inverse * moments.inverse;
    terms.extra[at] += result.y.values[at] * result.y.values[at] * share * share;
  }
  Array extra = moved.x;
  extra.values = std::move(terms.extra);
  terms.extra = transposed(extra, moved.back).values;
  return terms;
}

}  // namespace opdrift::replay
