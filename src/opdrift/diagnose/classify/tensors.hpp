#pragma once

#include "opdrift/base/result.hpp"
#include "opdrift/diagnose/classify/input_class.hpp"
#include "opdrift/tensor/tensor.hpp"

namespace opdrift::diagnose::classify {

/// classify_input() for tensors as they were dumped: blocked device layouts are unfolded towards
/// the other side's shape first. Fails with what reading the stored shape fails with.
Result<InputClass> classify_tensors(const tensor::Tensor& golden, const tensor::Tensor& device);

}  // namespace opdrift::diagnose::classify
