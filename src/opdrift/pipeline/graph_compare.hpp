#pragma once

#include <string>

#include "opdrift/base/result.hpp"
#include "opdrift/pipeline/compare.hpp"
#include "opdrift/verdict/result.hpp"

namespace opdrift::pipeline {

/// Compares two folders through the graph json of the target's model (options.graphs; an ONNX model
/// among them is what the result is judged by).
///
/// With one graph a device dump is compared with framework arrays. A second graph is that of the
/// same model built with fusion off when the golden is a device dump too, else that of the
/// quantised original. Fails as compare_network does, and with invalid_argument for more than two.
Result<verdict::RunResult> compare_by_graph(const std::string& target, const std::string& golden,
                                            const CompareOptions& options);

}  // namespace opdrift::pipeline
