#include <algorithm>
#include <cmath>

#include "opdrift/replay/kinds/ascend/kinds.hpp"
#include "opdrift/replay/kinds/ascend/rewrite.hpp"
#include "opdrift/replay/kinds/kinds.hpp"

// Normalisations that Ascend IR fuses with what stands beside them.
//   LayerNormV4      the normalised shape is an input
//   AddLayerNorm     LayerNorm(x_1 + x_2 + bias), AddRmsNorm alike; the sum comes out too
//   GroupNormSilu    GroupNorm, then x sigmoid(x)

namespace opdrift::replay {

namespace {

Result<Rewritten> rewrite_layer_norm(const Call& call) {
  OPDRIFT_TRY(const Array* shape, call.need(1, "normalized_shape"));
  Rewritten plain(call, "LayerNormalization");
  plain.take(0).take(2).take(3);
  plain.integer("axis", -static_cast<std::int64_t>(shape->size()));
  plain.real("epsilon", call.real({"epsilon"}, 1e-5));
  return plain;
}

// x_1 + x_2, and the bias of a layer normalisation.
Result<Array> sum_of(const Call& call, bool centred) {
  Rewritten pair(call, "Add");
  pair.take(0).take(1);
  OPDRIFT_TRY(Outputs outputs, add(pair.call()));
  if (centred && call.input(4) != nullptr) {
    Rewritten more(call, "Add");
    more.give(std::move(outputs.front())).take(4);
    OPDRIFT_TRY(outputs, add(more.call()));
  }
  OPDRIFT_TRY(const Array* x, call.need(0, "x1"));
  if (outputs.front().shape != x->shape) {
    return call.not_modelled("an addend is larger than the input");
  }
  return std::move(outputs.front());
}

Result<Rewritten> rewrite_added_norm(const Call& call, Array sum, bool centred) {
  OPDRIFT_TRY(const Array* gamma, call.need(2, "gamma"));
  Rewritten plain(call, centred ? "LayerNormalization" : "RMSNormalization");
  plain.give(std::move(sum)).take(2);
  if (centred) {
    plain.take(3);
  }
  plain.integer("axis", -static_cast<std::int64_t>(gamma->rank()));
  plain.real("epsilon", call.real({"epsilon"}, centred ? 1e-5 : 1e-6));
  return plain;
}

Result<Terms> added_norm_terms(const Call& call, const Array& y, bool centred) {
  OPDRIFT_TRY(Array sum, sum_of(call, centred));
  OPDRIFT_TRY(const Rewritten plain, rewrite_added_norm(call, std::move(sum), centred));
  return (centred ? layer_norm_terms : rms_norm_terms)(plain.call(), 0, y);
}

}  // namespace

Result<Outputs> layer_norm_by_shape(const Call& call) {
  OPDRIFT_TRY(const Rewritten plain, rewrite_layer_norm(call));
  return layer_norm(plain.call());
}
Result<Terms> layer_norm_by_shape_terms(const Call& call, std::size_t index, const Array& y) {
  OPDRIFT_TRY(const Rewritten plain, rewrite_layer_norm(call));
  return layer_norm_terms(plain.call(), index, y);
}

Result<Outputs> add_layer_norm(const Call& call) {
  OPDRIFT_TRY(Array sum, sum_of(call, true));
  OPDRIFT_TRY(const Rewritten plain, rewrite_added_norm(call, sum, true));
  OPDRIFT_TRY(Outputs outputs, layer_norm(plain.call()));
  outputs.push_back(std::move(sum));
  return outputs;
}
Result<Terms> add_layer_norm_terms(const Call& call, std::size_t index, const Array& y) {
  return index == 0 ? added_norm_terms(call, y, true) : Terms{};
}

// The result, the inverse root mean squares and the sum; AddRmsNormCast has the result twice, in
// two types.
Result<Outputs> add_rms_norm(const Call& call) {
  OPDRIFT_TRY(Array sum, sum_of(call, false));
  OPDRIFT_TRY(const Rewritten plain, rewrite_added_norm(call, sum, false));
  OPDRIFT_TRY(Outputs outputs, rms_norm(plain.call()));
  if (call.op.type == "AddRmsNormCast") {
    outputs.insert(outputs.begin(), outputs.front());
  }
  outputs.push_back(std::move(sum));
  return outputs;
}
Result<Terms> add_rms_norm_terms(const Call& call, std::size_t index, const Array& y) {
  const std::size_t results = call.op.type == "AddRmsNormCast" ? 2 : 1;
  return index < results ? added_norm_terms(call, y, false) : Terms{};
}

namespace {

Result<Rewritten> rewrite_group_norm(const Call& call) {
  if (call.text({"data_format"}, "NCHW") != "NCHW") {
    return call.not_modelled("channels last");
  }
  Rewritten plain(call, "GroupNormalization");
  plain.take(0).take(1).take(2);
  plain.integer("num_groups", call.integer({"num_groups"}, 0));
  plain.real("epsilon", call.real({"eps", "epsilon"}, 1e-5));
  return plain;
}

// Mean and inverse deviation of every group, as (batch, group).
void add_moments(const Call& call, Outputs& outputs) {
  const Array& x = *call.input(0);
  const auto groups = static_cast<std::uint64_t>(call.integer({"num_groups"}, 0));
  Array mean{{x.shape[0], groups}, {}, x.dtype};
  Array inverse = mean;
  const std::size_t count = count_of(mean.shape);
  const std::size_t length = count == 0 ? 0 : x.size() / count;
  const double epsilon = call.real({"eps", "epsilon"}, 1e-5);
  for (std::size_t run = 0; run < count; ++run) {
    const double* from = x.values.data() + run * length;
    double sum = 0.0;
    double squares = 0.0;
    for (std::size_t i = 0; i < length; ++i) {
      sum += from[i] / static_cast<double>(length);
    }
    for (std::size_t i = 0; i < length; ++i) {
      squares += (from[i] - sum) * (from[i] - sum) / static_cast<double>(length);
    }
    mean.values.push_back(sum);
    inverse.values.push_back(1.0 / std::sqrt(squares + epsilon));
  }
  outputs.push_back(std::move(mean));
  outputs.push_back(std::move(inverse));
}

}  // namespace

Result<Outputs> group_norm_swish(const Call& call) {
  OPDRIFT_TRY(const Rewritten plain, rewrite_group_norm(call));
  OPDRIFT_TRY(Outputs outputs, group_norm(plain.call()));
  const double scale = call.real({"swish_scale"}, 1.0);
  if (call.integer({"activate_silu", "activate_swish"}, 1) != 0) {
    for (double& value : outputs.front().values) {
      value *= sigmoid_of(scale * value);
    }
  }
  add_moments(call, outputs);
  return outputs;
}

// x sigmoid(x) is nowhere steeper than 1.1.
Result<Terms> group_norm_swish_terms(const Call& call, std::size_t index, const Array& y) {
  if (index != 0) {
    return Terms{};
  }
  OPDRIFT_TRY(const Rewritten plain, rewrite_group_norm(call));
  OPDRIFT_TRY(Terms terms, group_norm_terms(plain.call(), 0, y));
  for (double& value : terms.extra) {
    value *= 1.21;
  }
  return terms;
}

}  // namespace opdrift::replay
