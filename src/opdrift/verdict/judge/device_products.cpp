#include <algorithm>
#include <array>
#include <cmath>

#include "opdrift/replay/number_format.hpp"
#include "opdrift/verdict/judge/device_parts.hpp"
#include "opdrift/verdict/judge/median.hpp"
#include "opdrift/verdict/judge/steps.hpp"

// Step H: how the device multiplies and sums.

namespace opdrift::verdict::judging {

namespace {

constexpr double kFewOthers = 0.25;
// A fault makes one operator exceed its budget, never several: own errors are not inherited.
constexpr std::size_t kSeveral = 3;
constexpr double kRaised = 1.5;
constexpr std::uint64_t kRaisedElements = 32;
constexpr double kMostExplained = 0.9;
// What a product that stays within its budget says about sums kept narrow: nothing unless they
// would widen the budget so many times; against them below this ratio of error to budget.
constexpr double kTelling = 4.0;
constexpr double kAgainst = 1.2;
// A budget far above the error explains nothing: it would hide any fault.
constexpr double kLeastFit = 0.25;

constexpr std::array<Arithmetic, 3> kArithmetics = {{
    {FindingKind::tf32_products, 0x1p-11, false},
    {FindingKind::bf16_products, 0x1p-8, false},
    {FindingKind::half_accumulators, 0.0, true},
}};

/// Operators that exceed their budget, weighted ones and others.
struct Census {
  std::vector<std::uint32_t> exceeding;
  std::size_t weighted = 0;
  std::size_t raised = 0;  ///< weighted ones above what clean runs show, exceeding ones included
  std::size_t others = 0;
  std::size_t others_exceeding = 0;
  double roundoff = 0.0;  ///< largest of the storage types of weighted results
};

Census take_census(const Context& context, const std::vector<Found>& found) {
  Census census;
  for (std::uint32_t op = 0; op < context.problem.operators.size(); ++op) {
    const Found* own = main_output(context, found, op);
    // Elements beyond the range say nothing about how sums are made; the others have to be most,
    // and to be told apart.
    if (own == nullptr || 2 * own->finite < own->count || own->class_cause == Cause::saturated) {
      continue;
    }
    const bool over = exceeds(own->judgement);
    if (!is_weighted(context.problem.operators[op])) {
      ++census.others;
      census.others_exceeding += over ? 1U : 0U;
      continue;
    }
    ++census.weighted;
    census.roundoff = std::max(census.roundoff, replay::unit_roundoff(own->dtype));
    census.raised += own->finite >= kRaisedElements && own->judgement.q_own > kRaised ? 1U : 0U;
    if (over) {
      census.exceeding.push_back(op);
    }
  }
  return census;
}

// Several weighted operators exceed their budgets; in a small network most of the few, or one and
// most of the others are near.
bool device_wide(const Census& census) {
  const std::size_t exceeding = census.exceeding.size();
  const bool several = exceeding >= kSeveral;
  const bool few = exceeding >= 2 && 2 * exceeding > census.weighted;
  const bool most = exceeding > 0 && census.raised >= 2 && 2 * census.raised > census.weighted;
  return several || few || most;
}

bool others_keep_within(const Census& census) {
  return static_cast<double>(census.others_exceeding) <=
         kFewOthers * static_cast<double>(census.others);
}

// Operands that are stored narrow already are not narrowed again; sums in fp32 lose nothing.
bool possible(const Arithmetic& arithmetic, double roundoff) {
  return arithmetic.half_accumulators == (roundoff > 0x1p-24);
}

struct Fit {
  std::size_t explained = 0;
  double median = 0.0;  ///< of q_own
  double distance() const { return std::abs(std::log(std::max(median, 1e-30))); }
};

Fit fit_of(const Context& context, const std::vector<Found>& found,
           const std::vector<std::uint32_t>& operators) {
  Fit fit;
  std::vector<double> ratios;
  for (const std::uint32_t op : operators) {
    const Found* own = main_output(context, found, op);
    if (own != nullptr) {
      ratios.push_back(own->judgement.q_own);
      fit.explained += exceeds(own->judgement) ? 0U : 1U;
    }
  }
  fit.median = median_of(ratios);
  return fit;
}

// Where one or two products exceed: whether the other products that can tell, one at least, all
// err more than sums in single precision would make them.
bool others_agree(const Context& context, const std::vector<Found>& found,
                  const std::vector<Found>& assumed, const std::vector<std::uint32_t>& exceeding) {
  std::size_t agreeing = 0;
  for (std::uint32_t op = 0; op < context.problem.operators.size(); ++op) {
    const Found* before = main_output(context, found, op);
    const Found* after = main_output(context, assumed, op);
    if (before == nullptr || after == nullptr || before->finite < kRaisedElements ||
        std::binary_search(exceeding.begin(), exceeding.end(), op) ||
        !(before->judgement.q_own >= kTelling * after->judgement.q_own) ||
        !(after->judgement.q_own > 0.0)) {
      continue;
    }
    if (before->judgement.q_own < kAgainst) {
      return false;
    }
    ++agreeing;
  }
  return agreeing > 0;
}

}  // namespace

bool is_weighted(const ProblemOperator& op) {
  if (op.kind == nullptr) {
    return false;
  }
  const replay::Family family = op.kind->family;
  return op.kind->weighted() || family == replay::Family::dense ||
         family == replay::Family::convolution || family == replay::Family::recurrent ||
         op.kind->name == "Attention" || op.kind->name == "MultiHeadAttention" ||
         op.kind->name == "GroupQueryAttention" || op.kind->name == "FlashAttention" ||
         op.kind->name == "FlashAttentionScore";
}

std::vector<std::uint32_t> weighted_operators(const Problem& problem) {
  std::vector<std::uint32_t> weighted;
  for (std::uint32_t op = 0; op < problem.operators.size(); ++op) {
    if (is_weighted(problem.operators[op])) {
      weighted.push_back(op);
    }
  }
  return weighted;
}

std::optional<ArithmeticFound> find_arithmetic(const Context& context,
                                               const std::vector<Found>& found,
                                               const JudgeAgain& again) {
  const Census census = take_census(context, found);
  const std::size_t exceeding = census.exceeding.size();
  if (exceeding == 0 || !others_keep_within(census)) {
    return std::nullopt;
  }
  const bool by_itself = device_wide(census);
  std::optional<ArithmeticFound> best;
  Fit best_fit;
  for (const Arithmetic& arithmetic : kArithmetics) {
    if (!possible(arithmetic, census.roundoff)) {
      continue;
    }
    Assumptions assume = context.assume;
    assume.operands = arithmetic.operands;
    assume.half_accumulators = arithmetic.half_accumulators;
    const Fit fit = fit_of(context, again(assume, census.exceeding), census.exceeding);
    const bool enough =
        static_cast<double>(fit.explained) >= kMostExplained * static_cast<double>(exceeding);
    // More operators explained first, then the budget that predicts the error best: a ratio near 1.
    const bool better =
        !best || fit.explained > best_fit.explained ||
        (fit.explained == best_fit.explained && fit.distance() < best_fit.distance());
    const auto others_agree_too = [&] {
      return others_agree(context, found, again(assume, weighted_operators(context.problem)),
                          census.exceeding);
    };
    if (enough && better && fit.median >= kLeastFit && (by_itself || others_agree_too())) {
      best = ArithmeticFound{assume, finding_of(arithmetic.kind, fit.median, exceeding)};
      best_fit = fit;
    }
  }
  return best;
}

}  // namespace opdrift::verdict::judging
