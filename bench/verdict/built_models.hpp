#pragma once

#include "opdrift/io/onnx/model.hpp"

/// Models that no package carries, with seeded random weights.
namespace opdrift::evaluation {

/// Four pre-norm decoder blocks of width 96 over 24 tokens: LayerNormalization, attention with a
/// causal mask, Gelu, three outlier channels. Input `x`, 1 x 24 x 96; output `probabilities`.
io::onnx::Model layer_norm_transformer();

/// Five dense layers with int8 weights and int8 activations between QuantizeLinear and
/// DequantizeLinear. Input `x`, 32 x 96; output `y`.
io::onnx::Model quantised_perceptron();

/// The element count and scale of their inputs.
tensor::Tensor transformer_input();
tensor::Tensor perceptron_input();

}  // namespace opdrift::evaluation
