#include <algorithm>
#include <cmath>

#include "opdrift/replay/kinds/heads.hpp"
#include "opdrift/replay/kinds/kinds.hpp"
#include "opdrift/replay/matmul.hpp"

// Attention as one operator (heads.hpp), as the domains write it: which inputs are queries, keys,
// values, masks and what came before.

namespace opdrift::replay {

namespace {

/// An attention and what it gives out beside its result.
struct Planned {
  Heads heads;
  Array key;             ///< with those that came before
  Array value;           ///< likewise
  bool stacked = false;  ///< both are given out as one tensor
  ScoreStage stage = ScoreStage::product;
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
  heads.past.assign(heads.batches(), static_cast<std::int64_t>(key->shape[2]));
  return Unit{};
}

// Keys, then values, along a new first axis.
Array stacked(const Array& key, const Array& value) {
  Array both = key;
  both.shape.insert(both.shape.begin(), 2);
  both.values.insert(both.values.end(), value.values.begin(), value.values.end());
  return both;
}

Result<Outputs> run(const Call& call, Planned planned) {
  Outputs outputs;
  OPDRIFT_TRY(Array y, attend(call, planned.heads));
  outputs.push_back(std::move(y));
  if (planned.stacked) {
    outputs.push_back(stacked(planned.key, planned.value));
    return outputs;
  }
  outputs.push_back(std::move(planned.key));
  outputs.push_back(std::move(planned.value));
  if (call.op.outputs.size() > 3) {
    OPDRIFT_TRY(Array scores, scores_at(call, planned.heads, planned.stage));
    outputs.push_back(std::move(scores));
  }
  return outputs;
}

Result<Terms> terms_of(const Call& call, const Planned& planned, std::size_t index) {
  if (index == 0) {
    return attend_terms(call, planned.heads);
  }
  return index == 3 ? score_terms(call, planned.heads, planned.stage) : Terms{};
}

// True and false become 0 and minus infinity, and so does what a short mask says nothing about.
Result<Array> additive_mask(const Call& call, const Array& mask, std::size_t keys) {
  Array added = mask;
  if (mask.dtype == tensor::DType::boolean) {
    for (double& value : added.values) {
      value = value != 0.0 ? 0.0 : -HUGE_VAL;
    }
  }
  const std::size_t width = mask.rank() == 0 ? 1 : mask.shape.back();
  if (width <= 1 || width >= keys) {
    return added;
  }
  added.shape.back() = keys;
  OPDRIFT_TRY(Array wide, call.make(added.shape, mask.dtype));
  for (std::size_t at = 0; at < wide.size(); ++at) {
    wide.values[at] = at % keys < width ? added.values[at / keys * width + at % keys] : -HUGE_VAL;
  }
  return wide;
}

// Keys behind the counted ones are room that is not used yet; the last query stands at the last
// counted key.
Status count_keys(const Call& call, const Array& counts, Heads& heads) {
  if (counts.size() != heads.batches()) {
    return call.not_modelled("expected one number of keys per batch");
  }
  const auto queries = static_cast<std::int64_t>(heads.q.shape[2]);
  for (const double count : counts.values) {
    if (!(count >= 0.0) || !(count <= static_cast<double>(heads.k.shape[2]))) {
      return call.not_modelled("a number of keys is out of range");
    }
    heads.counted.push_back(static_cast<std::size_t>(count));
    heads.past.push_back(static_cast<std::int64_t>(count) - queries);
  }
  return Unit{};
}

// ai.onnx Attention (opset 23) and ATen scaled_dot_product_attention: Q, K, V, mask, past K, past
// V, number of keys that count.
Result<Planned> standard_heads(const Call& call) {
  OPDRIFT_TRY(const Array* q, call.need(0, "Q"));
  OPDRIFT_TRY(const Array* k, call.need(1, "K"));
  OPDRIFT_TRY(const Array* v, call.need(2, "V"));
  Planned planned;
  Heads& heads = planned.heads;
  heads.flat_output = q->rank() == 3;
  OPDRIFT_TRY(heads.q, to_heads(call, *q, call.integer({"q_num_heads"}, 0)));
  OPDRIFT_TRY(heads.k, to_heads(call, *k, call.integer({"kv_num_heads"}, 0)));
  OPDRIFT_TRY(heads.v, to_heads(call, *v, call.integer({"kv_num_heads"}, 0)));
  heads.causal = call.integer({"is_causal"}, 0) != 0;
  heads.scale = call.real({"scale"}, 0.0);
  heads.softcap = call.real({"softcap"}, 0.0);
  OPDRIFT_CHECK_OK(add_past(call, call.input(4), call.input(5), heads));
  if (const Array* counts = call.input(6); counts != nullptr) {
    OPDRIFT_CHECK_OK(count_keys(call, *counts, heads));
  }
  planned.key = heads.k;
  planned.value = heads.v;
  if (const Array* mask = call.input(3); mask != nullptr) {
    OPDRIFT_TRY(heads.mask, additive_mask(call, *mask, heads.k.shape[2]));
  }
  constexpr ScoreStage kStages[] = {ScoreStage::product, ScoreStage::capped, ScoreStage::masked,
                                    ScoreStage::weights};
  const std::int64_t mode = call.integer({"qk_matmul_output_mode"}, 0);
  planned.stage = kStages[std::clamp<std::int64_t>(mode, 0, 3)];
  OPDRIFT_CHECK_OK(fit_heads(call, heads));
  return planned;
}

void add_bias(Array& x, const double* bias) {
  for (std::size_t at = 0; at < x.size(); ++at) {
    x.values[at] += bias[at % x.shape.back()];
  }
}

/// Queries, keys and values before they are cut into heads.
struct Parts {
  Array q;
  Array k;
  Array v;
};

// Part `index` of an array (batch, position, head, part, element).
Array part_of(const Array& packed, std::size_t index) {
  const std::size_t size = packed.shape[4];
  Array rows = packed;
  rows.shape = {1, packed.shape[0] * packed.shape[1] * packed.shape[2], packed.shape[3] * size};
  Array part = columns_of(rows, index * size, size);
  part.shape = {packed.shape[0], packed.shape[1], packed.shape[2] * size};
  return part;
}

// Three tensors, or keys and values in one, or all in one.
Result<Parts> parts_of(const Call& call) {
  OPDRIFT_TRY(const Array* query, call.need(0, "query"));
  const Array* key = call.input(1);
  const Array* value = call.input(2);
  if (key == nullptr && query->rank() == 5 && query->shape[3] == 3) {
    return Parts{part_of(*query, 0), part_of(*query, 1), part_of(*query, 2)};
  }
  if (key != nullptr && value == nullptr && key->rank() == 5 && key->shape[3] == 2) {
    return Parts{*query, part_of(*key, 0), part_of(*key, 1)};
  }
  if (key == nullptr || value == nullptr) {
    return call.not_modelled("queries, keys and values packed otherwise");
  }
  return Parts{*query, *key, *value};
}

Status add_biases(const Call& call, const Array& bias, Parts& parts) {
  if (parts.q.rank() != 3 || parts.k.rank() != 3 || parts.v.rank() != 3 ||
      bias.size() != parts.q.shape[2] + parts.k.shape[2] + parts.v.shape[2]) {
    return call.not_modelled("the bias does not fit");
  }
  add_bias(parts.q, bias.values.data());
  add_bias(parts.k, bias.values.data() + parts.q.shape[2]);
  add_bias(parts.v, bias.values.data() + parts.q.shape[2] + parts.k.shape[2]);
  return Unit{};
}

/// Where an operator of com.microsoft has its optional inputs.
struct Places {
  std::size_t mask;
  std::size_t added;
};

// What hides keys, and what is added to the scores.
Status add_masks(const Call& call, Places places, Heads& heads) {
  if (const Array* mask = call.input(places.mask); mask != nullptr) {
    const double filler = call.real({"mask_filter_value"}, -10000.0);
    OPDRIFT_TRY(heads.mask, padding_mask(call, *mask, heads, filler));
  }
  if (const Array* added = call.input(places.added); added != nullptr) {
    OPDRIFT_CHECK_OK(add_to_mask(call, *added, heads));
  }
  return Unit{};
}

// com.microsoft MultiHeadAttention: query, key, value, bias, key padding mask, attention bias, past
// key, past value.
Result<Planned> multi_heads(const Call& call) {
  OPDRIFT_TRY(Parts parts, parts_of(call));
  if (call.input(8) != nullptr || call.input(9) != nullptr) {
    return call.not_modelled("a past in a buffer");
  }
  if (const Array* bias = call.input(3); bias != nullptr) {
    OPDRIFT_CHECK_OK(add_biases(call, *bias, parts));
  }
  const std::int64_t count = call.integer({"num_heads"}, 0);
  Planned planned;
  Heads& heads = planned.heads;
  OPDRIFT_TRY(heads.q, to_heads(call, parts.q, count));
  OPDRIFT_TRY(heads.k, to_heads(call, parts.k, count));
  OPDRIFT_TRY(heads.v, to_heads(call, parts.v, count));
  heads.scale = call.real({"scale"}, 0.0);
  heads.causal = call.integer({"unidirectional"}, 0) != 0;
  OPDRIFT_CHECK_OK(add_past(call, call.input(6), call.input(7), heads));
  OPDRIFT_CHECK_OK(add_masks(call, {4, 5}, heads));
  planned.key = heads.k;
  planned.value = heads.v;
  OPDRIFT_CHECK_OK(fit_heads(call, heads));
  return planned;
}

// Columns of queries, keys and values in the weights of com.microsoft Attention.
Result<std::vector<std::size_t>> hidden_sizes(const Call& call, std::size_t columns) {
  const auto given = call.integers({"qkv_hidden_sizes"});
  if (!given || given->empty()) {
    return std::vector<std::size_t>(3, columns / 3);
  }
  std::vector<std::size_t> sizes;
  for (const std::int64_t size : *given) {
    if (size < 1 || static_cast<std::uint64_t>(size) > columns) {
      return call.not_modelled("a hidden size is out of range");
    }
    sizes.push_back(static_cast<std::size_t>(size));
  }
  return sizes;
}

// The past of com.microsoft Attention: keys, then values, in one tensor.
Status add_stacked_past(const Call& call, const Array& past, Heads& heads) {
  if (past.rank() != 5 || past.shape[0] != 2) {
    return call.not_modelled("past keys and values do not fit");
  }
  Array key;
  key.shape = {past.shape.begin() + 1, past.shape.end()};
  Array value = key;
  const auto middle = past.values.begin() + static_cast<std::ptrdiff_t>(past.size() / 2);
  key.values.assign(past.values.begin(), middle);
  value.values.assign(middle, past.values.end());
  return add_past(call, &key, &value, heads);
}

// com.microsoft Attention: one product makes queries, keys and values. input, weights, bias, mask,
// past, attention bias.
Result<Planned> packed_heads(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "input"));
  OPDRIFT_TRY(const Array* w, call.need(1, "weights"));
  const Array* bias = call.input(2);
  if (call.input(6) != nullptr || call.integer({"do_rotary"}, 0) != 0) {
    return call.not_modelled("a past in a buffer, turned positions");
  }
  if (x->rank() != 3 || w->rank() != 2) {
    return call.not_modelled("weights do not fit the input");
  }
  OPDRIFT_TRY(const std::vector<std::size_t> sizes, hidden_sizes(call, w->shape[1]));
  if (sizes.size() != 3 || sizes[0] + sizes[1] + sizes[2] != w->shape[1] ||
      (bias != nullptr && bias->size() != w->shape[1])) {
    return call.not_modelled("weights do not fit the input");
  }
  OPDRIFT_TRY(const Product product, plan_matmul(call, *x, *w, false, false));
  OPDRIFT_TRY(Array packed, run_product(call, product));
  if (bias != nullptr) {
    add_bias(packed, bias->values.data());
  }
  const std::int64_t count = call.integer({"num_heads"}, 0);
  Planned planned;
  planned.stacked = true;
  Heads& heads = planned.heads;
  OPDRIFT_TRY(heads.q, to_heads(call, columns_of(packed, 0, sizes[0]), count));
  OPDRIFT_TRY(heads.k, to_heads(call, columns_of(packed, sizes[0], sizes[1]), count));
  OPDRIFT_TRY(heads.v, to_heads(call, columns_of(packed, sizes[0] + sizes[1], sizes[2]), count));
  heads.causal = call.integer({"unidirectional"}, 0) != 0;
  heads.scale = call.real({"scale"}, 0.0);
  if (const Array* past = call.input(4); past != nullptr) {
    OPDRIFT_CHECK_OK(add_stacked_past(call, *past, heads));
  }
  OPDRIFT_CHECK_OK(add_masks(call, {3, 5}, heads));
  planned.key = heads.k;
  planned.value = heads.v;
  OPDRIFT_CHECK_OK(fit_heads(call, heads));
  return planned;
}

// Both domains call it Attention; the packed one has a matrix as its second input.
Result<Planned> any_attention(const Call& call) {
  const bool packed =
      call.op.domain == "com.microsoft" || (call.input(1) != nullptr && call.input(1)->rank() == 2);
  return packed ? packed_heads(call) : standard_heads(call);
}

}  // namespace

Result<Outputs> attention(const Call& call) {
  OPDRIFT_TRY(Planned planned, any_attention(call));
  return run(call, std::move(planned));
}
Result<Terms> attention_terms(const Call& call, std::size_t index, const Array& /*y*/) {
  OPDRIFT_TRY(const Planned planned, any_attention(call));
  return terms_of(call, planned, index);
}
Result<Outputs> multi_head_attention(const Call& call) {
  OPDRIFT_TRY(Planned planned, multi_heads(call));
  return run(call, std::move(planned));
}
Result<Terms> multi_head_attention_terms(const Call& call, std::size_t index, const Array& /*y*/) {
  OPDRIFT_TRY(const Planned planned, multi_heads(call));
  return terms_of(call, planned, index);
}

}  // namespace opdrift::replay
