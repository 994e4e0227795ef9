#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "opdrift/replay/call.hpp"
#include "opdrift/replay/kind.hpp"

// Weighted operators whose sums are kept in a narrow type, one term after the other:
//   s_0 = 0,  s_k = round(s_(k-1) + p_k),  p_k = x_k w_k or round(x_k w_k),  y = s_n + addend
// k runs over the reduced axis of a product, over (channel, kernel position) of a convolution.

namespace opdrift::verdict::refit {

struct NarrowSums {
  tensor::DType type = tensor::DType::f16;
  bool round_products = true;
};

/// True for the kinds that narrow_sums() knows: MatMul, Gemm, Conv.
bool sums_in_order(const replay::OperatorKind& kind);

/// Output 0 at flat positions. Fails with `unsupported` for what the planners of the replay refuse
/// and for fused activations, with `limit` beyond 2^28 terms, with `out_of_range`.
Result<std::vector<double>> narrow_sums(const replay::OperatorKind& kind, const replay::Call& call,
                                        const NarrowSums& how,
                                        std::span<const std::uint64_t> positions);

}  // namespace opdrift::verdict::refit
