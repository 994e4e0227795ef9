#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/metrics/measurement.hpp"
#include "opdrift/verdict/error_profile.hpp"

namespace opdrift::verdict {

/// |target - golden| <= atol + rtol |golden| for every element. Tolerances that are not set are
/// those that torch.testing.assert_close has for the coarser dtype: float16 1e-3, bfloat16 1.6e-2,
/// float32 1.3e-6, float64 1e-7 (relative), 1e-5 absolute (float64 1e-7); others exact.
struct AllClose {
  std::optional<double> rtol;
  std::optional<double> atol;
};

/// Classic limits, one per question. A limit that is not set is not asked. A value that is not a
/// number fails its limit.
struct Gates {
  std::optional<double> min_cosine;
  std::optional<double> max_relative_l2;
  std::optional<double> max_abs;       ///< largest |target - golden|
  std::optional<double> max_relative;  ///< largest |target / golden - 1|
  std::optional<double> min_sqnr;      ///< signal to noise, dB
  std::optional<AllClose> allclose;    ///< needs an error profile
  bool default_relative_l2 = true;     ///< without max_relative_l2: the limit of the dtypes

  /// No gate but the default one was asked for.
  bool only_default() const;
};

/// Reads "cosine=0.99,rel_l2=0.01,max_abs=1e-3,max_rel=0.01,sqnr=20,allclose=1e-3:1e-5" (allclose
/// alone takes the tolerances of the dtypes); maxabs, maxrel and l2 are names too. Giving any gate
/// switches the default one off. Fails with invalid_argument naming the item; limits that nothing
/// meets or everything misses (cosine=2, max_abs=-1) are mistakes.
Result<Gates> parse_gates(std::string_view text);

/// Limit of relative L2 that a pair of dtypes gets by default: 32 unit roundoffs of the coarser
/// float type, at least 1e-3; 0 (exact) for integers and bool.
double default_relative_l2(tensor::DType golden, tensor::DType target);

/// The limits in words, for reports.
std::string describe(const Gates& gates);

/// Whether the largest errors alone, without a profile, leave allclose open.
bool undecided(const AllClose& allclose, const metrics::Measurement& measurement);

/// The absolute tolerance that allclose has for this pair when none is given.
double default_atol(const metrics::Measurement& measurement);

/// What the gates ask, one line each: the number of a tensor and which way is better.
struct GateValue {
  std::string_view name;  ///< as parse_gates reads it
  double value = 0.0;
  bool larger_is_better = false;
};

/// Every gate's number for one pair, whether it was asked for or not.
std::vector<GateValue> gate_values(const metrics::Measurement& measurement);

/// Outcome of one pair: passed, or the first gate that failed and its numbers.
struct GateOutcome {
  bool passed = true;
  std::string reason;  ///< "relative L2 0.0312 > 0.0156 (default for float16)"; "" when passed
};

/// Asks every gate. Elements of different class (NaN, +inf, -inf, finite) always fail. Without a
/// profile allclose is decided by the largest errors where these decide it, else it fails.
GateOutcome apply(const Gates& gates, const metrics::Measurement& measurement,
                  const ErrorProfile* profile = nullptr);

}  // namespace opdrift::verdict
