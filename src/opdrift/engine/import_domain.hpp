#pragma once

#include <string>

#include "opdrift/io/onnx/model.hpp"

namespace opdrift::engine {

/// Makes version 1 of a domain of operators known to the model, unless it knows the domain.
void import_domain(io::onnx::Model& model, const std::string& domain);

}  // namespace opdrift::engine
