#pragma once

#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/diagnose/flow/diagnosis.hpp"
#include "opdrift/diagnose/flow/facts.hpp"
#include "opdrift/diagnose/flow/step.hpp"

/// The decision flow:
///
///   C consistency       -> NONDETERMINISTIC, BAD_EVIDENCE
///   I boundary          -> PREPROCESS, POSTPROCESS
///   X export            -> EXPORT
///   A command line      findings only
///     base run passes   -> CLEAN
///   P precision mode    -> OVERFLOW, OVERFLOW_CONST, UNDERFLOW, PRECISION
///   B buffers, reuse    -> BUFFER, MEMORY
///   F fusion            -> FUSION
///   D data              -> AIPP, QUANT
///   G golden compare    -> OPERATOR, ACCUMULATED, SENSITIVE, CLEAN, UNLOCATED
///
/// The first step that concludes ends it (a tentative conclusion, of an export that is suspect or
/// of an unjudged run in high precision, only when no later step concludes). A run that is missing
/// becomes the next experiment, and the steps behind it still conclude when they can; then the
/// diagnosis holds both.
namespace opdrift::diagnose::flow {

/// Pure: looks at nothing but its arguments.
Diagnosis diagnose(const Facts& facts, const FlowOptions& options);

/// Fails with invalid_argument for a letter that no step has.
Status check_first_step(char step);

}  // namespace opdrift::diagnose::flow
