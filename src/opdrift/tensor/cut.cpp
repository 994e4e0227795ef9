#include "opdrift/tensor/cut.hpp"

#include <algorithm>
#include <vector>

#include "opdrift/tensor/align.hpp"
#include "opdrift/tensor/fractal.hpp"

namespace opdrift::tensor {

namespace {

constexpr std::size_t kLeastRank = 4;

Error does_not_cut(const Shape& shape, const Shape& target) {
  return Error{ErrorCode::mismatch, "expected a shape that contains [" + to_string(target) +
                                        "], found [" + to_string(shape) + "]"};
}

Shape without_ones(const Shape& shape) {
  Shape kept;
  std::copy_if(shape.begin(), shape.end(), std::back_inserter(kept),
               [](std::uint64_t extent) { return extent != 1; });
  return kept;
}

Shape padded_with_ones(Shape shape, std::size_t rank) {
  shape.resize(std::max(shape.size(), rank), 1);
  return shape;
}

View with_rank(View view, std::size_t rank) {
  view.axes.resize(std::max(view.axes.size(), rank));
  return view;
}

std::uint64_t product(const Shape& shape) {
  const auto count = element_count(shape);
  return count.has_value() ? *count : ~std::uint64_t{0};
}

bool at_most_one_dim(const Shape& shape) {
  return std::count_if(shape.begin(), shape.end(),
                       [](std::uint64_t extent) { return extent != 1; }) <= 1;
}

Result<View> cut_as_reference(const View& view, const Shape& shape, const Shape& wanted) {
  if (product(shape) == product(wanted) && at_most_one_dim(view.shape())) {
    return view;
  }
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < wanted[i]) {
      return does_not_cut(shape, wanted);
    }
    if (shape[i] == wanted[i]) {
      continue;
    }
    View cut = with_rank(view, shape.size());
    for (std::size_t k = 0; shape.size() <= 5 && k < shape.size(); ++k) {
      cut.axes[k].extent = std::min(shape[k], wanted[k]);
    }
    return cut;
  }
  return view;
}

Result<View> cut_every_axis(const View& view, const Shape& shape, const Shape& wanted) {
  if (shape == wanted) {
    return view;
  }
  if (product(shape) == product(wanted) && at_most_one_dim(shape) && at_most_one_dim(wanted)) {
    return view;
  }
  View cut = with_rank(view, shape.size());
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < wanted[i]) {
      return does_not_cut(shape, wanted);
    }
    cut.axes[i].extent = wanted[i];
  }
  return cut;
}

/// Layouts a D of this rank may be in, the usual ones first.
std::vector<Format> layouts_of(std::size_t rank) {
  if (rank == 4) {
    return {Format::nchw, Format::nhwc, Format::hwcn};
  }
  if (rank == 5) {
    return {Format::ncdhw, Format::ndhwc, Format::dhwcn};
  }
  return {};
}

/// Elements of one channel block; 1 for layouts without.
std::uint64_t channel_block(const TensorDesc& stored) {
  const bool blocked = stored.format == Format::nc1hwc0 || stored.format == Format::ndc1hwc0;
  return blocked && !stored.shape.empty() ? stored.shape.back() : 1;
}

}  // namespace

Result<View> cut_to(const View& view, const Shape& target, const LayoutRules& rules) {
  const Shape shape = view.shape();
  if (shape.size() < target.size()) {
    if (without_ones(shape) == without_ones(target)) {
      return view;
    }
    return does_not_cut(shape, target);
  }
  if (!rules.reference && shape.size() > target.size()) {
    // Cutting a whole axis to its first element would hide a wrong shape.
    return without_ones(shape) == without_ones(target) ? Result<View>(view)
                                                       : does_not_cut(shape, target);
  }
  const std::size_t rank = rules.reference ? std::max(shape.size(), kLeastRank) : shape.size();
  const Shape padded = padded_with_ones(shape, rank);
  const Shape wanted = padded_with_ones(target, rank);
  return rules.reference ? cut_as_reference(view, padded, wanted)
                         : cut_every_axis(view, padded, wanted);
}

Result<View> cut_to_original(const View& view, const TensorDesc& stored, Format to,
                             const Shape& original, bool free_cut) {
  const Shape shape = view.shape();
  if (shape == original || to == Format::fractal_z) {
    return view;
  }
  // The unfolded depth layout is NCDHW also where it is called ND.
  const Format layout = to == Format::nd && stored.format == Format::ndc1hwc0 ? Format::ncdhw : to;
  const auto order = permute_shape({0, 1, 2, 3, 4}, Format::ncdhw, layout);
  std::vector<Format> candidates = {layout};
  for (const Format candidate : layouts_of(original.size())) {
    candidates.push_back(candidate);
  }
  const Shape letters = order.has_value()
                            ? *order
                            : permute_shape({0, 1, 2, 3}, Format::nchw, layout).value_or(Shape{});
  const auto channel = std::find(letters.begin(), letters.end(), 1);
  for (const Format candidate : candidates) {
    const auto wanted = permute_shape(original, candidate, layout);
    if (wanted.has_value() && channel != letters.end() &&
        fractal::fits_padded(shape, *wanted, static_cast<std::size_t>(channel - letters.begin()),
                             channel_block(stored))) {
      return crop(view, *wanted);
    }
  }
  const bool usual = layout == Format::nchw || layout == Format::ncdhw || layout == Format::nd;
  if (!free_cut && !usual) {
    return does_not_cut(shape, original);
  }
  return cut_to(view, original, {});
}

}  // namespace opdrift::tensor
