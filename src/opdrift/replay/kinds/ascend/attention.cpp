#include <algorithm>
#include <cmath>

#include "opdrift/replay/kinds/ascend/attention_masks.hpp"
#include "opdrift/replay/kinds/ascend/kinds.hpp"
#include "opdrift/replay/kinds/kinds.hpp"

// The attention operators of Ascend IR, all softmax(scale Q K^T + shift, masked) V (heads.hpp):
//   layout       BSH, SBH, BSND or BNSD: which axis is batch, sequence, head and element
// FlashAttentionScore multiplies its shift by the scale as well (pse_type 1), and gives out maximum
// and sum of every row first.

namespace opdrift::replay {

namespace {

// Any layout as (batch, head, position, element).
Result<Array> laid_out(const Call& call, const Array& x, const std::string& layout,
                       std::int64_t heads) {
  if (layout == "BNSD" && x.rank() == 4) {
    return x;
  }
  if (layout == "BSND" && x.rank() == 4) {
    return transposed(x, {0, 2, 1, 3});
  }
  if (layout == "BSH" && x.rank() == 3) {
    return to_heads(call, x, heads);
  }
  if (layout == "SBH" && x.rank() == 3) {
    return to_heads(call, transposed(x, {1, 0, 2}), heads);
  }
  return call.not_modelled("layout " + layout + " of " + tensor::to_string(x.shape));
}

// (batch, position, head * element) in the layout of the queries.
Array given_out(Array x, const std::string& layout, const tensor::Shape& query) {
  if (layout == "SBH") {
    return transposed(x, {1, 0, 2});
  }
  if (layout == "BSND") {
    const std::uint64_t heads = query[2];
    x.shape = {x.shape[0], x.shape[1], heads, x.shape[2] / heads};
  }
  return x;
}

struct Planned {
  Heads heads;
  std::string layout;
};

Status check_plain(const Call& call, const AttentionForm& form) {
  for (std::size_t i = form.first_coding; i < call.inputs.size(); ++i) {
    if (call.input(i) != nullptr) {
      return call.not_modelled("codes, pages or packed sequences");
    }
  }
  const bool dropped = form.training && (call.real({"keep_prob"}, 1.0) != 1.0 ||
                                         call.input(4) != nullptr || call.input(5) != nullptr);
  return dropped ? Status(call.not_modelled("training mode draws random numbers")) : Unit{};
}

Result<Planned> plan(const Call& call) {
  const AttentionForm& form = attention_form(call.op.type);
  OPDRIFT_CHECK_OK(check_plain(call, form));
  OPDRIFT_TRY(const Array* query, call.need(0, "query"));
  OPDRIFT_TRY(const Array* key, call.need(1, "key"));
  OPDRIFT_TRY(const Array* value, call.need(2, "value"));
  Planned planned;
  if (count_of(query->shape) == 0) {
    return call.not_modelled("there are no queries");
  }
  planned.layout = call.text({"input_layout"}, "BSH");
  Heads& heads = planned.heads;
  const std::int64_t count = call.integer({form.heads}, 0);
  OPDRIFT_TRY(heads.q, laid_out(call, *query, planned.layout, count));
  // Queries may share keys; how many do follows from the size of a head.
  std::int64_t groups = call.integer({"num_key_value_heads"}, 0);
  if (groups == 0 && key->rank() == 3 && heads.q.shape[3] > 0) {
    groups = static_cast<std::int64_t>(key->shape[2] / heads.q.shape[3]);
  }
  OPDRIFT_TRY(heads.k, laid_out(call, *key, planned.layout, groups));
  OPDRIFT_TRY(heads.v, laid_out(call, *value, planned.layout, groups));
  heads.scale = call.real({form.scale}, 1.0);
  heads.flat_output = planned.layout != "BNSD";
  OPDRIFT_CHECK_OK(fit_heads(call, heads));
  OPDRIFT_TRY(const Band band, band_of(call, form, heads));
  const bool shifted = call.input(form.shift) != nullptr || call.input(form.mask) != nullptr ||
                       (form.key_lengths != 0 && call.input(form.key_lengths) != nullptr);
  if (band.bound || shifted || call.integer({"sparse_mode"}, 0) != 0) {
    OPDRIFT_CHECK_OK(add_masks(call, form, band, heads));
  }
  return planned;
}

Result<Array> attended(const Call& call, const Planned& planned) {
  OPDRIFT_TRY(Array y, attend(call, planned.heads));
  return given_out(std::move(y), planned.layout, call.input(0)->shape);
}

Result<Terms> terms_of(const Call& call) {
  OPDRIFT_TRY(const Planned planned, plan(call));
  OPDRIFT_TRY(Terms terms, attend_terms(call, planned.heads));
  if (planned.layout != "SBH") {
    return terms;
  }
  const tensor::Shape& query = call.input(0)->shape;
  const std::uint64_t width = count_of(query) == 0 ? 0 : terms.a2.size() / query[0] / query[1];
  for (std::vector<double>* list : {&terms.a2, &terms.extra}) {
    const Array flat{{query[1], query[0], width}, std::move(*list), tensor::DType::f32};
    *list = transposed(flat, {1, 0, 2}).values;
  }
  return terms;
}

/// Maximum and sum of e^(score - maximum) of every row, eight times each.
struct RowFacts {
  Array top;
  Array sum;
};

Result<RowFacts> row_facts(const Call& call, const Heads& heads) {
  OPDRIFT_TRY(const Array scores, scores_at(call, heads, ScoreStage::masked));
  const std::size_t keys = heads.k.shape[2];
  constexpr std::uint64_t kTimes = 8;
  const tensor::Shape& q = heads.q.shape;
  RowFacts facts;
  OPDRIFT_TRY(facts.top, call.make({q[0], q[1], q[2], kTimes}, tensor::DType::f32));
  facts.sum = facts.top;
  for (std::size_t at = 0; at < facts.top.size(); at += kTimes) {
    const auto row = scores.values.begin() + static_cast<std::ptrdiff_t>(at / kTimes * keys);
    const auto end = row + static_cast<std::ptrdiff_t>(keys);
    const double top = keys == 0 ? -HUGE_VAL : *std::max_element(row, end);
    double sum = 0.0;
    std::for_each(row, end, [&](double score) { sum += std::exp(score - top); });
    const auto place = static_cast<std::ptrdiff_t>(at);
    std::fill_n(facts.top.values.begin() + place, kTimes, top);
    std::fill_n(facts.sum.values.begin() + place, kTimes, sum);
  }
  return facts;
}

}  // namespace

Result<Outputs> inference_attention(const Call& call) {
  if (call.integer({"softmax_lse_flag"}, 0) != 0) {
    return call.not_modelled("logarithms of the sums as a second result");
  }
  OPDRIFT_TRY(const Planned planned, plan(call));
  Outputs outputs;
  OPDRIFT_TRY(Array y, attended(call, planned));
  outputs.push_back(std::move(y));
  return outputs;
}
Result<Terms> inference_attention_terms(const Call& call, std::size_t index, const Array& /*y*/) {
  return index == 0 ? terms_of(call) : Terms{};
}

// softmax_max, softmax_sum, softmax_out (empty) and the result.
Result<Outputs> flash_attention(const Call& call) {
  OPDRIFT_TRY(const Planned planned, plan(call));
  OPDRIFT_TRY(RowFacts facts, row_facts(call, planned.heads));
  OPDRIFT_TRY(Array y, attended(call, planned));
  Outputs outputs;
  outputs.push_back(std::move(facts.top));
  outputs.push_back(std::move(facts.sum));
  outputs.push_back(Array{{0}, {}, y.dtype});
  outputs.push_back(std::move(y));
  return outputs;
}
Result<Terms> flash_attention_terms(const Call& call, std::size_t index, const Array& y) {
  if (index == 3) {
    return terms_of(call);
  }
  // A score that is off by u |score| moves the sum by as much of itself.
  Terms terms;
  OPDRIFT_TRY(const Planned planned, plan(call));
  OPDRIFT_TRY(const RowFacts facts, row_facts(call, planned.heads));
  const Array& top = facts.top;
  for (std::size_t at = 0; index < 2 && at < y.size() && y.size() == top.size(); ++at) {
    const double size = std::abs(top.values[at]) + 1.0;
    terms.extra.push_back(index == 0 ? size * size : size * size * y.values[at] * y.values[at]);
  }
  return terms;
}

}  // namespace opdrift::replay
