#pragma once

#include <string>
#include <vector>

#include "opdrift/io/onnx/model.hpp"

namespace opdrift::diagnose::evidence {

/// What an exported model should not have: operators in training mode (BatchNormalization, Dropout,
/// a Dropout whose third input is true), more outputs of a BatchNormalization in use than one, and
/// operators that draw random numbers. One sentence each; `folder` is that of the model.
std::vector<std::string> check_export(const io::onnx::Model& model, const std::string& folder);

}  // namespace opdrift::diagnose::evidence
