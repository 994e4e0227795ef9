#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "opdrift/diagnose/flow/facts.hpp"

/// Whose error is it? For every operator, with e = 1 - cosine, e_in of its worst input, e_out of
/// its worst output, and t = 1 - limit:
///
///   ok          e_out <= t, e_in <= t
///   origin      e_out > t,  e_in <= t, e_out >= 3 e_in    its own error dominates
///   drifter     e_out > t,  e_in <= t, e_out <  3 e_in    it only just crossed the limit
///   amplifier   e_out > t,  e_in > t,  e_out > 10 e_in
///   carrier     e_out > t,  e_in > t,  otherwise
///   healer      e_out <= t, e_in > t
///   unknown     no cosine of an output, or of no input although it has some
///
/// A cosine that is NaN is no number. Where the outputs give none but the candidate is not finite
/// and the reference is, or the reference is beyond float16, the operator counts as different.
namespace opdrift::diagnose::flow {

enum class OperatorClass : std::uint8_t {
  ok,
  origin,
  drifter,
  amplifier,
  carrier,
  healer,
  unknown
};

std::string_view to_string(OperatorClass c);

/// Some output can be compared.
bool comparable(const OperatorFacts& op);

/// 1 - cosine of the worst output or input, at least 0; NaN when there is none.
double output_error(const OperatorFacts& op);
double input_error(const OperatorFacts& op);

/// Some output cosine is below the limit, or the operator made what is not finite.
bool is_different(const OperatorFacts& op, double limit);

/// Some input cosine is below the limit.
bool has_bad_input(const OperatorFacts& op, double limit);

OperatorClass classify(const OperatorFacts& op, double limit);

/// Classes of a whole comparison. `first_different` and `largest_amplifier` are positions, or
/// operators.size() when there is none.
struct Survey {
  std::vector<OperatorClass> classes;
  std::vector<std::size_t> origins;  ///< in execution order
  std::size_t first_different = 0;
  std::size_t largest_amplifier = 0;
  double largest_factor = 0.0;  ///< e_out / e_in of that amplifier
  std::map<OperatorClass, std::size_t> counts;
};

Survey survey(const OperatorList& operators, double limit);

/// "3 origins, 1 amplifier, 12 carriers, 80 ok", without what there is none of.
std::string counts_text(const Survey& found);

}  // namespace opdrift::diagnose::flow
