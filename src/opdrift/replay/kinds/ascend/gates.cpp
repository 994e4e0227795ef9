#include <algorithm>
#include <cmath>

#include "opdrift/replay/kinds/ascend/kinds.hpp"
#include "opdrift/replay/kinds/ascend/rewrite.hpp"
#include "opdrift/replay/kinds/kinds.hpp"
#include "opdrift/replay/walk.hpp"

// Rotary positions and gates of Ascend IR.
//   RotaryMul   y = x cos + turned(x) sin, cos and sin stretched to x
//               halves: turned(a, b) = (-b, a); interleaved: every pair alike
//   GeGluV2     y = x_1 gelu(x_2), halves of an axis; gelu(x_2) comes out too

namespace opdrift::replay {

namespace {

// (-b, a) for the halves (a, b) of the last axis, or for its pairs.
Array turned(const Array& x, bool pairs) {
  Array y = x;
  const std::size_t width = x.shape.back();
  const std::size_t half = width / 2;
  for (std::size_t first = 0; width > 0 && first < x.size(); first += width) {
    for (std::size_t i = 0; i < half; ++i) {
      const std::size_t one = first + (pairs ? 2 * i : i);
      const std::size_t other = pairs ? one + 1 : one + half;
      y.values[one] = -x.values[other];
      y.values[other] = x.values[one];
    }
  }
  return y;
}

Result<bool> by_pairs(const Call& call) {
  const std::string mode = call.text({"rotary_mode", "mode"}, "half");
  const std::int64_t number = call.integer({"mode"}, 0);
  if ((mode != "half" && mode != "interleave") || number < 0 || number > 1) {
    return call.not_modelled("mode " + mode + " " + std::to_string(number));
  }
  return mode == "interleave" || number == 1;
}

/// Both products of a rotation, in the shape of x.
struct Rotated {
  Array straight;
  Array crossed;
};

Result<Rotated> rotated(const Call& call, std::size_t index, std::size_t cosine, std::size_t sine) {
  OPDRIFT_TRY(const Array* x, call.need(index, "x"));
  OPDRIFT_TRY(const Array* c, call.need(cosine, "cos"));
  OPDRIFT_TRY(const Array* s, call.need(sine, "sin"));
  OPDRIFT_TRY(const bool pairs, by_pairs(call));
  OPDRIFT_TRY(const tensor::Shape wide, broadcast_shape(c->shape, x->shape));
  if (x->rank() == 0 || x->shape.back() % 2 != 0 || wide != x->shape || s->shape != c->shape ||
      c->rank() == 0 || c->shape.back() != x->shape.back()) {
    return call.not_modelled("cosines and sines do not fit the input");
  }
  Rotated result{*x, turned(*x, pairs)};
  const Strides strides = broadcast_strides(c->shape, wide);
  std::vector<double> factors(x->size());
  const auto scale = [&](const Array& by, Array& product) {
    copy_strided(by.values.data(), 0, wide, strides, factors.data());
    std::transform(product.values.begin(), product.values.end(), factors.begin(),
                   product.values.begin(), [](double one, double other) { return one * other; });
  };
  scale(*c, result.straight);
  scale(*s, result.crossed);
  return result;
}

Result<Array> rotation(const Call& call, std::size_t index, std::size_t cosine, std::size_t sine) {
  OPDRIFT_TRY(Rotated parts, rotated(call, index, cosine, sine));
  for (std::size_t at = 0; at < parts.straight.size(); ++at) {
    parts.straight.values[at] += parts.crossed.values[at];
  }
  return std::move(parts.straight);
}

Result<Terms> rotation_terms(const Call& call, std::size_t index, std::size_t cosine,
                             std::size_t sine) {
  OPDRIFT_TRY(const Rotated parts, rotated(call, index, cosine, sine));
  Terms terms;
  terms.n = 2.0;
  for (std::size_t at = 0; at < parts.straight.size(); ++at) {
    const double one = parts.straight.values[at];
    const double other = parts.crossed.values[at];
    terms.a2.push_back(one * one + other * other);
  }
  return terms;
}

}  // namespace

Result<Outputs> rotary_multiply(const Call& call) {
  Outputs outputs;
  OPDRIFT_TRY(Array y, rotation(call, 0, 1, 2));
  outputs.push_back(std::move(y));
  return outputs;
}
Result<Terms> rotary_multiply_terms(const Call& call, std::size_t /*index*/, const Array& /*y*/) {
  return rotation_terms(call, 0, 1, 2);
}

// ApplyRotaryPosEmb: query, key, cos, sin.
Result<Outputs> rotary_pair(const Call& call) {
  Outputs outputs;
  OPDRIFT_TRY(Array query, rotation(call, 0, 2, 3));
  OPDRIFT_TRY(Array key, rotation(call, 1, 2, 3));
  outputs.push_back(std::move(query));
  outputs.push_back(std::move(key));
  return outputs;
}
Result<Terms> rotary_pair_terms(const Call& call, std::size_t index, const Array& /*y*/) {
  return rotation_terms(call, std::min<std::size_t>(index, 1), 2, 3);
}

Result<Outputs> gelu_gate(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  OPDRIFT_TRY(const std::size_t axis, normal_axis(call.integer({"dim"}, -1), x->rank()));
  if (x->shape[axis] % 2 != 0) {
    return call.not_modelled("the axis does not divide into halves");
  }
  const auto half = static_cast<std::int64_t>(x->shape[axis] / 2);
  Rewritten halves(call, "Split");
  halves.take(0).integer("axis", static_cast<std::int64_t>(axis));
  halves.integers("split", {half, half});
  OPDRIFT_TRY(Outputs outputs, split(halves.call()));
  const bool left = call.integer({"activate_left"}, 0) != 0;
  const bool exact = call.integer({"approximate"}, 1) == 0;
  Array gate = std::move(outputs[left ? 0 : 1]);
  Array y = std::move(outputs[left ? 1 : 0]);
  for (std::size_t at = 0; at < y.size(); ++at) {
    gate.values[at] = exact ? gelu_of(gate.values[at]) : gelu_tanh_of(gate.values[at]);
    y.values[at] *= gate.values[at];
  }
  outputs.clear();
  outputs.push_back(std::move(y));
  outputs.push_back(std::move(gate));
  return outputs;
}

}  // namespace opdrift::replay
