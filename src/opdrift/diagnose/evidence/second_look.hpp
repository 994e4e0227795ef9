#pragma once

#include <string>

#include "opdrift/diagnose/evidence/collect.hpp"
#include "opdrift/diagnose/evidence/operators.hpp"
#include "opdrift/verdict/result.hpp"

namespace opdrift::diagnose::evidence {

/// How closely to look.
struct SecondLook {
  double limit = 0.0;     ///< cosine from which an operator does not differ
  bool places = false;    ///< also where the outputs differ
  bool foreign = false;   ///< also what they hold of other tensors: reads the candidate once more
  std::string candidate;  ///< its folder
};

/// Loads the outputs of the first operators that differ again and adds what the ranges of float16
/// have to do with it, and what else is asked for. What cannot be loaded is left out. Fails when
/// cancelled.
Status look_again(const verdict::RunResult& result, const SecondLook& look,
                  const CollectOptions& options, ComparedOperators& compared);

}  // namespace opdrift::diagnose::evidence
