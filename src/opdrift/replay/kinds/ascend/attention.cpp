#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "opdrift/replay/kinds/ascend/kinds.hpp"
#include "opdrift/replay/kinds/heads.hpp"
#include "opdrift/replay/kinds/kinds.hpp"
#include "opdrift/replay/walk.hpp"

// The attention operators of Ascend IR, all softmax(scale Q K^T + shift, masked) V (heads.hpp):
//   layout       BSH, SBH, BSND or BNSD: which axis is batch, sequence, head and element
//   atten_mask   not 0: the key is not seen
//   sparse_mode  0 and 1 the mask as given; 0 with the band [i - pre, i + next] as well
//                2 keys up to the query, counted from the first; 3 counted from the last
//                4 the band counted from the last
// FlashAttentionScore multiplies its shift by the scale as well (pse_type 1), and gives out maximum
// and sum of every row first.

namespace opdrift::replay {

namespace {

/// What differs between the operators.
struct Form {
  std::size_t shift = 0;  ///< inputs
  std::size_t mask = 0;
  std::size_t query_lengths = 0;  ///< 0: none
  std::size_t key_lengths = 0;
  std::size_t first_coding = 0;  ///< inputs from here on are about codes and pages
  const char* heads = "num_heads";
  const char* scale = "scale_value";
  std::int64_t next_tokens = std::numeric_limits<std::int32_t>::max();
};

constexpr Form kPrompt = {3, 4, 5, 6, 7, "num_heads", "scale_value", 0};
constexpr Form kIncrement = {3, 4, 0, 5, 6};
constexpr Form kInference = {3, 4, 5, 6, 7, "num_heads", "scale"};
constexpr Form kTraining = {3, 6, 0, 0, 7, "head_num"};

const Form& form_of(const std::string& type) {
  return type == "PromptFlashAttention"  ? kPrompt
         : type == "IncreFlashAttention" ? kIncrement
         : type == "FlashAttentionScore" ? kTraining
                                         : kInference;
}

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

/// Which keys a query sees, by where they stand.
struct Band {
  bool bound = false;
  std::int64_t shift = 0;  ///< of queries against keys
  std::int64_t before = 0;
  std::int64_t after = 0;

