#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "opdrift/base/result.hpp"
#include "opdrift/io/onnx/model.hpp"

/// A planted fault, to see how a culprit looks and whether it is found: all weights of one output
/// channel (first axis) of one constant are multiplied by a factor.
namespace opdrift::engine {

struct DamageOptions {
  std::string node;       ///< "" takes the Conv in the middle of those with constant f32 weights
  std::size_t input = 1;  ///< of the node; 1 is the weight of Conv, MatMul and Gemm
  std::uint64_t channel = 0;
  float factor = 4.0F;
};

struct Damage {
  std::string node;
  std::string constant;
  std::uint64_t changed = 0;  ///< elements
};

/// Edits `model`; `folder` is where its external data lies. Fails with not_found (node, or a
/// constant f32 input), out_of_range (channel) and what loading the constant may fail with.
Result<Damage> damage_weight(io::onnx::Model& model, const std::string& folder,
                             const DamageOptions& options);

}  // namespace opdrift::engine
