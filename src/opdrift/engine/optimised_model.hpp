#pragma once

#include <string>

#include "opdrift/base/result.hpp"
#include "opdrift/io/onnx/model.hpp"

namespace opdrift::engine {

/// Reads a model that ONNX Runtime saved after it had rewritten it.
///
/// With weights in a file of their own the library (1.16 to 1.30) writes every initialiser of a
/// body of If, Loop or Scan twice, the second time perhaps as external data, and then refuses to
/// load that. Of such a pair the first is kept; both hold the same. Fails as open_model does.
Result<io::onnx::Model> open_optimised_model(const std::string& path);

}  // namespace opdrift::engine
