#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/verdict/gates.hpp"
#include "opdrift/verdict/result.hpp"

/// Another rule on a result that is there already: a result keeps sufficient statistics, so no
/// tensor is read again.
namespace opdrift::verdict {

/// What decides whether a tensor passes.
struct Rule {
  bool replay_budget = false;  ///< labels of the judgement; tensors without one are asked the gates
  double limit = 4.0;          ///< of q_own and z': a culprit is beyond it
  Gates gates;
};

/// Reads "verdict", "verdict=LIMIT" or gates as parse_gates does. Fails with invalid_argument.
Result<Rule> parse_rule(std::string_view text);

/// The rule in words, for reports.
std::string describe(const Rule& rule);

/// Label of a judgement when `limit` takes the place of 4 (and half of it that of 2).
Label label_at(const Judgement& judgement, double limit);

/// Judges all tensors anew and sets the rule, labels, outcome and first divergence of the run.
/// Labels that do not come from a replay stay as they are under the budget. Fails with
/// invalid_argument when the budget is asked of a run that was never judged by it, and when
/// allclose cannot be decided because no profile was kept.
Status rejudge(const Rule& rule, RunResult& result);

/// A judged run in which a tensor failed is no pass, whatever made the tensor fail.
void settle(RunResult& result);

/// The tightest limit of a gate with which every tensor of the run would have passed.
struct Tolerance {
  std::string_view name;
  double limit = 0.0;
  std::size_t tensor = 0;  ///< the one that needs it
  bool larger_is_better = false;

  /// "cosine=0.999259", in as few digits (six at least) as let the run pass.
  std::string text() const;
};

/// One per gate; gates that no limit would satisfy (NaN) are left out, and all of them when
/// elements differ in class. Of allclose the relative tolerance, where profiles were kept.
std::vector<Tolerance> smallest_tolerances(const RunResult& result);

}  // namespace opdrift::verdict
