#pragma once

#include <string>

#include "opdrift/io/onnx/model.hpp"

namespace opdrift::cli {

/// "x  float32 (n, 3, ?, ?)"; "?" alone for a shape that is not known, and the kind of what is no
/// tensor.
std::string describe(const io::onnx::ValueInfo& info);

/// "(1, batch, ?)", or "?" when the model states no shape.
std::string shape_text(const io::onnx::ValueInfo& info);

}  // namespace opdrift::cli
