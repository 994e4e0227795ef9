#include <algorithm>
#include <cmath>

#include "opdrift/replay/kinds/heads.hpp"
#include "opdrift/replay/kinds/kinds.hpp"

// com.microsoft GroupQueryAttention: query, key, value (or all packed in the first), past key, past
// value, seqlens_k, total length, cos cache, sin cache, positions, attention bias.
//
// seqlens_k holds, per batch, one less than the positions in all; what is not new is past. Keys are
// turned by their positions before they join the past, which is a buffer that may be longer.

namespace opdrift::replay {

namespace {

/// Queries, keys and values as they come in, (batch, position, head * element).
struct Parts {
  Array q;
  Array k;
  Array v;
  std::int64_t heads = 0;
  std::int64_t groups = 0;
};

Result<Parts> parts_of(const Call& call) {
  OPDRIFT_TRY(const Array* query, call.need(0, "query"));
  Parts parts;
  parts.heads = call.integer({"num_heads"}, 0);
  parts.groups = call.integer({"kv_num_heads"}, 0);
  if (query->rank() != 3 || parts.heads < 1 || parts.groups < 1 || parts.heads > 65536 ||
      parts.groups > parts.heads) {
    return call.not_modelled("heads do not divide the hidden size");
  }
  if (call.input(1) != nullptr && call.input(2) != nullptr) {
    parts.q = *query;
    parts.k = *call.input(1);
    parts.v = *call.input(2);
    return parts;
  }
  const auto all = static_cast<std::size_t>(parts.heads + 2 * parts.groups);
  const std::size_t size = query->shape[2] / all;
  if (size * all != query->shape[2]) {
    return call.not_modelled("heads do not divide the hidden size");
  }
  const std::size_t queries = size * static_cast<std::size_t>(parts.heads);
  const std::size_t keys = size * static_cast<std::size_t>(parts.groups);
  parts.q = columns_of(*query, 0, queries);
  parts.k = columns_of(*query, queries, keys);
  parts.v = columns_of(*query, queries + keys, keys);
  return parts;
}

// Positions before the new ones, per batch.
Result<std::vector<std::size_t>> past_of(const Call& call, const Array& q) {
  OPDRIFT_TRY(const Array* lengths, call.need(5, "seqlens_k"));
  OPDRIFT_TRY(const Array* total, call.need(6, "total_sequence_length"));
  if (lengths->size() != q.shape[0] || total->size() != 1) {
    return call.not_modelled("expected one length per batch");
  }
  const auto fresh = static_cast<double>(q.shape[1]);
  const bool first = total->values[0] == fresh;
  std::vector<std::size_t> past;
  for (const double length : lengths->values) {
    const double before = first ? 0.0 : length + 1.0 - fresh;
    if (!(before >= 0.0) || !(before <= 1e9)) {
      return call.not_modelled("lengths do not fit the queries");
    }
    past.push_back(static_cast<std::size_t>(before));
  }
  return past;
}

// Turns the pairs of a head by the position they stand at.
Result<Array> turned(const Call& call, const Array& x, std::int64_t heads,
                     const std::vector<std::size_t>& past) {
  Array positions{{x.shape[0], x.shape[1]}, {}, tensor::DType::i64};
  for (const std::size_t before : past) {
    for (std::size_t s = 0; s < x.shape[1]; ++s) {
      positions.values.push_back(static_cast<double>(before + s));
    }
  }
  const Array* given = call.input(9);
  const Array* const inputs[] = {&x, given != nullptr ? given : &positions, call.input(7),
                                 call.input(8)};
  graph::Operator turn;
  turn.type = "RotaryEmbedding";
  turn.name = call.op.name;
  turn.domain = "com.microsoft";
  const auto set = [&turn](const char* name, std::int64_t value) {
    turn.attributes[name].kind = graph::Attribute::Kind::integer;
    turn.attributes[name].integers = {value};
  };
  set("num_heads", heads);
  set("interleaved", call.integer({"rotary_interleaved"}, 0));
  OPDRIFT_TRY(Outputs outputs, rotary_embedding(Call{turn, inputs, {}, call.limits}));
  return std::move(outputs.front());
}

struct Grouped {
  Heads heads;
  Array present_key;
  Array present_value;
};

// A smooth softmax adds 1 to the sum, a score of 0; every head may have a score of its own.
Status add_sinks(const Call& call, Heads& heads) {
  if (const Array* sinks = call.input(11); sinks != nullptr) {
    if (sinks->size() != heads.heads()) {
      return call.not_modelled("expected one sink per head");
    }
    heads.sinks = sinks->values;
  } else if (call.integer({"smooth_softmax"}, 0) > 0) {
    heads.sinks.assign(heads.heads(), 0.0);
  }
  return Unit{};
}

ScoreStage stage_of(const Call& call) {
  return call.integer({"qk_output"}, 0) == 2 ? ScoreStage::weights : ScoreStage::masked;
}

Result<Grouped> grouped_of(const Call& call) {
  if (call.integer({"sliding_window_cache"}, 0) != 0 || call.inputs.size() > 12) {
    return call.not_modelled("coded or normalised keys, or a cache of one window");
  }
  OPDRIFT_TRY(Parts parts, parts_of(call));
  OPDRIFT_TRY(const std::vector<std::size_t> past, past_of(call, parts.q));
  const auto like_queries = [&](const Array& x) {
    return x.rank() == 3 && x.shape[0] == parts.q.shape[0] && x.shape[1] == parts.q.shape[1];
  };
  if (past.empty() || !like_queries(parts.k) || !like_queries(parts.v)) {
    return call.not_modelled("queries, keys and values do not fit each other");
  }
  if (call.integer({"do_rotary"}, 0) != 0) {
    OPDRIFT_TRY(parts.q, turned(call, parts.q, parts.heads, past));
    OPDRIFT_TRY(parts.k, turned(call, parts.k, parts.groups, past));
  }
  Grouped grouped;
  Heads& heads = grouped.heads;
  OPDRIFT_TRY(heads.q, to_heads(call, parts.q, parts.heads));
  OPDRIFT_TRY(const Array keys, to_heads(call, parts.k, parts.groups));
  OPDRIFT_TRY(const Array values, to_heads(call, parts.v, parts.groups));
  OPDRIFT_TRY(grouped.present_key, placed_behind(call, call.input(3), keys, past));
  OPDRIFT_TRY(grouped.present_value, placed_behind(call, call.input(4), values, past));
  const std::size_t total = *std::max_element(past.begin(), past.end()) + parts.q.shape[1];
  heads.k = first_positions(grouped.present_key, total);
  heads.v = first_positions(grouped.present_value, total);
  heads.past.assign(past.begin(), past.end());
  heads.causal = call.integer({"causal"}, 1) != 0;
  for (const std::size_t before : past) {
    heads.counted.push_back(before + parts.q.shape[1]);
  }
  heads.window = static_cast<std::size_t>(
      std::clamp<std::int64_t>(call.integer({"local_window_size"}, -1), 0, 1 << 30));
  OPDRIFT_CHECK_OK(add_sinks(call, heads));
  heads.scale = call.real({"scale"}, 0.0);
  heads.softcap = call.real({"softcap"}, 0.0);
  if (const Array* added = call.input(10); added != nullptr) {
    heads.mask = *added;
  }
  OPDRIFT_CHECK_OK(fit_heads(call, heads));
  return grouped;
}

}  // namespace

Result<Outputs> grouped_attention(const Call& call) {
  OPDRIFT_TRY(Grouped grouped, grouped_of(call));
  Outputs outputs;
  OPDRIFT_TRY(Array y, attend(call, grouped.heads));
  outputs.push_back(std::move(y));
  outputs.push_back(std::move(grouped.present_key));
  outputs.push_back(std::move(grouped.present_value));
  if (call.op.outputs.size() > 3) {
    OPDRIFT_TRY(Array scores, scores_at(call, grouped.heads, stage_of(call)));
    outputs.push_back(std::move(scores));
  }
  return outputs;
}

Result<Terms> grouped_attention_terms(const Call& call, std::size_t index, const Array& /*y*/) {
  if (index != 0 && index != 3) {
    return Terms{};
  }
  OPDRIFT_TRY(const Grouped grouped, grouped_of(call));
  return index == 0 ? attend_terms(call, grouped.heads)
                    : score_terms(call, grouped.heads, stage_of(call));
}

}  // namespace opdrift::replay
