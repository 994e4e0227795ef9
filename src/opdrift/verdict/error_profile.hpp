#pragma once

#include <cstdint>
#include <vector>

#include "opdrift/base/parallel.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/tensor/view.hpp"

// What is kept of a pair of tensors so that "allclose" can be decided later, at any tolerance:
//   pass  <=>  |t - g| <= atol + rtol |g|  for every element, NaN meets NaN, Inf meets the same Inf
// Elements are put into bins by the binade of |g|, floor(log2 |g|). Of each bin five numbers stay:
// the pair with the largest |d| (D at G), the pair with the largest |d| / |g| (the ratio R), and
// the smallest |g| (m). Every kept pair is an element, so a kept pair beyond the tolerance is a
// fail. The other way round, every element of a bin has |d| <= D, |d| <= R |g| and |g| >= m, hence
//   |d| - rtol |g|  <=  (R - rtol) m          when rtol >= R
//                       D - rtol max(m, D/R)  otherwise
// and when no bin exceeds atol by that, it is a pass. Between the two lies `undecided`. With atol =
// 0 or rtol = 0 the answer is always exact.

namespace opdrift::verdict {

/// One binade of |golden|.
struct ErrorBin {
  static constexpr int kZero = -2000;  ///< bin of golden == 0

  int exponent = kZero;
  std::uint64_t count = 0;
  double largest = 0.0;          ///< D
  double golden_largest = 0.0;   ///< |g| of that element
  double ratio_error = 0.0;      ///< |d| of the element with the largest ratio
  double ratio_golden = 1.0;     ///< its |g|
  double smallest_golden = 0.0;  ///< m

  double ratio() const { return ratio_error / ratio_golden; }
};

enum class Decision : std::uint8_t { pass, fail, undecided };

/// The value sought lies in [low, high]; infinite when no tolerance would do.
struct Bounds {
  double low = 0.0;
  double high = 0.0;

  bool exact() const { return low == high; }
};

/// The numbers kept of one pair of tensors: at most some hundred, mostly fewer than forty bins.
struct ErrorProfile {
  std::vector<ErrorBin> bins;       ///< occupied ones, rising exponents
  std::uint64_t both_nan = 0;       ///< pairs of two NaNs
  std::uint64_t unequal_class = 0;  ///< pairs that differ in being NaN, +Inf, -Inf or finite

  /// Negative or NaN tolerances fail.
  Decision decide(double atol, double rtol, bool equal_nan = true) const;
  /// The smallest rtol that passes with this atol.
  Bounds smallest_rtol(double atol, bool equal_nan = true) const;
  /// The smallest atol that passes with this rtol.
  Bounds smallest_atol(double rtol, bool equal_nan = true) const;

  /// What another part of the same pair gave.
  void merge(const ErrorProfile& other);
};

/// Profiles two tensors of one element count; complex elements as two reals. Fails with `mismatch`,
/// `unsupported_dtype` or `cancelled`. The result does not depend on `jobs`.
Result<ErrorProfile> profile_errors(const tensor::View& golden, const tensor::View& target,
                                    std::size_t jobs = 1, const CancelFlag* cancel = nullptr);

}  // namespace opdrift::verdict
