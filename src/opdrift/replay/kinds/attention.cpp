#include <algorithm>
#include <cmath>

#include "opdrift/replay/kinds/kinds.hpp"
#include "opdrift/replay/matmul.hpp"
#include "opdrift/replay/walk.hpp"

// Attention as one operator: s = scale * Q K^T + mask, p = softmax(s), y = p V, per batch and head.
// Its budget is the composition of theirs. A rounding error ds_j of a score moves the output by
//   dy = sum_j p_j (v_j - y) ds_j,
// and a score carries that of its dot product, of its shift by the maximum, and of exp.

namespace opdrift::replay {

namespace {

/// Queries, keys and values laid out (batch, head, position, element).
struct Heads {
  Array q;
  Array k;
  Array v;
  Array mask;            ///< added to the scores; empty values: none
  double scale = 0.0;    ///< 0: 1 / sqrt(size of a head)
  double softcap = 0.0;  ///< 0: none
  bool causal = false;
  bool flat_output = true;  ///< (batch, position, head * element) instead of (batch, head, ...)

  std::size_t batches() const { return q.shape[0]; }
  std::size_t heads() const { return q.shape[1]; }
};

Outputs single(Array array) {
  Outputs outputs;
  outputs.push_back(std::move(array));
  return outputs;
}

// (batch, position, head * element) to (batch, head, position, element).
Result<Array> to_heads(const Call& call, const Array& x, std::int64_t heads) {
  if (x.rank() == 4) {
    return x;
  }
  if (x.rank() != 3 || heads < 1 || x.shape[2] % static_cast<std::size_t>(heads) != 0) {
    return call.not_modelled("heads do not divide the hidden size");
  }
  Array split = x;
  const auto count = static_cast<std::size_t>(heads);
  split.shape = {x.shape[0], x.shape[1], count, x.shape[2] / count};
  return transposed(split, {0, 2, 1, 3});
}

Array from_heads(const Array& x) {
  Array y = transposed(x, {0, 2, 1, 3});
  y.shape = {x.shape[0], x.shape[2], x.shape[1] * x.shape[3]};
  return y;
}

// Grouped queries: every key and value head serves several query heads.
Array repeated_heads(const Array& x, std::size_t heads) {
  if (x.shape[1] == heads) {
    return x;
  }
  const std::size_t times = heads / x.shape[1];
  Array y;
  y.dtype = x.dtype;
  y.shape = {x.shape[0], heads, x.shape[2], x.shape[3]};
  const Strides own = strides_of(x.shape);
  y.values.resize(count_of(y.shape));
  copy_strided(x.values.data(), 0, {x.shape[0], x.shape[1], times, x.shape[2], x.shape[3]},
               {own[0], own[1], 0, own[2], own[3]}, y.values.data());
  return y;
}

Status fit_heads(const Call& call, Heads& heads) {
  const tensor::Shape& q = heads.q.shape;
  const tensor::Shape& k = heads.k.shape;
  const tensor::Shape& v = heads.v.shape;
  if (k[1] == 0 || q[1] % k[1] != 0 || k[1] != v[1] || q[0] != k[0] || k[0] != v[0] ||
      q[3] != k[3] || k[2] != v[2] || q[3] == 0) {
    return call.not_modelled("queries, keys and values do not fit each other");
  }
  heads.k = repeated_heads(heads.k, q[1]);
  heads.v = repeated_heads(heads.v, q[1]);
  if (heads.scale == 0.0) {
    heads.scale = 1.0 / std::sqrt(static_cast<double>(q[3]));
  }
  if (!heads.mask.values.empty()) {
    const tensor::Shape scores = {q[0], q[1], q[2], heads.k.shape[2]};
    OPDRIFT_TRY(const tensor::Shape wide, broadcast_shape(heads.mask.shape, scores));
    if (wide != scores) {
      return call.not_modelled("the mask is larger than the scores");
    }
  }
  return call.check_work(saturating_product(count_of(q), heads.k.shape[2]), 2);
}

Result<Array> scores_of(const Call& call, const Heads& heads) {
  OPDRIFT_TRY(Product product, plan_matmul(call, heads.q, heads.k, false, true));
  product.scale = heads.scale;
  OPDRIFT_TRY(Array scores, run_product(call, product));
  for (double& value : scores.values) {
    value = heads.softcap > 0.0 ? heads.softcap * std::tanh(value / heads.softcap) : value;
  }
  if (!heads.mask.values.empty()) {
    double* out = scores.values.data();
    walk<1>(scores.shape, {broadcast_strides(heads.mask.shape, scores.shape)},
            [&](const Row<1>& row) {
              for (std::size_t i = 0; i < row.length; ++i) {
                *out++ += heads.mask.values[static_cast<std::size_t>(
                    row.at[0] + static_cast<std::int64_t>(i) * row.step[0])];
              }
            });
  }
  const std::size_t rows = scores.shape[2];
  const std::size_t columns = scores.shape[3];
  for (std::size_t at = 0; heads.causal && at < scores.size(); ++at) {
    if (at % columns > at / columns % rows) {
      scores.values[at] = -HUGE_VAL;
    }
  }
  return scores;
}

// Softmax over the last axis, in place. A row without any finite score becomes NaN, as it should.
void softmax_rows(Array& scores) {
  const std::size_t columns = scores.shape.back();
  for (std::size_t first = 0; first < scores.size(); first += columns) {
    double* row = scores.values.data() + first;
    const double top = *std::max_element(row, row + columns);
    double sum = 0.0;
    for (std::size_t j = 0; j < columns; ++j) {
      row[j] = std::exp(row[j] - top);
      sum += row[j];
    }
    for (std::size_t j = 0; j < columns; ++j) {
      row[j] /= sum;
    }
  }
}

Result<Array> weighted_values(const Call& call, const Array& weights, const Array& values) {
  OPDRIFT_TRY(const Product product, plan_matmul(call, weights, values, false, false));
  return run_product(call, product);
}

Result<Outputs> run(const Call& call, const Heads& heads) {
  OPDRIFT_TRY(Array weights, scores_of(call, heads));
  softmax_rows(weights);
  OPDRIFT_TRY(const Array y, weighted_values(call, weights, heads.v));
  return single(heads.flat_output ? from_heads(y) : y);
}

// sum_j p_j^2 s_j (v_j - y)^2 = sum p^2 s v^2 - 2 y sum p^2 s v + y^2 sum p^2 s
Result<Array> score_variance(const Call& call, const Array& variances, const Array& values,
                             const Array& y) {
  OPDRIFT_TRY(Array squares, weighted_values(call, variances, squared(values)));
  OPDRIFT_TRY(const Array mixed, weighted_values(call, variances, values));
  const std::size_t width = values.shape.back();
  const std::size_t columns = variances.shape.back();
  for (std::size_t at = 0; at < y.size(); ++at) {
    const double* row = variances.values.data() + at / width * columns;
    double total = 0.0;
    for (std::size_t j = 0; j < columns; ++j) {
      total += row[j];
    }
    const double mean = y.values[at];
    squares.values[at] =
        std::max(0.0, squares.values[at] - 2.0 * mean * mixed.values[at] + mean * mean * total);
  }
  return squares;
}

Result<Terms> terms_of(const Call& call, const Heads& heads) {
  OPDRIFT_TRY(const Array scores, scores_of(call, heads));
  Array weights = scores;
  softmax_rows(weights);
  OPDRIFT_TRY(const Array y, weighted_values(call, weights, heads.v));
  OPDRIFT_TRY(Array a2, weighted_values(call, squared(weights), squared(heads.v)));
  const Array q2 = squared(heads.q);
  const Array k2 = squared(heads.k);
  OPDRIFT_TRY(Product product, plan_matmul(call, q2, k2, false, true));
  product.scale = heads.scale * heads.scale;
  OPDRIFT_TRY(Array variances, run_product(call, product));
  const std::size_t columns = scores.shape.back();
  const auto n = static_cast<double>(columns);
  const auto size = static_cast<double>(heads.q.shape[3]);
  for (std::size_t at = 0; at < scores.size(); ++at) {
    const double* row = scores.values.data() + at / columns * columns;
    const double top = *std::max_element(row, row + columns);
    const double p = weights.values[at];
    const double shifted = p == 0.0 ? 0.0 : scores.values[at] - top;
    // 0.18 n a^2: two sides accumulate the dot product. 25/3: exp within 5 ulp.
    const double score =
        0.18 * size * variances.values[at] + shifted * shifted + 0.09 * n + 25.0 / 3.0;
    variances.values[at] = p * p * score;
  }
  OPDRIFT_TRY(const Array extra, score_variance(call, variances, heads.v, y));
  Terms terms;
  terms.n = n;
  terms.a2 = heads.flat_output ? from_heads(a2).values : a2.values;
  terms.extra = heads.flat_output ? from_heads(extra).values : extra.values;
  return terms;
}

// True and false become 0 and minus infinity; numbers are added as they are.
Array additive_mask(const Array& mask) {
  Array added = mask;
  if (mask.dtype == tensor::DType::boolean) {
    for (double& value : added.values) {
      value = value != 0.0 ? 0.0 : -HUGE_VAL;
    }
  }
  return added;
}

// ai.onnx Attention (opset 23) and ATen scaled_dot_product_attention: Q, K, V, mask.
Result<Heads> standard_heads(const Call& call) {
  OPDRIFT_TRY(const Array* q, call.need(0, "Q"));
  OPDRIFT_TRY(const Array* k, call.need(1, "K"));
  OPDRIFT_TRY(const Array* v, call.need(2, "V"));
  if (call.input(4) != nullptr || call.input(5) != nullptr) {
    return call.not_modelled("past keys and values");
  }
  Heads heads;
  heads.flat_output = q->rank() == 3;
  OPDRIFT_TRY(heads.q, to_heads(call, *q, call.integer({"q_num_heads"}, 0)));
  OPDRIFT_TRY(heads.k, to_heads(call, *k, call.integer({"kv_num_heads"}, 0)));
  OPDRIFT_TRY(heads.v, to_heads(call, *v, call.integer({"kv_num_heads"}, 0)));
  if (const Array* mask = call.input(3); mask != nullptr) {
    heads.mask = additive_mask(*mask);
  }
  heads.causal = call.integer({"is_causal"}, 0) != 0;
  heads.scale = call.real({"scale"}, 0.0);
  heads.softcap = call.real({"softcap"}, 0.0);
  OPDRIFT_CHECK_OK(fit_heads(call, heads));
  return heads;
}

void add_bias(Array& x, const double* bias) {
  for (std::size_t at = 0; at < x.size(); ++at) {
    x.values[at] += bias[at % x.shape.back()];
  }
}

// com.microsoft MultiHeadAttention: query, key, value, bias, key padding mask, attention bias.
Result<Heads> multi_heads(const Call& call) {
  OPDRIFT_TRY(const Array* query, call.need(0, "query"));
  OPDRIFT_TRY(const Array* key, call.need(1, "key"));
  OPDRIFT_TRY(const Array* value, call.need(2, "value"));
  if (call.input(4) != nullptr || call.input(6) != nullptr || call.input(7) != nullptr) {
    return call.not_modelled("padding masks, past keys and values");
  }
  if (query->rank() != 3 || key->rank() != 3 || value->rank() != 3) {
    return call.not_modelled("packed queries, keys and values");
  }
  Array q = *query;
  Array k = *key;
  Array v = *value;
  if (const Array* bias = call.input(3); bias != nullptr) {
    const std::size_t wide = q.shape[2] + k.shape[2];
    if (bias->size() != wide + v.shape[2]) {
      return call.not_modelled("the bias does not fit");
    }
    add_bias(q, bias->values.data());
    add_bias(k, bias->values.data() + q.shape[2]);
    add_bias(v, bias->values.data() + wide);
  }
  const std::int64_t count = call.integer({"num_heads"}, 0);
  Heads heads;
  OPDRIFT_TRY(heads.q, to_heads(call, q, count));
  OPDRIFT_TRY(heads.k, to_heads(call, k, count));
  OPDRIFT_TRY(heads.v, to_heads(call, v, count));
  if (const Array* added = call.input(5); added != nullptr) {
    heads.mask = *added;
  }
  heads.scale = call.real({"scale"}, 0.0);
  heads.causal = call.integer({"unidirectional"}, 0) != 0;
  OPDRIFT_CHECK_OK(fit_heads(call, heads));
  return heads;
}

Array columns_of(const Array& x, std::size_t first, std::size_t count) {
  Array y;
  y.dtype = x.dtype;
  y.shape = {x.shape[0], x.shape[1], count};
  y.values.resize(count_of(y.shape));
  const Strides own = strides_of(x.shape);
  copy_strided(x.values.data(), static_cast<std::int64_t>(first), y.shape, own, y.values.data());
  return y;
}

// com.microsoft Attention: one product makes queries, keys and values.
Result<Heads> packed_heads(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "input"));
  OPDRIFT_TRY(const Array* w, call.need(1, "weights"));
  const Array* bias = call.input(2);
  if (call.input(4) != nullptr || call.has({"qkv_hidden_sizes"})) {
    return call.not_modelled("past keys and values, uneven hidden sizes");
  }
  if (x->rank() != 3 || w->rank() != 2 || w->shape[1] % 3 != 0 ||
      (bias != nullptr && bias->size() != w->shape[1])) {
    return call.not_modelled("weights do not fit the input");
  }
  OPDRIFT_TRY(const Product product, plan_matmul(call, *x, *w, false, false));
  OPDRIFT_TRY(Array packed, run_product(call, product));
  if (bias != nullptr) {
    add_bias(packed, bias->values.data());
  }
  const std::size_t hidden = w->shape[1] / 3;
  const std::int64_t count = call.integer({"num_heads"}, 0);
  Heads heads;
  OPDRIFT_TRY(heads.q, to_heads(call, columns_of(packed, 0, hidden), count));
  OPDRIFT_TRY(heads.k, to_heads(call, columns_of(packed, hidden, hidden), count));
  OPDRIFT_TRY(heads.v, to_heads(call, columns_of(packed, 2 * hidden, hidden), count));
  if (const Array* mask = call.input(3); mask != nullptr) {
    if (mask->shape != tensor::Shape{x->shape[0], x->shape[1]}) {
      return call.not_modelled("a mask by positions");
    }
    heads.mask = *mask;
    heads.mask.shape = {x->shape[0], 1, 1, x->shape[1]};
    const double filler = call.real({"mask_filter_value"}, -10000.0);
    for (double& value : heads.mask.values) {
      value = value != 0.0 ? 0.0 : filler;
    }
  }
  if (const Array* added = call.input(5); added != nullptr) {
    if (!heads.mask.values.empty()) {
      return call.not_modelled("a mask and a bias together");
    }
    heads.mask = *added;
  }
  heads.causal = call.integer({"unidirectional"}, 0) != 0;
  heads.scale = call.real({"scale"}, 0.0);
  OPDRIFT_CHECK_OK(fit_heads(call, heads));
  return heads;
}

