#include "opdrift/pipeline/align_pair.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "opdrift/metrics/resident.hpp"
#include "opdrift/tensor/layout.hpp"

namespace opdrift::pipeline {

namespace {

using tensor::Format;
using tensor::Shape;
using tensor::Tensor;
using tensor::View;

/// Logical formats a blocked format unfolds to, most likely first.
std::vector<Format> unfolded_formats(Format format) {
  switch (format) {
    case Format::nc1hwc0: return {Format::nchw, Format::nhwc, Format::hwcn};
    case Format::fractal_z: return {Format::nchw, Format::hwcn};
    case Format::fractal_nz: return {Format::nd};
    case Format::ndc1hwc0: return {Format::ncdhw};
    default: return {};
  }
}

}  // namespace

bool is_blocked(Format format) {
  return !unfolded_formats(format).empty();
}

namespace {

Shape without_ones(const Shape& shape) {
  Shape kept;
  std::copy_if(shape.begin(), shape.end(), std::back_inserter(kept),
               [](std::uint64_t extent) { return extent != 1; });
  return kept;
}

/// The first unfolding of `tensor` that, cut to `wanted`, has exactly that shape.
std::optional<View> unfold_to(const Tensor& tensor, const Shape& wanted) {
  for (const Format format : unfolded_formats(tensor.desc.format)) {
    auto view = tensor::convert_layout(tensor, format, wanted);
    if (!view) {
      continue;
    }
    auto cut = tensor::crop(*view, wanted);
    if (cut) {
      return std::move(*cut);
    }
  }
  return std::nullopt;
}

/// Permutation of a plain 4-d tensor when both formats are known and differ.
std::optional<View> permute_to(const Tensor& tensor, Format wanted) {
  if (tensor.desc.format == wanted || tensor.desc.shape.size() != 4 ||
      !tensor::conversion_exists(tensor.desc.format, wanted)) {
    return std::nullopt;
  }
  auto view = tensor::convert_layout(tensor, wanted, {});
  return view ? std::optional<View>(std::move(*view)) : std::nullopt;
}

/// The target with its axes in the golden's order, when exactly one order fits: apart from ones the
/// extents are distinct and the same on both sides.
std::optional<View> reorder_axes(const View& golden, const View& target) {
  const Shape wanted = without_ones(golden.shape());
  const Shape found = without_ones(target.shape());
  const std::set<std::uint64_t> distinct(wanted.begin(), wanted.end());
  if (distinct.size() != wanted.size() || found.size() != wanted.size() ||
      distinct != std::set<std::uint64_t>(found.begin(), found.end())) {
    return std::nullopt;
  }
  View reordered = target;
  reordered.axes.clear();
  for (const std::uint64_t extent : wanted) {
    reordered.axes.push_back(
        *std::find_if(target.axes.begin(), target.axes.end(),
                      [&](const tensor::AxisMap& axis) { return axis.extent == extent; }));
  }
  return reordered;
}

Error shapes_differ(const View& golden, const View& target) {
  return Error{ErrorCode::mismatch, "shapes do not fit: golden [" +
                                        tensor::to_string(golden.shape()) + "], target [" +
                                        tensor::to_string(target.shape()) + "]"};
}

Result<AlignedPair> checked(View golden, View target) {
  if (without_ones(golden.shape()) == without_ones(target.shape()) &&
      golden.count() == target.count()) {
    return AlignedPair{std::move(golden), std::move(target), false};
  }
  if (auto reordered = reorder_axes(golden, target)) {
    return AlignedPair{std::move(golden), std::move(*reordered), true};
  }
  return shapes_differ(golden, target);
}

}  // namespace

Result<View> logical_view(const Tensor& tensor) {
  if (is_blocked(tensor.desc.format) && !tensor.desc.original_shape.empty()) {
    if (auto view = unfold_to(tensor, tensor.desc.original_shape)) {
      return std::move(*view);
    }
  }
  return tensor::stored_view(tensor);
}

Result<AlignedPair> align_pair(const Tensor& golden, const Tensor& target) {
  if (is_blocked(target.desc.format) && !is_blocked(golden.desc.format)) {
    if (auto view = unfold_to(target, golden.desc.shape)) {
      OPDRIFT_TRY(View golden_view, tensor::stored_view(golden));
      return AlignedPair{std::move(golden_view), std::move(*view), false};
    }
  }
  if (is_blocked(golden.desc.format) && !is_blocked(target.desc.format)) {
    if (auto view = unfold_to(golden, target.desc.shape)) {
      OPDRIFT_TRY(View target_view, tensor::stored_view(target));
      return AlignedPair{std::move(*view), std::move(target_view), false};
    }
  }
  OPDRIFT_TRY(View golden_view, logical_view(golden));
  OPDRIFT_TRY(View target_view, logical_view(target));
  if (golden_view.shape() != target_view.shape()) {
    if (auto permuted = permute_to(target, golden.desc.format)) {
      return checked(std::move(golden_view), std::move(*permuted));
    }
  }
  return checked(std::move(golden_view), std::move(target_view));
}

void read_in(AlignedPair& pair) {
  std::vector<View> views = metrics::resident_views(pair.golden, {&pair.target}, 0);
  pair.golden = std::move(views[0]);
  pair.target = std::move(views[1]);
}

void keep_rows(std::uint64_t rows, AlignedPair& pair) {
  for (tensor::View* view : {&pair.golden, &pair.target}) {
    const auto axis = std::find_if(view->axes.begin(), view->axes.end(),
                                   [](const tensor::AxisMap& one) { return one.extent != 1; });
    if (axis != view->axes.end()) {
      axis->extent = std::min(axis->extent, rows);
    }
  }
}

}  // namespace opdrift::pipeline
