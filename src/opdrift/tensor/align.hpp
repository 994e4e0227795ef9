#pragma once

#include <string>

#include "opdrift/base/result.hpp"
#include "opdrift/tensor/format.hpp"
#include "opdrift/tensor/layout.hpp"
#include "opdrift/tensor/tensor.hpp"
#include "opdrift/tensor/view.hpp"

/// Bringing one tensor into a wanted format, and two tensors together element by element.
///
/// Every function exists in two rules (LayoutRules::reference): opdrift's own and the reference
/// tool's with its defects; docs/formats/layouts.md lists where they part.
///
/// Error codes and the numbers the reference gives them: unsupported_format 22, conversion_failed
/// 26, malformed 11 (bytes do not fill the shape), mismatch 23 (two sides do not fit),
/// bad_nz_shape 6 when converting and 34 when comparing, internal 1 (reference rules only).
namespace opdrift::tensor {

/// Cuts `view` to `target` as a comparison does: an axis too long is cut, an axis too short fails.
///
///   fewer axes than the target   dims other than 1 must agree, else mismatch; view unchanged
///   reference rules              both padded with ones to rank 4 at least; equal counts and at
///                                most one dim other than 1: unchanged; the first differing axis
///                                decides between failing and cutting; cuts ranks 4 and 5 only
///   own rules                    equal ranks: every axis is looked at, any rank; other ranks: dims
///                                other than 1 must agree
Result<View> cut_to(const View& view, const Shape& target, const LayoutRules& rules);

/// One tensor in a format asked for by a user.
struct OutputRequest {
  Format format = Format::nd;
  Shape target_shape;  ///< of the user; empty: the tensor's original shape counts
  LayoutRules rules;
};

struct ConvertedTensor {
  View view;
  bool crop_failed = false;  ///< the padding is still there
  std::string crop_problem;  ///< why
  /// The reference would write this array column-major: it did not have to copy when it joined
  /// axes, and the result happens to lie in that order.
  bool fortran_order = false;
};

/// Steps of one converted tensor: ND in place of an image format of odd rank; D from the request or
/// the original shape; FRACTAL_NZ window; the conversion, or the stored shape when the formats are
/// equal; crop to D. A failed crop is no error.
///
/// The crop looks at D by position under reference rules. By opdrift's rule D may be in the layout
/// asked for or in NCHW, NHWC or HWCN (NCDHW, NDHWC), whichever fits the padded shape; a D given by
/// the user may also cut further.
Result<ConvertedTensor> convert_for_output(const Tensor& tensor, const OutputRequest& request);

/// True when a tensor counts as one number: all dims are 1. Reference rules: the dims add up to the
/// rank, so (0,2) counts too.
bool is_scalar(const Shape& shape, const LayoutRules& rules);

/// What is known about the golden side of a comparison.
struct GoldenLayout {
  std::string format;      ///< name from the graph, "" when unknown: that of the target
  Shape shape;             ///< from the graph; the target's original shape replaces it
  bool detail = false;     ///< both sides to NCHW (NCDHW; FRACTAL_Z: the golden's layout)
  bool same_kind = false;  ///< two framework arrays: no conversion, shapes must be equal
  LayoutRules rules;
};

/// Two views of equal count.
struct AlignedTensors {
  View golden;
  View target;
  /// Shape of the target after conversion and cut: one dim when it stayed flat, padded to four dims
  /// when a flat tensor was cut (reference rules).
  Shape shape;
  Format format = Format::nd;  ///< layout both sides are in
  bool scalar = false;         ///< of the target as stored
  std::string note;            ///< what a reader should know ("" for nothing)
};

/// A device dump against a framework array.
Result<AlignedTensors> align_to_golden(const Tensor& target, const Tensor& golden,
                                       const GoldenLayout& layout);

/// A device tensor without its padding, by its own original shape: rank 4 to NCHW, 2 and 3 to ND,
/// other ranks as stored (own rules: FRACTAL_NZ of any rank, NDC1HWC0 of rank 5). What cannot be
/// converted or cut stays as it is, with a note.
struct RestoredTensor {
  View view;
  std::string note;
};
Result<RestoredTensor> remove_padding(const Tensor& tensor, const LayoutRules& rules = {});

/// Two device dumps: equal stored shapes, each side without its padding. Fails with mismatch.
Result<AlignedTensors> align_device_pair(const Tensor& target, const Tensor& golden,
                                         const LayoutRules& rules = {});

}  // namespace opdrift::tensor
