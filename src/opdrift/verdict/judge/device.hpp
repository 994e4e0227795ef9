#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "opdrift/verdict/judge/arrays.hpp"
#include "opdrift/verdict/judge/found.hpp"

// Step H: properties of the whole run, told from what many operators show alike.
//
//   truncation  the median over operators that are no sums of products, with 64 elements or more,
//               of m = mean of sign(t) d / ulp_T(t) is below -0.25
//   products    most weighted operators exceed their budget (more than 2) and few others do, and
//               narrowed operands or accumulators bring them back: of those that do, the one whose
//               budget predicts the error best (median q_own nearest to 1). Where one or two
//               exceed, all others whose budget would widen have to err more than usual as well
//   flushed     more than half of the subnormal results are 0
//   wider       more than half of the operators that round agree only with wider inputs

namespace opdrift::verdict::judging {

/// True when the operator multiplies and sums, so that products and accumulators matter.
bool is_weighted(const ProblemOperator& op);

/// Those of a graph, rising.
std::vector<std::uint32_t> weighted_operators(const Problem& problem);

/// The finding of truncation, if there is one.
std::optional<Finding> find_truncation(const Context& context, const std::vector<Found>& found);

/// One way a device may multiply.
struct Arithmetic {
  FindingKind kind = FindingKind::tf32_products;
  double operands = 0.0;
  bool half_accumulators = false;
};

/// Judges weighted operators anew under other assumptions: new findings for the given operators.
using JudgeAgain = std::function<std::vector<Found>(const Assumptions& assume,
                                                    const std::vector<std::uint32_t>& operators)>;

/// Narrow products or accumulators, if they explain the weighted operators.
struct ArithmeticFound {
  Assumptions assume;
  Finding finding;
};
std::optional<ArithmeticFound> find_arithmetic(const Context& context,
                                               const std::vector<Found>& found,
                                               const JudgeAgain& again);

std::optional<Finding> find_flushed(const Context& context, const std::vector<Found>& found);
std::optional<Finding> find_wider_inputs(const Context& context, const std::vector<Found>& found);

/// The findings that the user declared.
std::vector<Finding> declared(const Assumptions& assume);

}  // namespace opdrift::verdict::judging
