#pragma once

#include <string>
#include <vector>

#include "opdrift/diagnose/flow/step.hpp"

/// Why an operator is different in low precision, from the values y of the high precision run:
///
///   some finite |y| or |input| > 65504   -> OVERFLOW, in a constant OVERFLOW_CONST
///   many |y| flushed to 0                 -> UNDERFLOW
///   neither                               -> PRECISION
namespace opdrift::diagnose::flow {

Conclusion precision_cause(const OperatorFacts& op, const Limits& limits);

/// Sentences about it: ranges, share of saturated elements and so on; "" when nothing is known.
std::string precision_evidence(const OperatorFacts& op, const Limits& limits);

/// What repairs it, `keep` being the keep list with these operators.
std::vector<Fix> precision_fixes(const StepInput& input, Conclusion cause,
                                 const std::vector<const OperatorFacts*>& operators,
                                 const std::vector<std::string>& keep);

/// The file keep_dtype.cfg.
GeneratedFile keep_file(const std::vector<std::string>& keep);
/// The file customize_dtypes.cfg: float32 for these operators.
GeneratedFile customize_file(const std::vector<const OperatorFacts*>& operators);

/// Building everything in high precision.
Fix high_precision_fix(const StepInput& input);

/// The mode of the high precision run for this command.
std::string high_precision_mode(const StepInput& input);

}  // namespace opdrift::diagnose::flow
