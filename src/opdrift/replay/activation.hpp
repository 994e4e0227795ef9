#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/replay/call.hpp"

// Activation functions named by an attribute: recurrent kinds and fused kinds.

namespace opdrift::replay {

/// A scalar function with its parameters bound.
struct Activation {
  double (*function)(double x, double alpha, double beta) = nullptr;  ///< nullptr: identity
  double alpha = 0.0;
  double beta = 0.0;

  double operator()(double x) const { return function == nullptr ? x : function(x, alpha, beta); }
};

/// Finds a function by name, ASCII case ignored; parameters that are not given take the defaults
/// of the function. Fails with `unsupported`.
Result<Activation> activation_by_name(std::string_view name, const std::vector<double>& parameters);

/// The activation fused into a Conv, Gemm or MatMul by a runtime; identity when there is none.
Result<Activation> fused_activation(const Call& call);

}  // namespace opdrift::replay
