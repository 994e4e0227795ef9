#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/metrics/algorithms/algorithm.hpp"
#include "opdrift/metrics/measure.hpp"

/// The numbers that can be asked for by name.
///
///   selection = "all" | entry *("," entry)      "all": the ten of the reference, in any case
///   entry     = index of the reference | name | alias
///
/// Columns follow the selection; repeated and unknown entries are left out.
namespace opdrift::metrics {

/// One row of the table, in reading order.
struct Algorithm {  // NOLINT(clang-analyzer-optin.performance.Padding)
  std::string_view name;
  int reference_index;                        ///< number in the vendor's tool, -1 for our own
  std::span<const std::string_view> aliases;  ///< case is ignored
  std::string_view summary;
  std::string_view unit;  ///< "" for pure numbers, "tensor" for the unit of the tensor
  bool needs_divergence;
  AlgorithmValue (*compute)(const AlgorithmInput& input);
};

/// All rows; those of the reference first, in its order.
std::span<const Algorithm> all_algorithms();

/// By name, reference index or alias; nullptr when there is none.
const Algorithm* find_algorithm(std::string_view text);

struct AlgorithmChoice {
  std::vector<const Algorithm*> chosen;
  std::vector<std::string> unknown;  ///< entries that name nothing
};

/// Fails with `invalid_argument` for an empty text, `unsupported` when nothing is left.
Result<AlgorithmChoice> choose_algorithms(std::string_view text);

/// True when one of them needs MeasureOptions::kl_divergence.
bool needs_divergence(std::span<const Algorithm* const> algorithms);

/// A value as printed: its text, else six decimals for rows of the reference and nine significant
/// digits for our own; "nan", "inf", "-inf".
std::string format_value(const Algorithm& algorithm, const AlgorithmValue& value);

}  // namespace opdrift::metrics
