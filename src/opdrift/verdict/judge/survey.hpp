#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/tensor/view.hpp"
#include "opdrift/verdict/problem.hpp"

// One streaming pass over a pair of tensors, for operators that are replayed at a sample only.
//
//   score_i = (t_i - g_i)^2 / ((g_i^2 + mean of g^2 over the row of i) / 2),
//   a row being the last axis, or a stretch of it when it is long
//
// Where a comparison has measured the pair already, only the tiles with the largest errors are
// looked at again.

namespace opdrift::verdict::judging {

/// Elements sampled at random, and those with the largest scores.
inline constexpr std::size_t kRandomSample = 512;
inline constexpr std::size_t kWorstSample = 64;

/// Tiles at most in which the largest scores are looked for when the pair was measured.
inline constexpr std::size_t kWorstTiles = 32;

struct Survey {
  bool equal = true;  ///< every element agrees in value, NaN counting as NaN
  std::uint64_t count = 0;
  std::uint64_t finite = 0;            ///< pairs of finite elements
  std::uint64_t shared_nonfinite = 0;  ///< NaN or Inf of one sign on both sides
  std::uint64_t class_mismatches = 0;
  double golden_norm = 0.0;  ///< over finite pairs
  double error_norm = 0.0;
  std::vector<std::uint64_t> mismatches;  ///< the first positions of differing class
  std::vector<std::uint64_t> worst;       ///< positions of the largest scores, rising

  /// Positions that a sample has to hold: the worst, then the mismatches.
  std::vector<std::uint64_t> standing_out() const;
};

/// Both views must have the same element count; dtypes must be numbers. `known`: what a comparison
/// found about them, if there was one.
Result<Survey> survey(const tensor::View& golden, const tensor::View& target,
                      const MeasuredValue& known = {});

/// `count` positions below `population`, one at random of each of as many equal parts, rising, from
/// `seed` alone. With repeats where there are fewer elements.
std::vector<std::uint64_t> random_positions(std::uint64_t population, std::size_t count,
                                            std::uint64_t seed);

/// Elements of a view at flat positions, a few of them.
std::vector<double> values_at(const tensor::View& view, std::span<const std::uint64_t> positions);

}  // namespace opdrift::verdict::judging
