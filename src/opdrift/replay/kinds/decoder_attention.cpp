#include "opdrift/replay/kinds/heads.hpp"
#include "opdrift/replay/kinds/kinds.hpp"

// com.microsoft DecoderMaskedMultiHeadAttention, one new position at a time: query, key, value,
// mask, attention bias, past key, past value, past length, beam width, beams of the past, bias.
//
// Keys and values with four axes are those of an encoder; otherwise the new ones join the past,
// which may be a buffer of which so many positions are filled.

namespace opdrift::replay {

namespace {

struct Decoder {
  Heads heads;
  Array key;
  Array value;
};

// Adds `count` numbers of the bias, from `first` on, to every row.
Array biased(const Array& x, const Array* bias, std::size_t first) {
  Array sum = x;
  for (std::size_t at = 0; bias != nullptr && at < sum.size(); ++at) {
    sum.values[at] += bias->values[first + at % sum.shape.back()];
  }
  return sum;
}

// Filled positions of the past, per batch.
Result<std::vector<std::size_t>> filled(const Call& call, const Array* past, std::size_t batches) {
  if (past == nullptr) {
    return std::vector<std::size_t>(batches, 0);
  }
  if (past->rank() != 4) {
    return call.not_modelled("past keys and values do not fit");
  }
  double length = static_cast<double>(past->shape[2]);
  if (call.integer({"past_present_share_buffer"}, 0) != 0) {
    OPDRIFT_TRY(const auto given, call.real_or_input({}, 7));
    length = given.value_or(length);
  }
  if (!(length >= 0.0) || !(length <= static_cast<double>(past->shape[2]))) {
    return call.not_modelled("the past is longer than its buffer");
  }
  return std::vector<std::size_t>(batches, static_cast<std::size_t>(length));
}

Status join_past(const Call& call, const Array& key, const Array& value, std::int64_t count,
                 Decoder& decoder) {
  OPDRIFT_TRY(const Array new_key, to_heads(call, key, count));
  OPDRIFT_TRY(const Array new_value, to_heads(call, value, count));
  OPDRIFT_TRY(const auto before, filled(call, call.input(5), new_key.shape[0]));
  if (before.empty()) {
    return call.not_modelled("an empty batch");
  }
  OPDRIFT_TRY(decoder.key, placed_behind(call, call.input(5), new_key, before));
  OPDRIFT_TRY(decoder.value, placed_behind(call, call.input(6), new_value, before));
  const std::size_t total = before.front() + new_key.shape[2];
  decoder.heads.k = first_positions(decoder.key, total);
  decoder.heads.v = first_positions(decoder.value, total);
  return Unit{};
}

Result<Decoder> decoder_of(const Call& call) {
  OPDRIFT_TRY(const Array* query, call.need(0, "query"));
  OPDRIFT_TRY(const Array* key, call.need(1, "key"));
  OPDRIFT_TRY(const Array* value, call.need(2, "value"));
  OPDRIFT_TRY(const auto beams, call.real_or_input({}, 8));
  if (beams.value_or(1.0) != 1.0) {
    return call.not_modelled("several beams");
  }
  const Array* bias = call.input(10);
  const bool encoder = key->rank() == 4;
  if (query->rank() != 3 || query->shape[1] != 1 || (!encoder && key->rank() != 3) ||
      value->rank() != key->rank() || (encoder && bias != nullptr)) {
    return call.not_modelled("queries, keys and values do not fit each other");
  }
  const std::size_t hidden = query->shape[2];
  if (bias != nullptr && bias->size() != hidden + key->shape[2] + value->shape[2]) {
    return call.not_modelled("the bias does not fit");
  }
  const std::int64_t count = call.integer({"num_heads"}, 0);
  Decoder decoder;
  Heads& heads = decoder.heads;
  OPDRIFT_TRY(heads.q, to_heads(call, biased(*query, bias, 0), count));
  if (encoder) {
    heads.k = *key;
    heads.v = *value;
  } else {
    OPDRIFT_CHECK_OK(join_past(call, biased(*key, bias, hidden),
                               biased(*value, bias, hidden + key->shape[2]), count, decoder));
  }
  heads.scale = call.real({"scale"}, 0.0);
  if (const Array* mask = call.input(3); mask != nullptr) {
    const double filler = call.real({"mask_filter_value"}, -10000.0);
    OPDRIFT_TRY(heads.mask, padding_mask(call, *mask, heads, filler));
  }
  if (const Array* added = call.input(4); added != nullptr) {
    OPDRIFT_CHECK_OK(add_to_mask(call, *added, heads));
  }
  OPDRIFT_CHECK_OK(fit_heads(call, heads));
  return decoder;
}

}  // namespace

Result<Outputs> decoder_attention(const Call& call) {
  OPDRIFT_TRY(Decoder decoder, decoder_of(call));
  OPDRIFT_TRY(Array y, attend(call, decoder.heads));
  Outputs outputs = one_output(std::move(y));
  outputs.push_back(std::move(decoder.key));
  outputs.push_back(std::move(decoder.value));
  return outputs;
}

Result<Terms> decoder_attention_terms(const Call& call, std::size_t index, const Array& /*y*/) {
  if (index != 0) {
    return Terms{};
  }
  OPDRIFT_TRY(const Decoder decoder, decoder_of(call));
  return attend_terms(call, decoder.heads);
}

}  // namespace opdrift::replay
