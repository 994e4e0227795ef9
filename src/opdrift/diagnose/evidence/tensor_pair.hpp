#pragma once

#include "opdrift/base/result.hpp"
#include "opdrift/pipeline/align_pair.hpp"
#include "opdrift/verdict/result.hpp"

namespace opdrift::diagnose::evidence {

/// The two tensors of a row of a comparison, brought in again and aligned. Fails with not_found
/// when a file has no such tensor (any more), and with what reading or aligning fails with.
Result<pipeline::AlignedPair> load_pair(const verdict::TensorResult& row);

/// The tensor in `path` that a row is about, or the only one.
Result<tensor::Tensor> load_tensor(const std::string& path, bool output, std::uint32_t index,
                                   const std::string& operator_name);

}  // namespace opdrift::diagnose::evidence
