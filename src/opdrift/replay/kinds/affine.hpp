#pragma once

#include <cstddef>

#include "opdrift/replay/activation.hpp"
#include "opdrift/replay/matmul.hpp"

namespace opdrift::replay {

/// An affine product, planned: y = activation(scale * A B + beta * C), C broadcast to y.
struct Affine {
  Product product;
  const Array* addend = nullptr;
  double beta = 1.0;
  Activation activation;
  std::size_t left_index = 0;  ///< which inputs the operands are, for their deltas
  std::size_t right_index = 1;
};

/// Plans by kind. Only shapes of the inputs are looked at, so that their values may be absent.
Result<Affine> plan_matmul_kind(const Call& call);
Result<Affine> plan_gemm_kind(const Call& call);
Result<Affine> plan_linear_kind(const Call& call);
Result<Affine> plan_added_kind(const Call& call);

}  // namespace opdrift::replay
