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
  /// Per batch, position of the first query among the keys; empty: 0. Negative where fewer keys
  /// count than there are queries.
  std::vector<std::int64_t> past;
  /// Per batch, how many keys count; empty: all of them.
  std::vector<std::size_t> counted;
  std::size_t window = 0;     ///< keys that a query sees, its own the last of them; 0: all
  std::vector<double> sinks;  ///< per head, a score that takes its share and gives nothing

  std::size_t batches() const { return q.shape[0]; }
  std::size_t heads() const { return q.shape[1]; }
};

/// How far scores have come.
enum class ScoreStage : std::uint8_t { product, capped, masked, weights };

/// Elements [first, first + count) of the last of three axes.
Array columns_of(const Array& x, std::size_t first, std::size_t count);
/// A mask of the domain com.microsoft as what is added to the scores, `filler` where it hides a
/// key: by batch and key, by batch, query and key, or the number of keys per batch, behind which
/// the first key of every batch may follow.
Result<Array> padding_mask(const Call& call, const Array& mask, const Heads& heads, double filler);
/// Adds to the scores what is given beside a mask.
Status add_to_mask(const Call& call, const Array& added, Heads& heads);
/// (batch, position, head * element) to (batch, head, position, element); four axes stay.
Result<Array> to_heads(const Call& call, const Array& x, std::int64_t heads);
/// Gives every query head its keys and values and checks that all fits, the work included.
Status fit_heads(const Call& call, Heads& heads);
Result<Array> attend(const Call& call, const Heads& heads);
Result<Array> scores_at(const Call& call, const Heads& heads, ScoreStage stage);
Result<Terms> score_terms(const Call& call, const Heads& heads, ScoreStage stage);
Result<Terms> attend_terms(const Call& call, const Heads& heads);
/// `past`, then `x`, along the positions. Fails where they do not fit each other.
Result<Array> behind(const Call& call, const Array& past, const Array& x);
/// `x` behind the first `before` rows of every batch of the past, which may be a longer buffer
/// (then the result is as long) or nullptr. Fails where they do not fit each other.
Result<Array> placed_behind(const Call& call, const Array* past, const Array& x,
                            const std::vector<std::size_t>& before);
/// The first positions of every head.
Array first_positions(const Array& x, std::size_t count);

}  // namespace opdrift::replay
