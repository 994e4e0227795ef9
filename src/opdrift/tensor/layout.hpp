#pragma once

#include <cstdint>

#include "opdrift/base/result.hpp"
#include "opdrift/tensor/format.hpp"
#include "opdrift/tensor/tensor.hpp"
#include "opdrift/tensor/view.hpp"

namespace opdrift::tensor {

/// Which behaviour a conversion follows where the vendor's tool has known defects.
struct LayoutRules {
  bool reference = false;  ///< reproduce the defects listed in docs/formats/layouts.md
};

/// True when the pair is one of the conversions of docs/formats/layouts.md.
bool conversion_exists(Format from, Format to);

/// Views `tensor` (stored in its own format and shape) in format `to`.
///
/// `target_shape` is the logical shape wanted (D in the documentation); used for cropping and to
/// unfold FRACTAL_NZ and FRACTAL_Z; may be empty. `group` is the group count of grouped
/// convolutions (below 2: none).
/// Fails with unsupported_format (no such pair), conversion_failed (shapes do not fit the pair) or
/// bad_nz_shape (FRACTAL_NZ window).
Result<View> convert_layout(const Tensor& tensor, Format to, const Shape& target_shape,
                            const LayoutRules& rules = {});

/// Keeps the first `shape[i]` elements of every axis. Fails with bad_shape when an axis is shorter.
Result<View> crop(const View& view, const Shape& shape);

}  // namespace opdrift::tensor
