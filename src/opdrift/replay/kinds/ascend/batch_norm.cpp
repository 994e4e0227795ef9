#include <algorithm>
#include <cmath>

#include "opdrift/replay/kinds/ascend/kinds.hpp"
#include "opdrift/replay/kinds/ascend/rewrite.hpp"
#include "opdrift/replay/kinds/kinds.hpp"

// Normalisation per channel in the pieces that Ascend IR has of it.
//   BNTrainingReduce   sums of x and x^2 per channel
//   BNTrainingUpdate   normalises by them
//   BNInferenceD       (x + mean) variance scale + b: the compiler has made its parameters

namespace opdrift::replay {

namespace {

Result<Rewritten> rewrite_training_sum(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  if (x->rank() < 2) {
    return call.not_modelled("expected batch and channel");
  }
  std::vector<std::int64_t> axes = {0};
  for (std::size_t axis = 2; axis < x->rank(); ++axis) {
    axes.push_back(static_cast<std::int64_t>(axis));
  }
  Rewritten plain(call, "ReduceSum");
  plain.take(0).integers("axes", std::move(axes)).integer("keepdims", 0);
  return plain;
}

/// What the sums over a batch come to.
struct BatchMoments {
  double count = 0.0;  ///< elements per channel
  std::vector<double> mean;
  std::vector<double> square;    ///< mean of x^2
  std::vector<double> variance;  ///< square - mean^2
};

Result<BatchMoments> moments_of(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  OPDRIFT_TRY(const Array* sum, call.need(1, "sum"));
  OPDRIFT_TRY(const Array* squares, call.need(2, "square_sum"));
  if (x->rank() < 2 || x->size() == 0 || sum->size() != x->shape[1] ||
      squares->size() != x->shape[1]) {
    return call.not_modelled("expected one sum per channel");
  }
  BatchMoments moments;
  const std::size_t per_channel = x->size() / x->shape[1];
  moments.count = static_cast<double>(per_channel);
  for (std::size_t c = 0; c < sum->size(); ++c) {
    const double mean = sum->values[c] / moments.count;
    moments.mean.push_back(mean);
    moments.square.push_back(squares->values[c] / moments.count);
    moments.variance.push_back(moments.square.back() - mean * mean);
  }
  return moments;
}

Rewritten rewrite_training_norm(const Call& call, const BatchMoments& moments) {
  Rewritten plain(call, "BatchNormalization");
  plain.take(0).take(3).take(4).give(vector_array(moments.mean));
  plain.give(vector_array(moments.variance)).real("epsilon", call.real({"epsilon"}, 1e-4));
  return plain;
}

Array mixed(const Array& old, const std::vector<double>& fresh, double share) {
  Array y = old;
  for (std::size_t c = 0; c < y.size(); ++c) {
    y.values[c] = (1.0 - share) * old.values[c] + share * fresh[c];
  }
  return y;
}

}  // namespace

Result<Outputs> training_sums(const Call& call) {
  OPDRIFT_TRY(const Rewritten plain, rewrite_training_sum(call));
  OPDRIFT_TRY(Outputs outputs, reduce_sum(plain.call()));
  OPDRIFT_TRY(Outputs squares, reduce_sum_square(plain.call()));
  outputs.push_back(std::move(squares.front()));
  return outputs;
}
Result<Terms> training_sums_terms(const Call& call, std::size_t index, const Array& y) {
  OPDRIFT_TRY(const Rewritten plain, rewrite_training_sum(call));
  return (index == 0 ? reduce_sum_terms : reduce_sum_square_terms)(plain.call(), 0, y);
}

Result<Outputs> training_norm(const Call& call) {
  OPDRIFT_TRY(const BatchMoments moments, moments_of(call));
  const Rewritten plain = rewrite_training_norm(call, moments);
  OPDRIFT_TRY(Outputs outputs, batch_norm(plain.call()));
  if (call.op.type == "BNTrainingUpdate") {
    OPDRIFT_TRY(const Array* mean, call.need(5, "mean"));
    OPDRIFT_TRY(const Array* variance, call.need(6, "variance"));
    if (mean->size() != moments.mean.size() || variance->size() != moments.mean.size()) {
      return call.not_modelled("expected one parameter per channel");
    }
    const double share = call.real({"factor"}, 0.1);
    std::vector<double> unbiased = moments.variance;
    for (double& value : unbiased) {
      value *= moments.count > 1.0 ? moments.count / (moments.count - 1.0) : 0.0;
    }
    outputs.push_back(mixed(*mean, moments.mean, share));
    outputs.push_back(mixed(*variance, unbiased, share));
  }
  outputs.push_back(vector_array(moments.mean));
  outputs.push_back(vector_array(moments.variance));
  return outputs;
}

// The variance is what is left of the mean of squares, which rounds at its own size.
Result<Terms> training_norm_terms(const Call& call, std::size_t index, const Array& y) {
  OPDRIFT_TRY(const BatchMoments moments, moments_of(call));
  if (index != 0) {
    return Terms{};
  }
  const Rewritten plain = rewrite_training_norm(call, moments);
  OPDRIFT_TRY(Terms terms, batch_norm_terms(plain.call(), 0, y));
  const AxisSplit split = split_at(call.input(0)->shape, 1);
  const double epsilon = call.real({"epsilon"}, 1e-4);
  for (std::size_t at = 0; at < terms.extra.size(); ++at) {
    const std::size_t c = at / split.inner % split.extent;
    const double steep = y.values[at] * moments.square[c] / (moments.variance[c] + epsilon) / 2.0;
    terms.extra[at] += std::isfinite(steep) ? steep * steep : 0.0;
  }
  return terms;
}

namespace {

/// One number per channel, and what stands where there are none.
Result<std::vector<double>> per_channel(const Call& call, std::size_t index, double fallback) {
  const std::size_t channels = call.input(0)->shape[1];
  const Array* given = call.input(index);
  if (given != nullptr && given->size() != channels) {
    return call.not_modelled("expected one parameter per channel");
  }
  return given != nullptr ? given->values : std::vector<double>(channels, fallback);
}

/// y = x slope + shift per channel, shift = mean slope + b.
struct PreparedNorm {
  std::vector<double> slope;
  std::vector<double> mean;
  std::vector<double> bias;
  AxisSplit split;

