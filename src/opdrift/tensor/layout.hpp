#pragma once

#include <optional>

#include "opdrift/base/result.hpp"
#include "opdrift/tensor/format.hpp"
#include "opdrift/tensor/tensor.hpp"
#include "opdrift/tensor/view.hpp"

/// Stored layouts and what they mean. S is the stored shape, D the logical shape wanted; arrays are
/// row-major. Formulas with examples: docs/formats/layouts.md.
///
///   NCHW, NHWC, HWCN   permutations of each other
///   NC1HWC0            S = (N,C1,H,W,C0), channel = c1*C0 + c0; padded channels stay
///   NDC1HWC0           S = (N,D,C1,H,W,C0), to (N,C,D,H,W); channels cut to those of D
///   FRACTAL_Z          S = (C1*H*W,No,Ni,C0), n = no*Ni + ni, c = c1*C0 + c0; both cut to D
///   FRACTAL_NZ         S = (...,C1,No,Ni,C0), row = no*Ni + ni, column = c1*C0 + c0; cut to D
///
/// 18 pairs exist:
///   NCHW->NHWC  NHWC->NCHW,HWCN  HWCN->NCHW,NHWC  NC1HWC0->NCHW,NHWC,HWCN  NDC1HWC0->NCDHW,ND
///   FRACTAL_Z->NCHW,HWCN  FRACTAL_NZ->ND,NCHW,NHWC  NCHW,NHWC,HWCN->FRACTAL_Z
namespace opdrift::tensor {

/// Which behaviour a conversion follows where the vendor's tool has known defects.
struct LayoutRules {
  bool reference = false;       ///< reproduce the defects listed in docs/formats/layouts.md
  bool check_nz_window = true;  ///< refuse a D outside the padding of a FRACTAL_NZ tensor
};

/// True when the pair is one of the 18 conversions.
bool conversion_exists(Format from, Format to);

/// The format a tensor is handled as: NCHW, NHWC and HWCN of another rank than four are ND.
Format effective_format(const TensorDesc& desc);

/// Views `tensor` (stored in its own format and shape) in format `to`. Equal formats: the stored
/// shape.
///
/// `target_shape` is D; cuts and unfolds FRACTAL_NZ, FRACTAL_Z and NDC1HWC0 and is not looked at
/// for the other pairs. The group count is `desc.sub_format` (below 2: none).
/// Fails with unsupported_format (no such pair), conversion_failed (shapes or bytes do not fit the
/// pair), malformed (equal formats, bytes do not fit), bad_nz_shape (D outside the window of a
/// FRACTAL_NZ tensor), limit, unsupported_dtype; under reference rules also with internal, where
/// the reference ends with exit status 1.
Result<View> convert_layout(const Tensor& tensor, Format to, const Shape& target_shape,
                            const LayoutRules& rules = {});

/// Checks D against the padded shape Q = (..., No*Ni, C1*C0) of FRACTAL_NZ: same rank, same leading
/// dims, last two dims at most those of Q and more than those of Q less one fractal (Ni rows, C0
/// columns). A D of one dim is one row. Reference rules: the window is 16 both ways, one dim fails
/// with `internal`. Fails with bad_nz_shape.
Status check_nz_window(const Shape& stored, const Shape& target_shape,
                       const LayoutRules& rules = {});

/// A weight in NCHW, NHWC or HWCN as FRACTAL_Z, zero filled, in memory of its own:
///
///   n = N / G per group, E = min(lcm(lcm(C,16)/C, lcm(n,16)/n), G) groups share a cube
///   shape (ceil(G/E) * ceil(E*C/16) * kh*kw, ceil(E*n/16), 16, 16)
///   group g: e = g mod E, dc = e*C + c, dn = e*n + k
///   row = ((g/E) * ceil(E*C/16) + dc/16) * kh*kw + h*kw + w, then (dn/16, dn%16, dc%16)
///
/// Reference rules multiply g/E by dc/16 instead of by the number of channel blocks, so that groups
/// overwrite each other. Fails with conversion_failed, unsupported_dtype (less than a byte), limit
/// (more than 16 GiB).
Result<Tensor> to_fractal_z(const Tensor& tensor, const LayoutRules& rules = {});

/// The reverse for grouped weights (`desc.sub_format` groups): `target_shape` is (N,C,H,W), the
/// result an NCHW tensor in memory of its own. The cube sides are those of the stored shape.
Result<Tensor> from_grouped_fractal_z(const Tensor& tensor, const Shape& target_shape);

/// Keeps the first `shape[i]` elements of every axis. Fails with bad_shape when an axis is shorter
/// or the ranks differ.
Result<View> crop(const View& view, const Shape& shape);

/// A shape in layout `from` with its dims in the order of `to` (both of NCHW, NHWC, HWCN, or
/// both of NCDHW, NDHWC, DHWCN); nothing when the pair is no permutation.
std::optional<Shape> permute_shape(const Shape& shape, Format from, Format to);

}  // namespace opdrift::tensor
