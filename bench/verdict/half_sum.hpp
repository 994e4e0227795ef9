#pragma once

#include <optional>
#include <span>

#include "opdrift/io/onnx/model.hpp"
#include "opdrift/tensor/tensor.hpp"

namespace opdrift::evaluation {

/// MatMul (second operand a matrix), Gemm and Conv without groups, of at least 32 terms, with the
/// running sum kept in `accumulator` (f16 or bf16): s = round(s + round(x w)), terms in the order
/// of memory, the bias added in f32 at the end. Nothing for other operators.
std::optional<tensor::Tensor> half_sum(const io::onnx::Node& node,
                                       std::span<const tensor::Tensor* const> inputs,
                                       tensor::DType accumulator);

}  // namespace opdrift::evaluation
