#pragma once

#include "opdrift/verdict/explain/refit.hpp"

// Hypotheses that look at one element at a time:
//   zero, constant   r = c
//   clamped          r = min(max(b, lo), hi), lo and hi the extremes of the target
//   rounded          r = nearest(b, X), X a format with fewer mantissa bits than the target's
//   truncated        r = toward_zero(b, X), X also the target's own format
//   scaled           r = a b,      a = sum b t / sum b^2
//   offset           r = b + o,    o = mean(t - b)
//   affine           r = a b + o,  least squares

namespace opdrift::verdict::refit {

Candidates constant_candidates(const Evidence& evidence);
Candidates clamp_candidates(const Evidence& evidence);
Candidates rounding_candidates(const Evidence& evidence);
Candidates truncation_candidates(const Evidence& evidence);
Candidates scale_candidates(const Evidence& evidence);
Candidates offset_candidates(const Evidence& evidence);
Candidates affine_candidates(const Evidence& evidence);

/// Least squares t = a b + o over one set of sums; o = 0 or a = 1 when only one is fitted.
struct Line {
  double a = 1.0;
  double o = 0.0;
  double left2 = 0.0;    ///< squared error that is left
  double a_error = 0.0;  ///< standard errors
  double o_error = 0.0;

  /// The same line in as few digits as six standard errors allow.
  Line plain() const;
};
Line fit_scale(const IndexSums& sums);
Line fit_offset(const IndexSums& sums);
Line fit_line(const IndexSums& sums);

/// "1.02", "0.003922 (1/255)": a factor with the fraction or power behind it, if any.
std::string factor_text(double factor);

/// Every element of the target is a number of `format`, and no more than half of the base's
/// sampled ones are. Fails with `cancelled`.
Result<bool> holds_numbers_of(const Evidence& evidence, const NumberFormat& format);

}  // namespace opdrift::verdict::refit
