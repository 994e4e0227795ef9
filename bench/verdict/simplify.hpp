#pragma once

#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/engine/instrument.hpp"
#include "opdrift/engine/onnxruntime.hpp"
#include "opdrift/io/onnx/model.hpp"

/// Brings a model to the form that is evaluated:
///
///   Constant           -> initialiser
///   If                 -> the nodes of the branch that these inputs take
///   Identity           -> gone, its readers read its input (but where a graph output is named so)
///   node nobody reads  -> gone
namespace opdrift::evaluation {

Result<io::onnx::Model> simplified(engine::Runtime& runtime, io::onnx::Model model,
                                   const std::vector<engine::NamedTensor>& inputs);

}  // namespace opdrift::evaluation
