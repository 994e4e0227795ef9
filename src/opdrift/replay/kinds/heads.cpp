#include "opdrift/replay/kinds/heads.hpp"

#include <algorithm>
#include <cmath>

#include "opdrift/replay/matmul.hpp"
#include "opdrift/replay/walk.hpp"

namespace opdrift::replay {

namespace {

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

void add_mask(const Array& mask, Array& scores) {
  double* out = scores.values.data();
  walk<1>(scores.shape, {broadcast_strides(mask.shape, scores.shape)}, [&](const Row<1>& row) {
    for (std::size_t i = 0; i < row.length; ++i) {
      *out++ += mask.values[static_cast<std::size_t>(row.at[0] +
                                                     static_cast<std::int64_t>(i) * row.step[0])];
    }
  });
}

// Keys that come later than their query, or that do not count.
void hide_keys(const Heads& heads, Array& scores) {
  const std::size_t rows = scores.shape[2];
  const std::size_t columns = scores.shape[3];
  const std::size_t batch = rows * columns * heads.heads();
  for (std::size_t at = 0; at < scores.size(); ++at) {
    const auto key = static_cast<std::int64_t>(at % columns);
    const auto query = static_cast<std::int64_t>(at / columns % rows);
    const std::int64_t past = heads.past.empty() ? 0 : heads.past[at / batch];
    const bool later = heads.causal && key > query + past;
    const bool far =
        heads.window != 0 && key + static_cast<std::int64_t>(heads.window) <= query + past;
    if (later || far || (!heads.counted.empty() && at % columns >= heads.counted[at / batch])) {
      scores.values[at] = -HUGE_VAL;
    }
  }
}

Result<Array> scores_of(const Call& call, const Heads& heads,
                        ScoreStage stage = ScoreStage::masked) {
  OPDRIFT_TRY(Product product, plan_matmul(call, heads.q, heads.k, false, true));
  product.scale = heads.scale;
  OPDRIFT_TRY(Array scores, run_product(call, product));
  if (stage == ScoreStage::product) {
    return scores;
  }
  for (double& value : scores.values) {
    value = heads.softcap > 0.0 ? heads.softcap * std::tanh(value / heads.softcap) : value;
  }
  if (stage == ScoreStage::capped) {
    return scores;
  }
  if (!heads.mask.values.empty()) {
    add_mask(heads.mask, scores);
  }
  if (heads.causal || heads.window != 0 || !heads.counted.empty()) {
    hide_keys(heads, scores);
  }
  return scores;
}

// Softmax over the last axis, in place. A row without any finite score becomes NaN, as it should.
void softmax_rows(const Heads& heads, Array& scores) {
  const std::size_t columns = scores.shape[3];
  const std::size_t head_size = std::max<std::size_t>(columns * scores.shape[2], 1);
  for (std::size_t first = 0; first < scores.size(); first += columns) {
    double* row = scores.values.data() + first;
    const double sink =
        heads.sinks.empty() ? -HUGE_VAL : heads.sinks[first / head_size % heads.heads()];
    const double top = std::max(sink, *std::max_element(row, row + columns));
    double sum = heads.sinks.empty() ? 0.0 : std::exp(sink - top);
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

// Sums of (scale q k)^2 behind every score.
Result<Array> product_squares(const Call& call, const Heads& heads) {
  const Array q2 = squared(heads.q);
  const Array k2 = squared(heads.k);
  OPDRIFT_TRY(Product product, plan_matmul(call, q2, k2, false, true));
  product.scale = heads.scale * heads.scale;
  return run_product(call, product);
}

// Variance of every weight p, in units of u_c^2.
Result<Array> weight_variances(const Call& call, const Heads& heads, const Array& scores,
                               const Array& weights) {
  OPDRIFT_TRY(Array variances, product_squares(call, heads));
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
  return variances;
}

}  // namespace

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

Result<Array> attend(const Call& call, const Heads& heads) {
  OPDRIFT_TRY(Array weights, scores_of(call, heads));
  softmax_rows(heads, weights);
  OPDRIFT_TRY(Array y, weighted_values(call, weights, heads.v));
  return heads.flat_output ? from_heads(y) : y;
}

Result<Array> scores_at(const Call& call, const Heads& heads, ScoreStage stage) {
  OPDRIFT_TRY(Array scores, scores_of(call, heads, stage));
  if (stage == ScoreStage::weights) {
    softmax_rows(heads, scores);
  }
  return scores;
}

Result<Terms> score_terms(const Call& call, const Heads& heads, ScoreStage stage) {
  Terms terms;
  if (stage == ScoreStage::weights) {
    OPDRIFT_TRY(const Array scores, scores_of(call, heads));
    OPDRIFT_TRY(const Array weights, scores_at(call, heads, stage));
    OPDRIFT_TRY(Array variances, weight_variances(call, heads, scores, weights));
    terms.n = static_cast<double>(scores.shape.back());
    terms.extra = std::move(variances.values);
    return terms;
  }
  OPDRIFT_TRY(Array squares, product_squares(call, heads));
  terms.n = static_cast<double>(heads.q.shape[3]);
  if (stage != ScoreStage::product) {
    // tanh within 5 ulp, and the score before a mask takes most of it away.
    OPDRIFT_TRY(const Array scores, scores_of(call, heads, ScoreStage::capped));
    for (const double score : scores.values) {
      terms.extra.push_back(heads.softcap > 0.0 ? 26.0 * score * score : score * score);
    }
  }
  terms.a2 = std::move(squares.values);
  return terms;
}

Result<Terms> attend_terms(const Call& call, const Heads& heads) {
  OPDRIFT_TRY(const Array scores, scores_of(call, heads));
  Array weights = scores;
  softmax_rows(heads, weights);
  OPDRIFT_TRY(const Array y, weighted_values(call, weights, heads.v));
  OPDRIFT_TRY(Array a2, weighted_values(call, squared(weights), squared(heads.v)));
  OPDRIFT_TRY(const Array variances, weight_variances(call, heads, scores, weights));
  OPDRIFT_TRY(const Array extra, score_variance(call, variances, heads.v, y));
  Terms terms;
  terms.n = static_cast<double>(scores.shape.back());
  terms.a2 = heads.flat_output ? from_heads(a2).values : a2.values;
  terms.extra = heads.flat_output ? from_heads(extra).values : extra.values;
  return terms;
}

Array columns_of(const Array& x, std::size_t first, std::size_t count) {
  Array y;
  y.dtype = x.dtype;
  y.shape = {x.shape[0], x.shape[1], count};
  y.values.resize(count_of(y.shape));
  copy_strided(x.values.data(), static_cast<std::int64_t>(first), y.shape, strides_of(x.shape),
               y.values.data());
  return y;
}

Result<Array> padding_mask(const Call& call, const Array& mask, const Heads& heads, double filler) {
  const std::size_t batches = heads.batches();
  const std::size_t queries = heads.q.shape[2];
  const std::size_t keys = heads.k.shape[2];
  Array added;
  if (mask.rank() == 1 && (mask.size() == batches || mask.size() == 2 * batches)) {
    OPDRIFT_TRY(added, call.make({batches, 1, 1, keys}, tensor::DType::f32));
    for (std::size_t at = 0; at < added.size(); ++at) {
      const auto key = static_cast<double>(at % keys);
      const std::size_t batch = at / keys;
      const double first = mask.size() == batches ? 0.0 : mask.values[batches + batch];
      added.values[at] = key >= first && key < mask.values[batch] ? 0.0 : filler;
    }
    return added;
  }
  added = mask;
  if (mask.shape == tensor::Shape{batches, keys}) {
    added.shape = {batches, 1, 1, keys};
  } else if (mask.shape == tensor::Shape{batches, queries, keys}) {
    added.shape = {batches, 1, queries, keys};
  } else {
    return call.not_modelled("a mask of shape " + tensor::to_string(mask.shape));
  }
  for (double& value : added.values) {
    value = value > 0.0 ? 0.0 : filler;
  }
  return added;
}

Status add_to_mask(const Call& call, const Array& added, Heads& heads) {
  if (heads.mask.values.empty()) {
    heads.mask = added;
    return Unit{};
  }
  const tensor::Shape scores = {heads.batches(), heads.heads(), heads.q.shape[2], heads.k.shape[2]};
  OPDRIFT_TRY(const tensor::Shape wide, broadcast_shape(added.shape, scores));
  if (wide != scores) {
    return call.not_modelled("the bias is larger than the scores");
  }
  OPDRIFT_TRY(Array sum, call.make(scores, tensor::DType::f32));
  add_mask(heads.mask, sum);
  add_mask(added, sum);
  heads.mask = std::move(sum);
  return Unit{};
}

Result<Array> behind(const Call& call, const Array& past, const Array& x) {
  if (past.rank() != 4 || x.rank() != 4 || past.shape[0] != x.shape[0] ||
      past.shape[1] != x.shape[1] || past.shape[3] != x.shape[3]) {
    return call.not_modelled("past keys and values do not fit");
  }
  OPDRIFT_TRY(Array all,
              call.make({x.shape[0], x.shape[1], past.shape[2] + x.shape[2], x.shape[3]}, x.dtype));
  const std::size_t before = past.shape[2] * past.shape[3];
  const std::size_t after = x.shape[2] * x.shape[3];
  auto out = all.values.begin();
  for (std::size_t head = 0; head < x.shape[0] * x.shape[1]; ++head) {
    const auto old = past.values.begin() + static_cast<std::ptrdiff_t>(head * before);
    const auto fresh = x.values.begin() + static_cast<std::ptrdiff_t>(head * after);
    out = std::copy(old, old + static_cast<std::ptrdiff_t>(before), out);
    out = std::copy(fresh, fresh + static_cast<std::ptrdiff_t>(after), out);
  }
  return all;
}

Result<Array> placed_behind(const Call& call, const Array* past, const Array& fresh,
                            const std::vector<std::size_t>& before) {
  const std::size_t longest = *std::max_element(before.begin(), before.end());
  const std::size_t kept = past == nullptr || past->rank() != 4 ? 0 : past->shape[2];
  const bool fits =
      kept == 0 || (past->shape[0] == fresh.shape[0] && past->shape[1] == fresh.shape[1] &&
                    past->shape[3] == fresh.shape[3]);
  if (!fits || longest > kept) {
    return call.not_modelled("past keys and values do not fit");
  }
  const std::size_t rows = std::max(kept, longest + fresh.shape[2]);
  const std::size_t size = fresh.shape[3];
  OPDRIFT_TRY(Array present, call.make({fresh.shape[0], fresh.shape[1], rows, size}, fresh.dtype));
  for (std::size_t at = 0; at < fresh.shape[0] * fresh.shape[1]; ++at) {
    double* out = present.values.data() + at * rows * size;
    const std::size_t valid = before[at / fresh.shape[1]];
    // A result that is longer than the past is new memory: what holds nothing of use is not copied.
    const std::size_t copied = rows > kept ? valid : kept;
    if (copied > 0) {
      std::copy_n(past->values.data() + at * kept * size, copied * size, out);
    }
    std::copy_n(fresh.values.data() + at * fresh.shape[2] * size, fresh.shape[2] * size,
                out + valid * size);
  }
  return present;
}

Array first_positions(const Array& x, std::size_t count) {
  Array kept;
  kept.dtype = x.dtype;
  kept.shape = {x.shape[0], x.shape[1], std::min<std::size_t>(count, x.shape[2]), x.shape[3]};
  kept.values.resize(count_of(kept.shape));
  copy_strided(x.values.data(), 0, kept.shape, strides_of(x.shape), kept.values.data());
  return kept;
}

}  // namespace opdrift::replay
