#pragma once

#include <vector>

#include "opdrift/replay/call.hpp"
#include "opdrift/replay/kind.hpp"
#include "opdrift/verdict/explain/explain.hpp"

// What an operator may have done instead, as values at positions of output 0:
//   activations     f'(x) for every other activation f': identity, Relu, LeakyRelu (0.01), Relu6,
//                   Sigmoid, HardSigmoid (1/5 and 1/6), Tanh, Gelu, Gelu through tanh, QuickGelu,
//                   Silu, HardSwish
//   normalisations  epsilon 0.1 to 1e-8 by powers of ten, 1e-12, 0
//   siblings        the kind it is taken for: the other pooling, reduction or binary operation, a
//                   Softmax left out
//   weighted kinds  s <- round(s + x_k w_k) and s <- round(s + round(x_k w_k)) in the order of k,
//   the
//                   sum kept in the narrow type; then the addend

namespace opdrift::verdict {

/// Alternatives of an operator on the inputs of `call` (the target's own). Everything `call` points
/// to must outlive them. `stored` is the type of the target's output: that of a narrow accumulator.
/// Empty for other kinds, and where the output is not laid out like the input.
std::vector<Alternative> operator_alternatives(const replay::OperatorKind& kind,
                                               const replay::Call& call, tensor::DType stored);

}  // namespace opdrift::verdict
