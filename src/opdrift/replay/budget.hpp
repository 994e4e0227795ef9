#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "opdrift/replay/array.hpp"
#include "opdrift/replay/kind.hpp"
#include "opdrift/tensor/dtype.hpp"

// The error budget of one operator output, on plain lists of double (docs/operators.md):
//
//   d_i       = (t - f(t_in))_i - (g - f(g_in))_i
//   sigma_i^2 = S + W + A + P + F + 2^-252 + c_i^2 + mean(c^2) + M
//     S = sides * ulp_T(max(|g_i|, |t_i|))^2 / 12         storage
//     W = sum_k x_k^2 dw_k^2                              narrowed weights
//     A = m n u_a^2 (0.09 a_i^2 + 0.06 y_i^2)             accumulation
//     P = 2 (0.42 u_p)^2 a_i^2                            narrowed operands of products
//     F = (2 k u_c y_i)^2 / 3 + saturating (k u_c)^2 / 3 + u_c^2 extra_i
//     c = g - f(g_in)                                     what the golden itself errs by
//     M = spread of replays where inputs were not dumped
//   q_own = ||d|| / sqrt(sum sigma^2),  z = max |d_i| / sigma_i,  z' = z / K(N),
//   K(N)  = 4 + sqrt(2 ln N)
//
// A pair takes part when golden, target and both replays are finite there.

namespace opdrift::replay {

/// Number formats of both sides and of the arithmetic between.
struct Precision {
  tensor::DType golden = tensor::DType::f32;
  tensor::DType target = tensor::DType::f16;
  double compute = 0x1p-24;      ///< u_c
  double accumulator = 0x1p-24;  ///< u_a
  double operands = 0.0;         ///< u_p; 0: operands of products are not narrowed
  double inexact_sides = 2.0;    ///< m: sides that accumulate inexactly
  bool truncates = false;        ///< the target rounds towards zero: four times the variance
  /// Both sides store with a rounding of their own although the types are the same. Two fp32
  /// runs do; a movement within one type does not.
  double storing_sides() const { return golden == target ? 2.0 : 1.0; }
  /// T: the coarser storage type.
  tensor::DType coarser() const;
};

/// Everything a budget is made of. All lists have the length of `golden`, or are empty where
/// marked. For a sampled operator they hold the sampled positions only.
struct Evidence {
  std::span<const double> golden;         ///< g
  std::span<const double> target;         ///< t
  std::span<const double> golden_replay;  ///< f(g_in)
  std::span<const double> target_replay;  ///< f(t_in)
  std::span<const double> missing = {};   ///< M; may be empty
};

/// Class of a value; classes differ across types only through overflow.
enum class ValueClass : std::uint8_t { finite, positive_inf, negative_inf, nan };
ValueClass class_of(double value);

/// Step B.
struct OwnError {
  std::vector<double> d;           ///< 0 where a pair takes no part
  std::vector<std::uint8_t> part;  ///< 1 where a pair takes part
  std::uint64_t flushed = 0;       ///< subnormal results of the replay that the target has as 0
  double self_check = 0.0;         ///< ||g - f(g_in)|| over the pairs that take part
};
OwnError own_error(const Evidence& evidence, tensor::DType coarser);

/// Variance of F, A, P and W for one operator output, without storage. `y` is f(g_in).
std::vector<double> inner_variance(const OperatorKind& kind, const Terms& terms,
                                   std::span<const double> y, const Precision& precision);

/// S: storage variance of one element pair.
double storage_variance(double golden, double target, const Precision& precision);

/// Step C: sigma^2 per element. `inner` comes from inner_variance. `mean_golden_error` is
/// mean(c^2); negative: taken over the evidence itself. Elements where golden or target is not
/// finite get storage of 0 only, as they never enter a ratio.
std::vector<double> variance(const Evidence& evidence, std::span<const double> inner,
                             const Precision& precision, double mean_golden_error = -1.0);

/// K(N) of step D.
double peak_factor(std::uint64_t count);

/// Step D.
struct Ratios {
  double q_own = 0.0;
  double z = 0.0;         ///< largest |d| / sigma
  double z_scaled = 0.0;  ///< z' = z / K(population)
  std::size_t worst = 0;  ///< index of the largest |d| / sigma
  double own_norm = 0.0;  ///< ||d||
  double budget = 0.0;    ///< sqrt(sum sigma^2) over pairs of finite golden and target
};

/// Ratios of d against sigma^2. `counted` (may be empty: all) marks the elements whose variance
/// belongs to the sum. `population` is N of K(N): the elements of the whole tensor, also when only
/// a sample of them is given.
Ratios ratios(std::span<const double> d, std::span<const double> sigma2,
              std::span<const std::uint8_t> counted, std::uint64_t population);

/// 1 where golden and target are both finite.
std::vector<std::uint8_t> finite_pairs(std::span<const double> golden,
                                       std::span<const double> target);

/// The layout of elements by channel: axis 1 with four axes or more, the last one with two or
/// three, one channel for all below that.
class SpreadSum {
 public:
  /// `shape` of the output the draws belong to.
  explicit SpreadSum(tensor::Shape shape);
  /// Adds the squares of draw - reference, counting elements that are not finite as 0.
  void add(std::span<const double> draw, std::span<const double> reference);
  /// Mean square over the draws plus a sixteenth of its channel's mean, so that one lucky draw
  /// cannot starve an element.
  std::vector<double> finish() const;

 private:
  tensor::Shape shape_;
  std::vector<double> sum_;
  double draws_ = 0.0;
};

/// 64 bits that depend on seed and index alone (any thread, any order).
std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index);

/// A number of part `part` of the `parts` equal parts of [0, end), chosen by random `bits`. Numbers
/// drawn part by part rise and leave no stretch out.
std::uint64_t random_in_part(std::uint64_t bits, std::uint64_t part, std::uint64_t parts,
                             std::uint64_t end);

/// A standard normal number that depends on seed and index alone.
double normal_noise(std::uint64_t seed, std::uint64_t index);

/// The wider-input hypothesis: x + ulp_T(x) / sqrt(12) * noise. Values that are not finite stay.
Array widened(const Array& x, tensor::DType dtype, std::uint64_t seed);

/// Draws of the wider-input hypothesis (step D) and of missing tensors (step F).
inline constexpr int kWiderDraws = 4;
inline constexpr int kMissingDraws = 3;

/// Step F: what stands in for a tensor that the target did not dump: f(t_in) + (g - f(g_in)), the
/// bracket counting as 0 where it is not finite.
std::vector<double> carried(std::span<const double> golden, std::span<const double> golden_replay,
                            std::span<const double> target_replay);

/// One noisy copy of a carried tensor: values + sqrt(sigma^2) * noise.
std::vector<double> with_noise(std::span<const double> values, std::span<const double> sigma2,
                               std::uint64_t seed);

/// Step H, truncation: mean of sign(t) d / ulp_T(t) over elements with d != 0, and their number. An
/// element like the one before it tells nothing new and is left out.
struct Bias {
  double mean = 0.0;
  std::uint64_t count = 0;
};
Bias truncation_bias(std::span<const double> target, std::span<const double> d,
                     tensor::DType coarser);

/// Euclidean norm in double, summed pairwise.
double norm(std::span<const double> values);

}  // namespace opdrift::replay
