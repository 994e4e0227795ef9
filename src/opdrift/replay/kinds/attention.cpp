#include <algorithm>
#include <cmath>

#include "opdrift/replay/kinds/heads.hpp"
#include "opdrift/replay/kinds/kinds.hpp"
#include "opdrift/replay/matmul.hpp"
#include "opdrift/replay/walk.hpp"

// Attention as one operator (heads.hpp), as the domains write it: which inputs are queries, keys,
// values, masks and what came before.

namespace opdrift::replay {

namespace {

Outputs single(Array array) {
  Outputs outputs;
  outputs.push_back(std::move(array));
  return outputs;
}

/// Keys and values that the operator hands on, with those that came before.
struct Present {
  Array key;
  Array value;
};

// Puts what came before in front; the queries then begin behind it.
Status add_past(const Call& call, const Array* key, const Array* value, Heads& heads) {
  if (key == nullptr && value == nullptr) {
    return Unit{};
  }
  if (key == nullptr || value == nullptr) {
    return call.not_modelled("past keys without values");
  }
  OPDRIFT_TRY(heads.k, behind(call, *key, heads.k));
  OPDRIFT_TRY(heads.v, behind(call, *value, heads.v));
  heads.past.assign(heads.batches(), key->shape[2]);
  return Unit{};
}

// The result, then the keys and values where the operator gives them out.
Result<Outputs> run(const Call& call, const Heads& heads, Present present) {
  OPDRIFT_TRY(Array y, attend(call, heads));
  Outputs outputs = single(std::move(y));
  outputs.push_back(std::move(present.key));
  outputs.push_back(std::move(present.value));
  return outputs;
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

// ai.onnx Attention (opset 23) and ATen scaled_dot_product_attention: Q, K, V, mask, past K, past
// V.
Result<Heads> standard_heads(const Call& call, Present& present) {
  OPDRIFT_TRY(const Array* q, call.need(0, "Q"));
  OPDRIFT_TRY(const Array* k, call.need(1, "K"));
  OPDRIFT_TRY(const Array* v, call.need(2, "V"));
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
  OPDRIFT_CHECK_OK(add_past(call, call.input(4), call.input(5), heads));
  present = {heads.k, heads.v};
  OPDRIFT_CHECK_OK(fit_heads(call, heads));
  return heads;
}

void add_bias(Array& x, const double* bias) {
  for (std::size_t at = 0; at < x.size(); ++at) {
    x.values[at] += bias[at % x.shape.back()];
  }
}

// com.microsoft MultiHeadAttention: query, key, value, bias, key padding mask, attention bias, past
// key, past value.
Result<Heads> multi_heads(const Call& call, Present& present) {
  OPDRIFT_TRY(const Array* query, call.need(0, "query"));
  OPDRIFT_TRY(const Array* key, call.need(1, "key"));
  OPDRIFT_TRY(const Array* value, call.need(2, "value"));
  if (call.input(4) != nullptr) {
    return call.not_modelled("padding masks");
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
  OPDRIFT_CHECK_OK(add_past(call, call.input(6), call.input(7), heads));
  present = {heads.k, heads.v};
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
Result<Heads> any_attention(const Call& call, Present& present) {
  const bool packed =
      call.op.domain == "com.microsoft" || (call.input(1) != nullptr && call.input(1)->rank() == 2);
  return packed ? packed_heads(call) : standard_heads(call, present);
}

}  // namespace

Result<Outputs> attention(const Call& call) {
  Present present;
  OPDRIFT_TRY(const Heads heads, any_attention(call, present));
  return run(call, heads, std::move(present));
}
Result<Terms> attention_terms(const Call& call, std::size_t index, const Array& /*y*/) {
  Present present;
  OPDRIFT_TRY(const Heads heads, any_attention(call, present));
  return index == 0 ? attend_terms(call, heads) : Terms{};
}
Result<Outputs> multi_head_attention(const Call& call) {
  Present present;
  OPDRIFT_TRY(const Heads heads, multi_heads(call, present));
  return run(call, heads, std::move(present));
}
Result<Terms> multi_head_attention_terms(const Call& call, std::size_t index, const Array& /*y*/) {
  Present present;
  OPDRIFT_TRY(const Heads heads, multi_heads(call, present));
  return index == 0 ? attend_terms(call, heads) : Terms{};
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
