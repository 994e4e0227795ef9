#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/replay/budget.hpp"
#include "opdrift/verdict/judge/found.hpp"

// Steps A to D on the elements of one output, whole or sampled:
//
//   A  classes   a pair of different class is inherited when f has the class of either side there
//   B  d       = (t - f(t_in)) - (g - f(g_in))
//   C  sigma^2 = S + W + A + P + F + 2^-252 + c^2 + mean(c^2) + M
//   D  q_own   = ||d|| / sqrt(sum sigma^2), z' = max |d| / sigma / K(N)

namespace opdrift::verdict::judging {

/// One output, element by element. All lists are parallel; `positions` may be empty for "all".
struct Elements {
  std::span<const double> golden;
  std::span<const double> target;
  std::span<const double> golden_replay;
  std::span<const double> target_replay;
  std::vector<double> inner;    ///< variance without storage; empty: none
  std::vector<double> missing;  ///< M and the spread of further goldens; empty: none
  std::span<const std::uint64_t> positions = {};
  /// The first so many were drawn at random and stand for the whole tensor; 0: the lists are whole.
  std::size_t random = 0;
  std::uint64_t population = 0;  ///< elements of the tensor

  std::uint64_t position(std::size_t i) const { return positions.empty() ? i : positions[i]; }
  /// Squared norms over the random part times this are those of the tensor.
  double share() const;
  /// What norms are taken over.
  std::span<const double> of_norm(std::span<const double> list) const;
};

/// Types and arithmetic of both sides.
struct Formats {
  replay::Precision precision;
  tensor::DType golden = tensor::DType::f32;
  tensor::DType target = tensor::DType::f32;
};

/// Step A. Adds counts, cause and the worst element to `found`.
void compare_classes(const Elements& elements, const Formats& formats, Found& found);

/// Spread of f over replays with inputs wider than dumped, element by element.
using WiderSpread = std::function<Result<std::vector<double>>()>;

/// Steps B to D. Fills ratios, norms and the worst element. `wider` is called when the first ratios
/// exceed 2; empty: the hypothesis does not apply.
void weigh(const Elements& elements, const Formats& formats, const WiderSpread& wider,
           Found& found);

/// True when the operator's ratios ask for a second look.
bool exceeds(const Judgement& judgement);

/// True when a sample leaves no doubt that a look at all elements could clear up.
bool beyond_doubt(const Judgement& judgement);

}  // namespace opdrift::verdict::judging
