#pragma once

#include <optional>
#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/io/dump.hpp"
#include "opdrift/pipeline/convert/tensor_output.hpp"
#include "opdrift/tensor/format.hpp"
#include "opdrift/tensor/tensor.hpp"

namespace opdrift::pipeline {

/// A tensor in the format asked for.
struct LayoutResult {
  OutputArray array;
  tensor::Format format = tensor::Format::nd;  ///< the stored one when cropping failed
  std::vector<std::string> warnings;
  std::optional<std::string> crop_problem;  ///< why the padding is still there
};

/// Brings one tensor into `format`. `target_shape` is its logical shape as a user gave it; empty:
/// the original shape of the tensor counts. Fails with malformed (data do not fill the stored
/// shape), unsupported_format (no such conversion), bad_nz_shape, conversion_failed or what loading
/// failed with.
Result<LayoutResult> convert_tensor_layout(const io::FileTensor& source, tensor::Format format,
                                           const tensor::Shape& target_shape);

}  // namespace opdrift::pipeline
