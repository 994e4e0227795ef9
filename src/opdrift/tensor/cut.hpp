#pragma once

#include "opdrift/base/result.hpp"
#include "opdrift/tensor/layout.hpp"

namespace opdrift::tensor {

/// Cuts an unfolded tensor to D, in whichever layout D is (opdrift's rule of convert_for_output).
///
/// `stored` describes the tensor before unfolding into `to`. Candidates are D as it stands in `to`,
/// then D read as each other layout of the same rank and brought to `to`; the first that equals the
/// view but for less than one channel block of padding is taken. Where D may cut further
/// (`free_cut`, or `to` being the layout D is usually given in), D by position is the last try.
/// Fails with mismatch.
Result<View> cut_to_original(const View& view, const TensorDesc& stored, Format to,
                             const Shape& original, bool free_cut);

}  // namespace opdrift::tensor
