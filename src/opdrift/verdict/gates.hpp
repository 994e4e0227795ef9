#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/metrics/measurement.hpp"

namespace opdrift::verdict {

/// Classic limits, one per question. A limit that is not set is not asked. A value that is not a
/// number fails its limit.
struct Gates {
  std::optional<double> min_cosine;
  std::optional<double> max_relative_l2;
  std::optional<double> max_abs;       ///< largest |target - golden|
  std::optional<double> max_relative;  ///< largest |target / golden - 1|
  std::optional<double> min_sqnr;      ///< signal to noise, dB
  bool default_relative_l2 = true;     ///< without max_relative_l2: the limit of the dtypes

  /// No gate but the default one was asked for.
  bool only_default() const;
};

/// Reads "cosine=0.99,rel_l2=0.01,max_abs=1e-3,max_rel=0.01,sqnr=20"; maxabs, maxrel and l2 are
/// names too. Giving any gate switches the default one off. Fails with invalid_argument naming the
/// item.
Result<Gates> parse_gates(std::string_view text);

/// Limit of relative L2 that a pair of dtypes gets by default: 32 unit roundoffs of the coarser
/// float type, at least 1e-3; 0 (exact) for integers and bool.
double default_relative_l2(tensor::DType golden, tensor::DType target);

/// The limits in words, for reports.
std::string describe(const Gates& gates);

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

/// Asks every gate. Elements of different class (NaN, +inf, -inf, finite) always fail.
GateOutcome apply(const Gates& gates, const metrics::Measurement& measurement);

}  // namespace opdrift::verdict
