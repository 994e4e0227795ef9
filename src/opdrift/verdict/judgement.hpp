#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

/// What the replay budget says about one tensor and about the whole run (docs/verdict.md).
namespace opdrift::verdict {

/// Ordered from best to worst; `unjudged` stands apart.
enum class Label : std::uint8_t {
  healthy,
  watch,    ///< more than its budget, not enough to blame
  victim,   ///< wrong because of what an operator upstream did
  drift,    ///< worse than depth explains, no operator to blame: biased rounding
  culprit,  ///< adds error that its precision does not explain
  unjudged,
};

std::string_view to_string(Label label);

/// Strength of the evidence, strongest first.
enum class Tier : std::uint8_t {
  exact,        ///< integers, bools, equal bits: nothing to model
  replay,       ///< R: the operator was run in double on the inputs of both sides
  sampled,      ///< S: the same at some elements
  norms,        ///< P: inputs and weight norms
  shape,        ///< N: inputs only
  golden_pair,  ///< a second golden or a same-precision baseline
  statistics,   ///< norms and extremes only
  gates,        ///< classic limits
  none,
};

std::string_view to_string(Tier tier);

/// Why a tensor got its label, for machines; the sentence is for people.
enum class Cause : std::uint8_t {
  none,
  own_error,        ///< q_own above 4
  local_error,      ///< z' above 4: few elements
  overflow,         ///< golden finite, the value is beyond the target's range
  nan_made,         ///< NaN or Inf from finite inputs
  golden_overflow,  ///< the golden holds the NaN or Inf
  saturated,        ///< clamped at the largest finite value
  shape,            ///< element counts differ
  different,        ///< integers or bools that must be equal are not
  tie,              ///< other index, same selected value
  inherited_class,  ///< NaN or Inf that came in with the inputs
  inherited_error,  ///< q_cum above 4
  wider_inputs,     ///< explained only by inputs wider than dumped
  below_precision,  ///< unexplained, but below what the precision costs anyway
  above_budget,     ///< between 2 and 4
  not_modelled,     ///< self check failed or the operator has no model
  gate,             ///< a classic limit was crossed
};

std::string_view to_string(Cause cause);

/// The judgement on one tensor. Ratios that do not exist for its tier are NaN.
struct Judgement {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  Label label = Label::unjudged;
  Tier tier = Tier::none;
  Cause cause = Cause::none;
  std::string sentence;

  double q_own = kUnknown;       ///< ||d|| / budget
  double z = kUnknown;           ///< z': largest |d| / sigma over K(N)
  double q1 = kUnknown;          ///< q_own before the wider-input hypothesis
  double z1 = kUnknown;          ///< z' before it
  double q_cum = kUnknown;       ///< r / b: error against what depth explains
  double relative = kUnknown;    ///< r = ||t - g|| / scale
  double own = kUnknown;         ///< ||d|| / scale
  double rho = kUnknown;         ///< own budget / scale
  double depth = kUnknown;       ///< b: depth budget / scale
  double inherited = kUnknown;   ///< h = ||f(t_in) - f(g_in)|| / scale
  double gain = kUnknown;        ///< w = h / error of the inputs
  double self_check = kUnknown;  ///< ||g - f(g_in)|| / own budget
  double bias = kUnknown;        ///< m: mean of sign(t) d / ulp, for truncation
  std::uint64_t bias_count = 0;
  std::uint64_t flushed = 0;            ///< subnormal results that the target has as 0
  std::uint64_t new_classes = 0;        ///< elements of another class, not inherited
  std::uint64_t inherited_classes = 0;  ///< elements of another class, as the inputs imply
  bool wider_inputs = false;            ///< the wider-input hypothesis was needed
  bool inputs_replayed = false;         ///< some inputs were not dumped and were replayed
  std::uint64_t sampled = 0;            ///< elements looked at; 0: all

  // The element that speaks loudest against the operator.
  std::uint64_t worst = ~std::uint64_t{0};  ///< flat index in golden order
  double worst_golden = kUnknown;
  double worst_target = kUnknown;
  double worst_expected = kUnknown;  ///< f(t_in) there

  std::vector<std::string> group;  ///< golden operators judged as one; empty for a single one
};

/// A property of the device or of the dump, said once instead of on every operator.
enum class FindingKind : std::uint8_t {
  truncation,         ///< rounds towards zero
  tf32_products,      ///< operands of products rounded to TF32
  bf16_products,      ///< operands of products rounded to bf16
  half_accumulators,  ///< sums kept in the storage type
  flushed_subnormals,
  wider_inputs,  ///< the device keeps more digits than it dumps
  step_shift,    ///< target step k is golden step k + shift
  steps_missing,
  inputs_differ,
  order_only,  ///< same tensors, other execution order
};

std::string_view to_string(FindingKind kind);

struct Finding {
  FindingKind kind = FindingKind::truncation;
  std::string sentence;
  double value = 0.0;           ///< median bias, share of elements or operators, shift
  std::uint64_t operators = 0;  ///< operators that show it
  bool assumed = false;         ///< declared by the user, not found
};

enum class Outcome : std::uint8_t { pass, fail, inconclusive };

std::string_view to_string(Outcome outcome);

/// The judgement on the run.
struct RunVerdict {
  Outcome outcome = Outcome::inconclusive;
  std::string sentence;
  std::vector<Finding> findings;
  /// Positions (of what was judged) of the first culprits in graph order: the first divergence and
  /// its ties, which do not depend on each other.
  std::vector<std::size_t> first_divergence;
  std::uint64_t missing_outputs = 0;  ///< outputs of the network that one side lacks
  std::uint64_t unjudged = 0;         ///< tensors of which nothing can be said
  bool inputs_differ = false;         ///< the two runs were not given the same inputs
};

}  // namespace opdrift::verdict
