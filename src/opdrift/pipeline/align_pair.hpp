#pragma once

#include <cstdint>

#include "opdrift/base/result.hpp"
#include "opdrift/tensor/view.hpp"

namespace opdrift::pipeline {

/// Two views with the same number of elements, to be compared position by position.
struct AlignedPair {
  tensor::View golden;
  tensor::View target;
  bool permuted = false;  ///< the axes of the target were reordered to fit
};

/// Whether tensors of the format are unfolded: their shape is not that of their logical order.
bool is_blocked(tensor::Format format);

/// A tensor in its own logical order: a blocked device format with a known original shape is
/// unfolded, everything else is taken as stored. Fails as stored_view does.
Result<tensor::View> logical_view(const tensor::Tensor& tensor);

/// Brings two tensors into one logical order without a graph to tell the layout of the golden.
///
/// A side stored in a blocked device format (NC1HWC0, FRACTAL_NZ, FRACTAL_Z, NDC1HWC0) is unfolded
/// towards the shape of the other side, trying NCHW before NHWC and HWCN; padding is cut. Two
/// blocked sides are both unfolded to their original shapes. Plain sides are taken as stored; their
/// axes are reordered when the formats say so, or when the extents are the same distinct numbers in
/// another order, as graph optimisers leave them when they move a transpose.
/// Fails with `mismatch` when the element counts cannot be made equal, and with what reading the
/// stored shape failed with.
Result<AlignedPair> align_pair(const tensor::Tensor& golden, const tensor::Tensor& target);

/// Reads mapped bytes into memory where they are not large: looking at them in many places costs
/// more than that (metrics/resident.hpp).
void read_in(AlignedPair& pair);

/// Leaves the first `rows` entries of the first axis that is longer than one, on both sides.
void keep_rows(std::uint64_t rows, AlignedPair& pair);

}  // namespace opdrift::pipeline
