#pragma once

#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/io/onnx/model.hpp"

/// Are the constants of an exported model the weights it was exported from?
///
/// Weights and initialisers pair by name (`/ . : \` and blanks read as `_`, case ignored, a leading
/// `module.` left out). Of one shape, or with their axes in another order, they are equal when
/// their relative L2 difference is at most 2^-7: what rounding to bfloat16 may do. Exporters that
/// fold operators rename what they compute; such weights find no partner.
namespace opdrift::diagnose::evidence {

struct WeightFindings {
  std::vector<std::string> faults;  ///< weights that are others; the first eight, then their number
  std::vector<std::string>
      findings;  ///< what could not be compared, and types that became narrower
};

/// `weights` is any file or folder of tensors (npz, npy files, safetensors, a state of PyTorch);
/// `folder` that of the model. Fails when `weights` cannot be read.
Result<WeightFindings> compare_weights(const io::onnx::Model& model, const std::string& folder,
                                       const std::string& weights);

}  // namespace opdrift::diagnose::evidence
