#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/replay/array.hpp"
#include "opdrift/replay/call.hpp"

// An operator kind as data. With u_c and u_a the unit roundoffs of compute and accumulator, the
// variance one output element may gain inside the operator is (docs/operators.md)
//   F + A + W,   F = (2 k u_c y)^2 / 3 [+ (k u_c)^2 / 3 when saturating] + u_c^2 * extra
//                A = m n u_a^2 (0.09 a^2 + 0.06 y^2),   W = sum_k x_k^2 dw_k^2
// k and saturating stand in the row; n, a^2, W and extra are computed per element from the inputs.

namespace opdrift::replay {

/// What an operator does to rounding errors; the rows of the budget table.
enum class Family : std::uint8_t {
  movement,       ///< copies elements: bitwise
  selection,      ///< picks one of its inputs or flips a sign: bitwise
  add_like,       ///< sums of a few terms
  product,        ///< one multiplication
  division,       ///< one division
  function,       ///< a scalar function of one or two elements
  dense,          ///< sums of products: MatMul, Gemm, Einsum
  convolution,    ///< sums of products under a kernel
  mean,           ///< sums and means over axes or windows
  normalisation,  ///< subtracts a mean, divides by a deviation
  softmax,
  recurrent,
  fused,      ///< composition of several of the above
  quantised,  ///< results are codes or come from codes
  index,      ///< results are positions
  random,     ///< cannot be replayed
};

/// Stable lower-case name of a family.
std::string_view to_string(Family family);

/// Per-element terms of the budget. An empty list means zero everywhere.
struct Terms {
  double n = 1.0;               ///< reduction length
  std::vector<double> a2;       ///< sum_k x_k^2 w_k^2
  std::vector<double> weights;  ///< W: sum_k x_k^2 dw_k^2, from Call::deltas
  std::vector<double> extra;    ///< further F variance in units of u_c^2
};

/// Values and terms at some output positions.
struct Sample {
  std::vector<double> values;
  Terms terms;  ///< empty lists unless asked for
};

/// f in double over whole tensors: all outputs, in order.
using EvaluateFunction = Result<Outputs>(const Call& call);

/// f at flat positions of output 0, each below its element count; with the terms on request.
using EvaluateAtFunction = Result<Sample>(const Call& call,
                                          std::span<const std::uint64_t> positions,
                                          bool with_terms);

/// Terms of output `index`, whose replayed value is `y`.
using TermsFunction = Result<Terms>(const Call& call, std::size_t index, const Array& y);

/// Relative error out over relative error in, as seen in clean half-precision runs of real
/// networks. A reason never to assume 1, not a constant to use. NaN where nothing was measured.
struct Gain {
  double median = std::numeric_limits<double>::quiet_NaN();
  double largest = std::numeric_limits<double>::quiet_NaN();
};

/// One row of the table in registry.cpp. Names are separated by blanks.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): in the order a row is read
struct OperatorKind {
  std::string_view name;
  std::string_view onnx;    ///< type names of ONNX, its ML runtimes' fused types included
  std::string_view ascend;  ///< type names of Ascend IR
  std::string_view aten;    ///< names of ATen functions and of the modules that call them
  std::string_view summary;
  Family family = Family::random;
  double ulps = 0.0;        ///< k: accuracy of the function in ulp of the compute type
  bool saturating = false;  ///< accurate in absolute terms only
  Gain gain = {};
  EvaluateFunction* evaluate = nullptr;       ///< nullptr: cannot be replayed (random)
  EvaluateAtFunction* evaluate_at = nullptr;  ///< weighted kinds only
  TermsFunction* terms = nullptr;             ///< nullptr: n = 1 and nothing else

  /// True when the replay must agree bit by bit: nothing is computed.
  bool bitwise() const { return family == Family::movement || family == Family::selection; }
  /// True when positions can be replayed one by one (tier S).
  bool weighted() const { return evaluate_at != nullptr; }
};

}  // namespace opdrift::replay
