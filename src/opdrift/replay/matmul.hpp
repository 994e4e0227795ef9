#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/replay/array.hpp"
#include "opdrift/replay/call.hpp"
#include "opdrift/replay/kind.hpp"

// y[b, i, j] = scale * sum_k A[b, i, k] * B[b, k, j]: what MatMul, Gemm, Linear, two-operand Einsum
// and the attention kinds share. Distances per batch come from broadcasting or from a permutation.

namespace opdrift::replay {

/// Where one operand of a batched product lies.
struct Operand {
  const Array* array = nullptr;
  Strides batch;             ///< distance per batch axis
  std::int64_t free = 0;     ///< distance along i (A) or j (B)
  std::int64_t reduced = 0;  ///< distance along k
};

/// A batched product, planned but not computed.
struct Product {
  tensor::Shape shape;  ///< of the result as the operator gives it out
  tensor::Shape batch;  ///< batch extents, outermost first
  std::size_t m = 1;
  std::size_t n = 1;
  std::size_t k = 0;
  Operand left;
  Operand right;
  double scale = 1.0;
};

/// Plans NumPy's matmul, either side optionally transposed in its last two axes.
Result<Product> plan_matmul(const Call& call, const Array& left, const Array& right,
                            bool transpose_left, bool transpose_right);

/// All values, in the row-major order (batch, m, n), which is that of `shape`.
Result<Array> run_product(const Call& call, const Product& product);

/// Values at flat positions.
std::vector<double> run_product_at(const Product& product,
                                   std::span<const std::uint64_t> positions);

/// The same product of other arrays laid out alike, for sums of squares.
Product with_arrays(const Product& product, const Array& left, const Array& right);

/// a^2 and W of a product, whole or at positions. `right_delta` and `left_delta` may be nullptr.
Result<Terms> product_terms(const Call& call, const Product& product, const Array* left_delta,
                            const Array* right_delta);
Terms product_terms_at(const Product& product, const Array* left_delta, const Array* right_delta,
                       std::span<const std::uint64_t> positions);

}  // namespace opdrift::replay