  bool sees(std::int64_t query, std::int64_t key) const {
    const std::int64_t distance = key - query - shift;
    return !bound || (distance <= after && -distance <= before);
  }
};

Result<Band> band_of(const Call& call, const Form& form, const Heads& heads) {
  constexpr std::int64_t kFar = std::numeric_limits<std::int32_t>::max();
  const auto queries = static_cast<std::int64_t>(heads.q.shape[2]);
  const auto keys = static_cast<std::int64_t>(heads.k.shape[2]);
  const std::int64_t mode = call.integer({"sparse_mode"}, 0);
  const std::int64_t before = call.integer({"pre_tockens", "pre_tokens"}, kFar);
  const std::int64_t after = call.integer({"next_tockens", "next_tokens"}, form.next_tokens);
  Band band;
  band.before = std::clamp<std::int64_t>(mode == 2 || mode == 3 ? kFar : before, -kFar, kFar);
  band.after = std::clamp<std::int64_t>(mode == 2 || mode == 3 ? 0 : after, -kFar, kFar);
  band.bound = mode == 2 || mode == 3 || mode == 4 ||
               (mode == 0 && call.input(form.mask) != nullptr && &form != &kIncrement);
  band.shift = mode == 3 || mode == 4 ? keys - queries : 0;
  if (mode < 0 || mode > 4) {
    return call.not_modelled("sparse mode " + std::to_string(mode));
  }
  const bool binds = band.before < queries || band.after < keys;
  if (mode == 0 && band.bound && binds && queries != keys) {
    return call.not_modelled("a band between sequences of different lengths");
  }
  return band;
}

// Keys beyond the length of a sequence are not seen; queries must all be there.
Result<std::vector<double>> key_lengths(const Call& call, const Form& form, const Heads& heads) {
  const auto all = static_cast<double>(heads.k.shape[2]);
  std::vector<double> lengths(heads.batches(), all);
  if (const Array* given = form.query_lengths == 0 ? nullptr : call.input(form.query_lengths);
      given != nullptr) {
    const auto queries = static_cast<double>(heads.q.shape[2]);
    if (std::any_of(given->values.begin(), given->values.end(),
                    [queries](double length) { return length != queries; })) {
      return call.not_modelled("queries of different lengths");
    }
  }
  const Array* given = form.key_lengths == 0 ? nullptr : call.input(form.key_lengths);
  if (given == nullptr || given->size() == 0) {
    return lengths;
  }
  if (given->size() != 1 && given->size() != lengths.size()) {
    return call.not_modelled("expected one length per batch");
  }
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    lengths[b] = given->values[given->size() == 1 ? 0 : b];
    if (!(lengths[b] >= 1.0) || !(lengths[b] <= all)) {
      return call.not_modelled("a sequence is longer than its axis");
    }
  }
  return lengths;
}

// The shift as it is added to scaled scores, stretched over all of them.
Result<Array> stretched_shift(const Call& call, const Form& form, const Heads& heads) {
  const tensor::Shape& q = heads.q.shape;
  OPDRIFT_TRY(Array all, call.make({q[0], q[1], q[2], heads.k.shape[2]}, tensor::DType::f32));
  const Array* shift = call.input(form.shift);
  if (shift == nullptr) {
    return all;
  }
  const std::int64_t type = &form == &kTraining ? call.integer({"pse_type"}, 1) : 0;
  OPDRIFT_TRY(const tensor::Shape wide, broadcast_shape(shift->shape, all.shape));
  if (wide != all.shape || type < 0 || type > 1) {
    return call.not_modelled("a shift of the scores that is not one number for each");
  }
  copy_strided(shift->values.data(), 0, wide, broadcast_strides(shift->shape, wide),
               all.values.data());
  for (double& value : all.values) {
    value *= type == 1 ? heads.scale : 1.0;
  }
  return all;
}

// Minus infinity where a key is not seen. A row that sees nothing has no softmax, and what devices
// give out there differs.
Status add_masks(const Call& call, const Form& form, const Band& band, Heads& heads) {
  OPDRIFT_TRY(const std::vector<double> lengths, key_lengths(call, form, heads));
  const std::int64_t mode = call.integer({"sparse_mode"}, 0);
  const Array* mask = mode <= 1 ? call.input(form.mask) : nullptr;
  if (mode == 1 && mask == nullptr) {
    return call.not_modelled("the mask is missing");
  }
  OPDRIFT_TRY(heads.mask, stretched_shift(call, form, heads));
  const tensor::Shape& shape = heads.mask.shape;
  std::vector<double> hidden(heads.mask.size(), 0.0);
  if (mask != nullptr) {
    OPDRIFT_TRY(const tensor::Shape wide, broadcast_shape(mask->shape, shape));
    if (wide != shape) {
      return call.not_modelled("the mask is larger than the scores");
    }
    copy_strided(mask->values.data(), 0, shape, broadcast_strides(mask->shape, shape),
                 hidden.data());
  }
  for (std::size_t row = 0; row * shape[3] < hidden.size(); ++row) {
    bool any = false;
    const double length = lengths[row / shape[2] / shape[1]];
    for (std::size_t j = 0; j < shape[3]; ++j) {
      const bool seen =
          hidden[row * shape[3] + j] == 0.0 && static_cast<double>(j) < length &&
          band.sees(static_cast<std::int64_t>(row % shape[2]), static_cast<std::int64_t>(j));
      any = any || seen;
      if (!seen) {
        heads.mask.values[row * shape[3] + j] = -HUGE_VAL;
      }
    }
    if (!any) {
      return call.not_modelled("a query sees no key");
    }
  }
  return Unit{};
}

struct Planned {
  Heads heads;
  std::string layout;
};

Status check_plain(const Call& call, const Form& form) {
  for (std::size_t i = form.first_coding; i < call.inputs.size(); ++i) {
    if (call.input(i) != nullptr) {
      return call.not_modelled("codes, pages or packed sequences");
    }
  }
  const bool dropped =
      &form == &kTraining && (call.real({"keep_prob"}, 1.0) != 1.0 || call.input(4) != nullptr ||
                              call.input(5) != nullptr);
  return dropped ? Status(call.not_modelled("training mode draws random numbers")) : Unit{};
}

Result<Planned> plan(const Call& call) {
  const Form& form = form_of(call.op.type);
  OPDRIFT_CHECK_OK(check_plain(call, form));
  OPDRIFT_TRY(const Array* query, call.need(0, "query"));
  OPDRIFT_TRY(const Array* key, call.need(1, "key"));
  OPDRIFT_TRY(const Array* value, call.need(2, "value"));
  Planned planned;
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
  // One value that is 1 everywhere would lose what is asked here, so the scores are made again.
  const tensor::Shape& q = heads.q.shape;
  const std::size_t keys = heads.k.shape[2];
  constexpr std::uint64_t kTimes = 8;
  RowFacts facts;
  OPDRIFT_TRY(facts.top, call.make({q[0], q[1], q[2], kTimes}, tensor::DType::f32));
  facts.sum = facts.top;
  std::vector<double> scores(keys);
  for (std::size_t row = 0; row < q[0] * q[1] * q[2]; ++row) {
    const double* query = heads.q.values.data() + row * q[3];
    const double* key = heads.k.values.data() + row / q[2] * keys * q[3];
    double top = -HUGE_VAL;
    for (std::size_t j = 0; j < keys; ++j, key += q[3]) {
      double score = 0.0;
      for (std::size_t d = 0; d < q[3]; ++d) {
        score += query[d] * key[d];
      }
      const double more = heads.mask.values.empty() ? 0.0 : heads.mask.values[row * keys + j];
      scores[j] = score * heads.scale + more;
      top = std::max(top, scores[j]);
    }
    double sum = 0.0;
    for (const double score : scores) {
      sum += std::exp(score - top);
    }
    std::fill_n(facts.top.values.begin() + static_cast<std::ptrdiff_t>(row * kTimes), kTimes, top);
    std::fill_n(facts.sum.values.begin() + static_cast<std::ptrdiff_t>(row * kTimes), kTimes, sum);
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
  OPDRIFT_TRY(const Outputs outputs, flash_attention(call));
  const Array& top = outputs.front();
  for (std::size_t at = 0; index < 2 && at < y.size() && y.size() == top.size(); ++at) {
    const double size = std::abs(top.values[at]) + 1.0;
    terms.extra.push_back(index == 0 ? size * size : size * size * y.values[at] * y.values[at]);
  }
  return terms;
}

}  // namespace opdrift::replay