// Both domains call it Attention; the packed one has a matrix as its second input.
Result<Heads> any_attention(const Call& call) {
  const bool packed =
      call.op.domain == "com.microsoft" || (call.input(1) != nullptr && call.input(1)->rank() == 2);
  return packed ? packed_heads(call) : standard_heads(call);
}

}  // namespace

Result<Outputs> attention(const Call& call) {
  OPDRIFT_TRY(const Heads heads, any_attention(call));
  return run(call, heads);
}
Result<Terms> attention_terms(const Call& call, std::size_t /*index*/, const Array& /*y*/) {
  OPDRIFT_TRY(const Heads heads, any_attention(call));
  return terms_of(call, heads);
}
Result<Outputs> multi_head_attention(const Call& call) {
  OPDRIFT_TRY(const Heads heads, multi_heads(call));
  return run(call, heads);
}
Result<Terms> multi_head_attention_terms(const Call& call, std::size_t /*index*/,
                                         const Array& /*y*/) {
  OPDRIFT_TRY(const Heads heads, multi_heads(call));
  return terms_of(call, heads);
}

namespace {

/// Where the parts of one rotary head are.
struct Rotary {
  std::size_t batches = 0;
  std::size_t heads = 0;
  std::size_t positions = 0;
  std::size_t size = 0;     ///< of a head
  std::size_t rotated = 0;  ///< elements of a head that turn
  bool heads_first = false;
};

Result<Rotary> rotary_of(const Call& call, const Array& x, std::size_t half) {
  Rotary r;
  const auto named = static_cast<std::size_t>(
      std::clamp<std::int64_t>(call.integer({"num_heads"}, 0), 0, 1 << 20));
  if (x.rank() == 4) {
    r = {x.shape[0], x.shape[1], x.shape[2], x.shape[3], 0, true};
  } else if (x.rank() == 3) {
    const std::size_t heads = named > 0 ? named : half == 0 ? 0 : x.shape[2] / (2 * half);
    if (heads == 0 || x.shape[2] % heads != 0) {
      return call.not_modelled("heads do not divide the hidden size");
    }
    r = {x.shape[0], heads, x.shape[1], x.shape[2] / heads, 0, false};
  } else {
    return call.not_modelled("expected three or four axes");
  }
  r.rotated = 2 * half;
  if (half == 0 || r.rotated > r.size) {
    return call.not_modelled("the caches do not fit the heads");
  }
  return r;
}

}  // namespace

