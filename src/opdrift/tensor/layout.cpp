#include "opdrift/tensor/layout.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "opdrift/tensor/fractal.hpp"

namespace opdrift::tensor {

namespace {

using fractal::does_not_fit;

struct Pair {
  Format from;
  Format to;
};

constexpr Pair kPairs[] = {
    {Format::nchw, Format::nhwc},       {Format::nhwc, Format::nchw},
    {Format::nhwc, Format::hwcn},       {Format::hwcn, Format::nchw},
    {Format::hwcn, Format::nhwc},       {Format::nc1hwc0, Format::nchw},
    {Format::nc1hwc0, Format::nhwc},    {Format::nc1hwc0, Format::hwcn},
    {Format::ndc1hwc0, Format::ncdhw},  {Format::ndc1hwc0, Format::nd},
    {Format::fractal_z, Format::nchw},  {Format::fractal_z, Format::hwcn},
    {Format::fractal_nz, Format::nd},   {Format::fractal_nz, Format::nchw},
    {Format::fractal_nz, Format::nhwc}, {Format::nchw, Format::fractal_z},
    {Format::nhwc, Format::fractal_z},  {Format::hwcn, Format::fractal_z},
};

/// The dims of a plain layout, one letter each; "" for other layouts.
std::string_view letters(Format format) {
  switch (format) {
    case Format::nchw: return "NCHW";
    case Format::nhwc: return "NHWC";
    case Format::hwcn: return "HWCN";
    case Format::ncdhw: return "NCDHW";
    case Format::ndhwc: return "NDHWC";
    case Format::dhwcn: return "DHWCN";
    default: return "";
  }
}

/// Items named by `from` in the order of `to`.
template <typename Item>
std::vector<Item> permuted(const std::vector<Item>& items, std::string_view from,
                           std::string_view to) {
  std::vector<Item> result;
  for (const char letter : to) {
    result.push_back(items[from.find(letter)]);
  }
  return result;
}

AxisMap plain_axis(std::uint64_t extent, std::int64_t stride) {
  return {extent, 1, stride, 0};
}

/// Blocks of `inner` elements as one axis.
AxisMap blocked_axis(const AxisMap& blocks, const AxisMap& inner) {
  return {blocks.extent * inner.extent, inner.extent, blocks.outer_stride, inner.outer_stride};
}

/// The stored tensor with exactly `named` axes; dims beyond must not hold further elements.
Result<View> named_axes(const Tensor& tensor, std::size_t named) {
  auto stored = stored_view(tensor);
  if (!stored.has_value()) {
    const bool shapes = stored.error().code != ErrorCode::unsupported_dtype;
    return Error{shapes ? ErrorCode::conversion_failed : stored.error().code,
                 stored.error().message};
  }
  View view = *std::move(stored);
  bool fits = view.axes.size() >= named;
  for (std::size_t i = named; i < view.axes.size(); ++i) {
    fits = fits && view.axes[i].extent == 1;
  }
  if (!fits) {
    return does_not_fit("expected " + std::to_string(named) + " dims of " +
                        std::string(format_name(tensor.desc.format).value_or("this format")) +
                        ", found [" + to_string(tensor.desc.shape) + "]");
  }
  view.axes.resize(named);
  return view;
}

Result<View> permute(const Tensor& tensor, Format to) {
  OPDRIFT_TRY(View view, named_axes(tensor, 4));
  view.axes = permuted(view.axes, letters(tensor.desc.format), letters(to));
  return view;
}

Result<View> unfold_channels(const Tensor& tensor, Format to) {
  OPDRIFT_TRY(View view, named_axes(tensor, 5));
  const auto& stored = view.axes;
  const std::vector<AxisMap> logical = {stored[0], blocked_axis(stored[1], stored[4]), stored[2],
                                        stored[3]};
  view.axes = permuted(logical, letters(Format::nchw), letters(to));
  return view;
}

/// The channels that `target` asks of an unfolded (N,C,D,H,W): in its own order, or, by opdrift's
/// rule, with the channels last when only that fits.
std::uint64_t wanted_channels(const Shape& padded, std::uint64_t block, const Shape& target,
                              const LayoutRules& rules) {
  if (rules.reference || target.size() != 5) {
    return target[1];
  }
  const auto last = *permute_shape(target, Format::ndhwc, Format::ncdhw);
  const bool first_fits = fractal::fits_padded(padded, target, 1, block);
  return !first_fits && fractal::fits_padded(padded, last, 1, block) ? last[1] : target[1];
}

Result<View> unfold_depth(const Tensor& tensor, Format to, const Shape& target,
                          const LayoutRules& rules) {
  OPDRIFT_TRY(View view, named_axes(tensor, 6));
  const auto stored = view.axes;
  view.axes = {stored[0], blocked_axis(stored[2], stored[5]), stored[1], stored[3], stored[4]};
  if (to == Format::nd && target.size() != 5) {
    return view;
  }
  if (target.size() < 2) {
    return does_not_fit("expected a target shape of NCDHW, found [" + to_string(target) + "]");
  }
  const std::uint64_t channels = wanted_channels(view.shape(), stored[5].extent, target, rules);
  OPDRIFT_TRY(view.axes[1].extent, fractal::padded_cut(view.axes[1].extent, channels, rules));
  return view;
}

/// Stored data a fractal formula can address: contiguous, of the shape's size.
Result<Tensor> contiguous_tensor(const Tensor& tensor) {
  OPDRIFT_TRY(const View view, named_axes(tensor, tensor.desc.shape.size()));
  if (view.contiguous()) {
    return tensor;
  }
  return materialise(view, tensor.desc.format);
}

bool group_fits(const Tensor& tensor, const Shape& nchw) {
  return tensor.desc.sub_format >= 2 && fractal::has_group_shape(tensor.desc, nchw);
}

Result<View> unfold_fractal_z(const Tensor& tensor, Format to, const Shape& target,
                              const LayoutRules& rules) {
  if (target.size() < 4) {
    return does_not_fit("expected a target shape of four dims, found [" + to_string(target) + "]");
  }
  const Shape first_four(target.begin(), target.begin() + 4);
  const Shape nchw = permuted(first_four, letters(to), letters(Format::nchw));
  if (group_fits(tensor, nchw)) {
    OPDRIFT_TRY(const Tensor plain, from_grouped_fractal_z(tensor, nchw));
    OPDRIFT_TRY(View view, stored_view(plain));
    view.axes = permuted(view.axes, letters(Format::nchw), letters(to));
    return view;
  }
  OPDRIFT_TRY(View view, named_axes(tensor, 4));
  const auto stored = view.axes;
  const auto kernel = element_count({nchw[2], nchw[3]});
  if (!kernel.has_value() || *kernel == 0 || stored[0].extent % *kernel != 0) {
    return does_not_fit(
        "expected a first dim that is a multiple of H*W = " + std::to_string(nchw[2]) + "*" +
        std::to_string(nchw[3]) + ", found [" + to_string(tensor.desc.shape) + "]");
  }
  const std::int64_t row = stored[0].outer_stride;
  const AxisMap channel_blocks =
      plain_axis(stored[0].extent / *kernel, row * static_cast<std::int64_t>(*kernel));
  AxisMap n = blocked_axis(stored[1], stored[2]);
  AxisMap c = blocked_axis(channel_blocks, stored[3]);
  OPDRIFT_TRY(n.extent, fractal::padded_cut(n.extent, nchw[0], rules));
  OPDRIFT_TRY(c.extent, fractal::padded_cut(c.extent, nchw[1], rules));
  const std::vector<AxisMap> logical = {
      n, c, plain_axis(nchw[2], row * static_cast<std::int64_t>(nchw[3])),
      plain_axis(nchw[3], row)};
  view.axes = permuted(logical, letters(Format::nchw), letters(to));
  return view;
}

}  // namespace

bool conversion_exists(Format from, Format to) {
  return std::any_of(std::begin(kPairs), std::end(kPairs),
                     [&](const Pair& pair) { return pair.from == from && pair.to == to; });
}

Format effective_format(const TensorDesc& desc) {
  const bool image = letters(desc.format).size() == 4;
  return image && desc.shape.size() != 4 ? Format::nd : desc.format;
}

std::optional<Shape> permute_shape(const Shape& shape, Format from, Format to) {
  const std::string_view source = letters(from);
  const std::string_view order = letters(to);
  if (source.empty() || source.size() != order.size() || shape.size() != order.size()) {
    return std::nullopt;
  }
  return permuted(shape, source, order);
}

Result<View> convert_layout(const Tensor& tensor, Format to, const Shape& target_shape,
                            const LayoutRules& rules) {
  const Format from = tensor.desc.format;
  if (from == to) {
    auto stored = stored_view(tensor);
    if (!stored.has_value() && stored.error().code == ErrorCode::data_mismatch) {
      return Error{ErrorCode::malformed, stored.error().message};
    }
    return stored;
  }
  if (!conversion_exists(from, to)) {
    const auto named = [](Format format) {
      return std::string(
          format_name(format).value_or("format " + std::to_string(static_cast<int>(format))));
    };
    return Error{
        ErrorCode::unsupported_format,
        "expected a pair of formats with a conversion, found " + named(from) + " to " + named(to)};
  }
  if (rules.reference && tensor.desc.sub_format >= 2 && to != Format::fractal_z) {
    return does_not_fit("the reference converts groups to FRACTAL_Z only, found group " +
                        std::to_string(tensor.desc.sub_format));
  }
  if (to == Format::fractal_z) {
    OPDRIFT_TRY(const Tensor packed, to_fractal_z(tensor, rules));
    return stored_view(packed);
  }
  switch (from) {
    case Format::nc1hwc0: return unfold_channels(tensor, to);
    case Format::ndc1hwc0: return unfold_depth(tensor, to, target_shape, rules);
    case Format::fractal_z: {
      OPDRIFT_TRY(const Tensor stored, contiguous_tensor(tensor));
      return unfold_fractal_z(stored, to, target_shape, rules);
    }
    case Format::fractal_nz: {
      if (rules.check_nz_window) {
        OPDRIFT_CHECK_OK(check_nz_window(tensor.desc.shape, target_shape, rules));
      }
      OPDRIFT_TRY(const Tensor stored, contiguous_tensor(tensor));
      return fractal::unfold_nz(stored, target_shape, rules);
    }
    default: return permute(tensor, to);
  }
}

Result<View> crop(const View& view, const Shape& shape) {
  bool fits = shape.size() == view.axes.size();
  for (std::size_t i = 0; fits && i < shape.size(); ++i) {
    fits = shape[i] <= view.axes[i].extent;
  }
  if (!fits) {
    return Error{ErrorCode::bad_shape, "expected a shape inside [" + to_string(view.shape()) +
                                           "], found [" + to_string(shape) + "]"};
  }
  View cut = view;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    cut.axes[i].extent = shape[i];
  }
  return cut;
}

}  // namespace opdrift::tensor
