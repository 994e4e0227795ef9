#include <algorithm>

#include "opdrift/replay/kinds/kinds.hpp"

// Rotary position embedding: pairs (x_1, x_2) of a head become
//   (x_1 cos - x_2 sin, x_1 sin + x_2 cos)
// at the angle of their position.

namespace opdrift::replay {

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

// com.microsoft: x, positions, cos, sin; ai.onnx: x, cos, sin,
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
  return one_output(std::move(y));
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
