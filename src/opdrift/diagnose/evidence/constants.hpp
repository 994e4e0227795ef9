#pragma once

#include <string>
#include <vector>

#include "opdrift/diagnose/evidence/edges.hpp"
#include "opdrift/diagnose/flow/facts.hpp"
#include "opdrift/io/onnx/model.hpp"

/// Constants of an ONNX model that float16 cannot hold.
namespace opdrift::diagnose::evidence {

struct WideConstant {
  std::string name;
  double absmax = 0.0;       ///< largest finite |value|
  double relative_l2 = 0.0;  ///< of the constant limited to +-65504
};

/// Initialisers and Constant nodes with a finite |value| > 65504. What cannot be read is left out.
std::vector<WideConstant> wide_constants(const io::onnx::Model& model, const std::string& folder);

/// Puts those that feed an operator which differs in front of it.
void insert_constants(const std::vector<WideConstant>& constants, const Edges& edges, double limit,
                      flow::OperatorList& operators);

}  // namespace opdrift::diagnose::evidence
