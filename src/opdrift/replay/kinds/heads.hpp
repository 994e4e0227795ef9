#pragma once

#include <cstdint>
#include <vector>

#include "opdrift/replay/kind.hpp"

// What all kinds of attention come down to, once their inputs are laid out per batch and head:
//   s = scale * Q K^T + mask, p = softmax(s), y = p V
// Its budget is the composition of theirs. A rounding error ds_j of a score moves the output by
//   dy = sum_j p_j (v_j - y) ds_j,
// and a score carries that of its dot product, of its shift by the maximum, and of exp.

namespace opdrift::replay {

/// Queries, keys and values laid out (batch, head, position, element).
struct Heads {
  Array q;
  Array k;
  Array v;
  Array mask;               ///< added to the scores; empty values: none
  double scale = 0.0;       ///< 0: 1 / sqrt(size of a head)
  double softcap = 0.0;     ///< 0: none
  bool causal = false;      ///< position i sees what stands up to it
  bool flat_output = true;  ///< (batch, position, head * element) instead of (batch, head, ...)
  /// Per batch, positions before the first query; empty: none.
  std::vector<std::size_t> past;

  std::size_t batches() const { return q.shape[0]; }
  std::size_t heads() const { return q.shape[1]; }
};

/// (batch, position, head * element) to (batch, head, position, element); four axes stay.
Result<Array> to_heads(const Call& call, const Array& x, std::int64_t heads);
/// Gives every query head its keys and values and checks that all fits, the work included.
Status fit_heads(const Call& call, Heads& heads);
Result<Array> attend(const Call& call, const Heads& heads);
Result<Terms> attend_terms(const Call& call, const Heads& heads);
/// `past`, then `x`, along the positions. Fails where they do not fit each other.
Result<Array> behind(const Call& call, const Array& past, const Array& x);

}  // namespace opdrift::replay
