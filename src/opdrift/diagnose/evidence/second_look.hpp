#pragma once

#include "opdrift/diagnose/evidence/operators.hpp"
#include "opdrift/verdict/result.hpp"

namespace opdrift::diagnose::evidence {

/// Loads the outputs of the first operators that differ again and adds what the ranges of float16
/// have to do with it; with `places`, also where they differ. What cannot be loaded is left out.
void look_again(const verdict::RunResult& result, double limit, bool places,
                ComparedOperators& compared);

}  // namespace opdrift::diagnose::evidence
