#include "opdrift/tensor/align.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "opdrift/tensor/cut.hpp"

namespace opdrift::tensor {

namespace {

bool is_image(Format format) {
  return format == Format::nchw || format == Format::nhwc || format == Format::hwcn;
}

bool has_depth(Format format) {
  return format == Format::ndhwc || format == Format::ncdhw || format == Format::dhwcn ||
         format == Format::ndc1hwc0;
}

Error sides_differ(const Shape& target, const Shape& golden) {
  return Error{ErrorCode::mismatch, "expected shapes that fit, found target [" + to_string(target) +
                                        "], golden [" + to_string(golden) + "]"};
}

/// The bytes under the tensor's own shape, logical row-major order.
Result<View> as_stored(const Tensor& tensor) {
  return convert_layout(tensor, tensor.desc.format, {});
}

/// A view together with the shape it is shown as; a flat view of a strided tensor keeps its axes.
struct Side {
  View view;
  Shape shape;
};

Result<Side> flat_side(const Tensor& tensor) {
  OPDRIFT_TRY(View view, as_stored(tensor));
  const Shape flat = {view.count()};
  if (view.contiguous()) {
    OPDRIFT_TRY(view, flat_view(tensor, flat[0]));
  }
  return Side{std::move(view), flat};
}

/// Number of matrices D asks for; nothing when it is absurd.
bool other_batch(const Shape& stored, const Shape& target) {
  const auto asked = element_count(Shape(target.begin(), target.end() - 2));
  const auto held = element_count(Shape(stored.begin(), stored.end() - 4));
  return !asked.has_value() || !held.has_value() || *asked != *held;
}

/// A side in the layout `to`. `from` replaces the tensor's own format.
Result<Side> converted_side(const Tensor& tensor, Format from, Format to, const Shape& target,
                            int group, const LayoutRules& rules, std::string& note) {
  Tensor source = tensor;
  source.desc.format = from;
  source.desc.sub_format = group;
  const Shape& stored = source.desc.shape;
  bool reshape = from == Format::nd || from == to || (is_image(from) && stored.size() != 4);
  if (from == Format::fractal_nz && to == Format::nd && target.size() > 2 && stored.size() >= 4 &&
      other_batch(stored, target)) {
    note = "padding of FRACTAL_NZ kept: [" + to_string(stored) + "] does not hold [" +
           to_string(target) + "]";
    reshape = true;
  }
  OPDRIFT_TRY(View view, reshape ? as_stored(source) : convert_layout(source, to, target, rules));
  Shape shape = view.shape();
  return Side{std::move(view), std::move(shape)};
}

/// NHWC and NCHW are told apart by the golden's true shape when the graph contradicts it.
Format flipped(Format format, const Shape& rule, const Shape& actual) {
  if (rule.size() != 4 || actual.size() != 4 || rule == actual) {
    return format;
  }
  const Shape as_nhwc = {actual[0], actual[2], actual[3], actual[1]};
  const Shape as_nchw = {actual[0], actual[3], actual[1], actual[2]};
  if (format == Format::nhwc && rule == as_nhwc) {
    return Format::nchw;
  }
  return format == Format::nchw && rule == as_nchw ? Format::nhwc : format;
}

Result<Format> golden_format(const Tensor& target, const Tensor& golden, const Shape& rule_shape,
                             const GoldenLayout& layout) {
  if (!format_name(target.desc.format).has_value()) {
    return Error{ErrorCode::unsupported_format,
                 "expected a known format number, found " +
                     std::to_string(static_cast<int>(target.desc.format))};
  }
  if (layout.format.empty()) {
    return target.desc.format;
  }
  const auto named = format_by_name(layout.format);
  if (!named.has_value()) {
    return Error{ErrorCode::unsupported_format,
                 "expected the name of a format, found \"" + layout.format + "\""};
  }
  return flipped(*named, rule_shape, golden.desc.shape);
}

Format destination(const Tensor& target, Format golden, bool detail) {
  if (!detail || target.desc.format == Format::fractal_z) {
    return golden;
  }
  return has_depth(target.desc.format) ? Format::ncdhw : Format::nchw;
}

/// Equal shapes but for dims of one element.
bool same_but_ones(const Shape& x, const Shape& y) {
  const auto kept = [](const Shape& shape) {
    Shape without;
    std::copy_if(shape.begin(), shape.end(), std::back_inserter(without),
                 [](std::uint64_t extent) { return extent != 1; });
    return without;
  };
  return kept(x) == kept(y);
}

/// First `count` elements in logical order.
Result<Side> flat_prefix(const Side& side, std::uint64_t count) {
  Tensor tensor = side.view.tensor;
  if (!side.view.contiguous()) {
    OPDRIFT_TRY(tensor, materialise(side.view, Format::nd));
  }
  OPDRIFT_TRY(View view, flat_view(tensor, count));
  return Side{std::move(view), {count, 1, 1, 1}};
}

Result<Side> cut_side(Side side, const Shape& wanted, const LayoutRules& rules) {
  if (side.view.axes.size() == side.shape.size()) {
    OPDRIFT_TRY(side.view, cut_to(side.view, wanted, rules));
    side.shape = side.view.shape();
    return side;
  }
  // A flat side over a strided tensor: only its length can be cut.
  const std::uint64_t count = side.shape[0];
  if (wanted.size() != 1 || wanted[0] > count) {
    return sides_differ(side.shape, wanted);
  }
  return wanted[0] == count ? Result<Side>(std::move(side)) : flat_prefix(side, wanted[0]);
}

AlignedTensors joined(Side target, Side golden, Format format, bool scalar, std::string note) {
  return {std::move(golden.view), std::move(target.view), std::move(target.shape), format, scalar,
          std::move(note)};
}

Result<AlignedTensors> align_equal_shapes(const Tensor& target, const Tensor& golden,
                                          const LayoutRules& rules) {
  if (target.desc.shape != golden.desc.shape) {
    return sides_differ(target.desc.shape, golden.desc.shape);
  }
  OPDRIFT_TRY(Side left, flat_side(target));
  OPDRIFT_TRY(Side right, flat_side(golden));
  left.shape = target.desc.shape;
  return joined(std::move(left), std::move(right), target.desc.format,
                is_scalar(target.desc.shape, rules), "");
}

struct Sides {
  Side target;
  Side golden;
};

Result<Sides> both_sides(const Tensor& target, const Tensor& golden, Format golden_layout,
                         Format to, const Shape& rule_shape, const GoldenLayout& layout,
                         bool scalar, std::string& note) {
  const Format from = target.desc.format;
  const bool stays_flat =
      (to == Format::nd && from != Format::fractal_nz && from != Format::ndc1hwc0) || scalar;
  if (stays_flat) {
    if (layout.rules.reference || scalar) {
      OPDRIFT_TRY(Side left, flat_side(target));
      OPDRIFT_TRY(Side right, flat_side(golden));
      return Sides{std::move(left), std::move(right)};
    }
    OPDRIFT_TRY(View left, as_stored(target));
    OPDRIFT_TRY(View right, as_stored(golden));
    return Sides{{left, left.shape()}, {right, right.shape()}};
  }
  const Shape& logical =
      rule_shape.empty() && !layout.rules.reference ? golden.desc.shape : rule_shape;
  const int group = target.desc.sub_format;
  OPDRIFT_TRY(Side left, converted_side(target, from, to, logical, group, layout.rules, note));
  OPDRIFT_TRY(Side right, converted_side(golden, golden_layout, to, golden.desc.shape, group,
                                         layout.rules, note));
  return Sides{std::move(left), std::move(right)};
}

/// Own rules compare equal counts of other shape in flat order, and say so.
bool flat_order_will_do(const Sides& sides, Format from, const LayoutRules& rules) {
  return !rules.reference && from == Format::nd &&
         sides.target.view.count() == sides.golden.view.count();
}

}  // namespace

bool is_scalar(const Shape& shape, const LayoutRules& rules) {
  if (rules.reference) {
    std::uint64_t sum = 0;
    for (const std::uint64_t extent : shape) {
      sum += std::min<std::uint64_t>(extent, std::uint64_t{1} << 32U);
    }
    return sum == shape.size();
  }
  return std::all_of(shape.begin(), shape.end(), [](std::uint64_t extent) { return extent == 1; });
}

Result<AlignedTensors> align_to_golden(const Tensor& target, const Tensor& golden,
                                       const GoldenLayout& layout) {
  const Shape& rule_shape =
      target.desc.original_shape.empty() ? layout.shape : target.desc.original_shape;
  if (layout.same_kind) {
    return align_equal_shapes(target, golden, layout.rules);
  }
  OPDRIFT_TRY(const Format golden_layout, golden_format(target, golden, rule_shape, layout));
  const Format from = target.desc.format;
  const bool scalar = is_scalar(target.desc.shape, layout.rules);
  const Format to = destination(target, golden_layout, layout.detail);
  std::string note;
  OPDRIFT_TRY(Sides sides,
              both_sides(target, golden, golden_layout, to, rule_shape, layout, scalar, note));
  const std::uint64_t golden_count = sides.golden.view.count();
  if (flat_order_will_do(sides, from, layout.rules)) {
    if (!same_but_ones(sides.target.shape, sides.golden.shape)) {
      note = "shapes differ, compared in flat order: target [" + to_string(sides.target.shape) +
             "], golden [" + to_string(sides.golden.shape) + "]";
    }
  } else if (from != Format::nd || (!scalar && sides.target.view.count() != golden_count)) {
    auto cut = cut_side(sides.target, sides.golden.shape, layout.rules);
    if (!cut.has_value()) {
      return sides_differ(sides.target.shape, sides.golden.shape);
    }
    sides.target = *std::move(cut);
  }
  if (sides.target.view.count() != golden_count) {
    return sides_differ(sides.target.shape, sides.golden.shape);
  }
  return joined(std::move(sides.target), std::move(sides.golden), to, scalar, std::move(note));
}

Result<AlignedTensors> align_device_pair(const Tensor& target, const Tensor& golden,
                                         const LayoutRules& rules) {
  if (target.desc.shape != golden.desc.shape) {
    return sides_differ(target.desc.shape, golden.desc.shape);
  }
  OPDRIFT_TRY(RestoredTensor left, remove_padding(target, rules));
  OPDRIFT_TRY(RestoredTensor right, remove_padding(golden, rules));
  if (left.view.count() != right.view.count()) {
    return sides_differ(left.view.shape(), right.view.shape());
  }
  std::string note = left.note;
  if (!right.note.empty() && right.note != left.note) {
    note += (note.empty() ? "" : "; ") + right.note;
  }
  const Shape shape = left.view.shape();
  return AlignedTensors{std::move(right.view),
                        std::move(left.view),
                        shape,
                        target.desc.format,
                        is_scalar(target.desc.shape, rules),
                        std::move(note)};
}

}  // namespace opdrift::tensor
