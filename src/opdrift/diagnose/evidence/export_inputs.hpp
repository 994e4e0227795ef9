#pragma once

#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/io/onnx/model.hpp"

/// Inputs of the original model that the exported one holds as constants: an exporter that follows
/// one call keeps whatever it does not see as an argument.
namespace opdrift::diagnose::evidence {

struct InputsToFind {
  std::vector<std::string> names;  ///< of the original model's inputs; may be empty
  std::string online;              ///< folder of input_* files of the online run; "" for none
};

/// One sentence per input that is missing, and per constant that equals an online input: as many
/// elements (two at least), not all zero, relative L2 difference at most 2^-7. Fails when the
/// folder cannot be read.
Result<std::vector<std::string>> find_baked_inputs(const io::onnx::Model& model,
                                                   const std::string& folder,
                                                   const InputsToFind& wanted);

}  // namespace opdrift::diagnose::evidence
