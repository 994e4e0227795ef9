#pragma once

#include "opdrift/base/result.hpp"
#include "opdrift/pipeline/compare.hpp"
#include "opdrift/verdict/result.hpp"

namespace opdrift::diagnose {

/// Compares the two sides of a bundle, a folder. What an operator of a network was given may differ
/// by all that came before it; other than for a whole network that is nothing to stop at, and the
/// verdict is about the operator alone. Fails as compare_dumps does.
Result<verdict::RunResult> compare_bundle(const std::string& folder,
                                          const pipeline::CompareOptions& options);

}  // namespace opdrift::diagnose
