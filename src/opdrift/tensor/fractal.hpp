#pragma once

#include <cstdint>
#include <string>

#include "opdrift/base/result.hpp"
#include "opdrift/tensor/layout.hpp"

/// The fractal layouts behind layout.hpp, and what padded layouts have in common.
namespace opdrift::tensor::fractal {

inline Error does_not_fit(std::string message) {
  return Error{ErrorCode::conversion_failed, std::move(message)};
}

/// Elements left of a padded axis when `wanted` are logical: `wanted`, which must not be more than
/// `padded`. The reference keeps the first `wanted - padded` of an axis that is too short.
Result<std::uint64_t> padded_cut(std::uint64_t padded, std::uint64_t wanted,
                                 const LayoutRules& rules);

/// True when `wanted` is `padded` but for less than one block on axis `channel`.
bool fits_padded(const Shape& padded, const Shape& wanted, std::size_t channel,
                 std::uint64_t block);

/// FRACTAL_NZ of a contiguous tensor as D. Leading dims are those of D; under reference rules one,
/// their product, or none when D has at most two dims.
Result<View> unfold_nz(const Tensor& tensor, const Shape& target_shape, const LayoutRules& rules);

/// True when the stored shape is what `desc.sub_format` groups of an (N,C,H,W) weight occupy.
bool has_group_shape(const TensorDesc& desc, const Shape& nchw);

}  // namespace opdrift::tensor::fractal