  std::size_t channel(std::size_t at) const { return at / split.inner % split.extent; }
};

Result<PreparedNorm> prepared_norm_of(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  OPDRIFT_CHECK_OK(call.need(1, "mean"));
  OPDRIFT_CHECK_OK(call.need(2, "variance"));
  if (x->rank() < 2) {
    return call.not_modelled("expected batch and channel");
  }
  PreparedNorm norm;
  norm.split = split_at(x->shape, 1);
  OPDRIFT_TRY(norm.mean, per_channel(call, 1, 0.0));
  OPDRIFT_TRY(norm.slope, per_channel(call, 2, 1.0));
  OPDRIFT_TRY(const std::vector<double> scale, per_channel(call, 3, 1.0));
  OPDRIFT_TRY(norm.bias, per_channel(call, 4, 0.0));
  for (std::size_t c = 0; c < scale.size(); ++c) {
    norm.slope[c] *= scale[c];
  }
  return norm;
}

}  // namespace

Result<Outputs> prepared_norm(const Call& call) {
  OPDRIFT_TRY(const PreparedNorm norm, prepared_norm_of(call));
  Outputs outputs(1, *call.input(0));
  for (std::size_t at = 0; at < outputs.front().size(); ++at) {
    const std::size_t c = norm.channel(at);
    double& value = outputs.front().values[at];
    value = (value + norm.mean[c]) * norm.slope[c] + norm.bias[c];
  }
  return outputs;
}

Result<Terms> prepared_norm_terms(const Call& call, std::size_t /*index*/, const Array& y) {
  OPDRIFT_TRY(const PreparedNorm norm, prepared_norm_of(call));
  Terms terms;
  for (std::size_t at = 0; at < y.size() && y.size() == call.input(0)->size(); ++at) {
    const std::size_t c = norm.channel(at);
    const double scaled = call.input(0)->values[at] * norm.slope[c];
    const double shifted = norm.mean[c] * norm.slope[c];
    terms.extra.push_back(scaled * scaled + shifted * shifted + norm.bias[c] * norm.bias[c]);
  }
  return terms;
}

}  // namespace opdrift::replay