// Rotary position embedding. com.microsoft: x, positions, cos, sin; ai.onnx: x, cos, sin,
// positions.
Result<Outputs> rotary_embedding(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "input"));
  const bool microsoft = call.op.domain == "com.microsoft";
  OPDRIFT_TRY(const Array* cosine, call.need(microsoft ? 2 : 1, "cos_cache"));
  OPDRIFT_TRY(const Array* sine, call.need(microsoft ? 3 : 2, "sin_cache"));
  const Array* places = call.input(microsoft ? 1 : 3);
  if (cosine->rank() == 0 || cosine->shape != sine->shape) {
    return call.not_modelled("the caches differ");
  }
  const std::size_t half = cosine->shape.back();
  OPDRIFT_TRY(const Rotary r, rotary_of(call, *x, half));
  const std::size_t rows = half == 0 ? 0 : cosine->size() / half;
  const bool interleaved = call.integer({"interleaved"}, 0) != 0;
  Array y = *x;
  for (std::size_t at = 0; at < x->size() / r.size; ++at) {
    const std::size_t s = r.heads_first ? at % r.positions : at / r.heads % r.positions;
    const std::size_t b = at / r.heads / r.positions;
    double place = static_cast<double>(places == nullptr ? b * r.positions + s : s);
    if (places != nullptr && places->size() == 1) {
      place = places->values[0] + static_cast<double>(s);
    } else if (places != nullptr && places->size() == r.batches * r.positions) {
      place = places->values[b * r.positions + s];
    }
    if (!(place >= 0.0) || !(place < static_cast<double>(rows))) {
      return call.not_modelled("a position lies outside the caches");
    }
    const std::size_t cache = static_cast<std::size_t>(place) * half;
    for (std::size_t i = 0; i < half; ++i) {
      const std::size_t one = at * r.size + (interleaved ? 2 * i : i);
      const std::size_t other = interleaved ? one + 1 : one + half;
      const double c = cosine->values[cache + i];
      const double sn = sine->values[cache + i];
      y.values[one] = x->values[one] * c - x->values[other] * sn;
      y.values[other] = x->values[one] * sn + x->values[other] * c;
    }
  }
  return single(std::move(y));
}

// Both products round at their own size before they meet: |x_1 c| and |x_2 s| are at most this.
Result<Terms> rotary_embedding_terms(const Call& call, std::size_t /*index*/, const Array& y) {
  OPDRIFT_TRY(const Array* x, call.need(0, "input"));
  Terms terms;
  terms.n = 2.0;
  if (x->size() == y.size()) {
    terms.a2.resize(y.size());
    for (std::size_t at = 0; at < y.size(); ++at) {
      terms.a2[at] = std::max(x->values[at] * x->values[at], y.values[at] * y.values[at]);
    }
  }
  return terms;
}

}  // namespace opdrift::replay
