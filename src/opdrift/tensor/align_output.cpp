#include <algorithm>
#include <string>
#include <utility>

#include "opdrift/tensor/align.hpp"
#include "opdrift/tensor/block_axes.hpp"
#include "opdrift/tensor/cut.hpp"

namespace opdrift::tensor {

namespace {

/// True when joining the axes of the unfolded view needs no copy: NumPy then keeps looking at the
/// stored bytes, and a result in column-major order is saved as such.
bool joined_without_copy(const View& view) {
  return std::all_of(view.axes.begin(), view.axes.end(),
                     [](const AxisMap& axis) { return block_axis(axis).plain(); });
}

/// The reference takes every bit of a uint1 payload for an element.
Status bits_fill(const Tensor& tensor, const View& view, const LayoutRules& rules) {
  if (rules.reference && tensor.desc.dtype == DType::u1 &&
      view.count() != tensor.bytes.size() * 8) {
    return Error{ErrorCode::malformed, "expected " + std::to_string(view.count()) +
                                           " bits, found " + std::to_string(tensor.bytes.size()) +
                                           " bytes"};
  }
  return Unit{};
}

Format restored_format(const TensorDesc& desc, const LayoutRules& rules) {
  const std::size_t rank = desc.original_shape.size();
  if (rank == 4) {
    return Format::nchw;
  }
  if (rank == 2 || rank == 3) {
    return Format::nd;
  }
  if (!rules.reference && rank > 0 && desc.format == Format::fractal_nz) {
    return Format::nd;
  }
  return !rules.reference && rank == 5 && desc.format == Format::ndc1hwc0 ? Format::ncdhw
                                                                          : desc.format;
}

/// As many whole elements as the bytes hold.
Result<View> all_elements(const Tensor& tensor) {
  const std::uint64_t bits = info(tensor.desc.dtype).bits;
  const std::uint64_t bytes = tensor.bytes.size();
  return flat_view(tensor, bits == 0 ? 0 : bytes / bits * 8 + bytes % bits * 8 / bits);
}

void cut_restored(RestoredTensor& restored, const TensorDesc& desc, Format to, bool converted,
                  const LayoutRules& rules) {
  if (desc.original_shape.empty()) {
    return;
  }
  auto cut = converted && !rules.reference
                 ? cut_to_original(restored.view, desc, to, desc.original_shape, false)
                 : cut_to(restored.view, desc.original_shape, rules);
  if (cut.has_value()) {
    restored.view = *std::move(cut);
  } else if (restored.note.empty() &&
             element_count(desc.original_shape).value_or(0) != restored.view.count()) {
    restored.note = "padding kept: " + cut.error().message;
  }
}

}  // namespace

Result<ConvertedTensor> convert_for_output(const Tensor& tensor, const OutputRequest& request) {
  Tensor source = tensor;
  if (!format_name(source.desc.format).has_value()) {
    return Error{ErrorCode::unsupported_format,
                 "expected a known format number, found " +
                     std::to_string(static_cast<int>(source.desc.format))};
  }
  source.desc.format = effective_format(source.desc);
  const bool of_user = !request.target_shape.empty();
  const Shape& target = of_user ? request.target_shape : source.desc.original_shape;
  const bool convert = source.desc.format != request.format;
  if (source.desc.format == Format::fractal_nz) {
    OPDRIFT_CHECK_OK(check_nz_window(source.desc.shape, target, request.rules));
  }
  ConvertedTensor result;
  OPDRIFT_TRY(result.view, convert_layout(source, request.format, target, request.rules));
  OPDRIFT_CHECK_OK(bits_fill(source, result.view, request.rules));
  const bool untouched = convert && joined_without_copy(result.view);
  if (convert && !target.empty()) {
    auto cut = request.rules.reference
                   ? cut_to(result.view, target, request.rules)
                   : cut_to_original(result.view, source.desc, request.format, target, of_user);
    result.crop_failed = !cut.has_value();
    if (cut.has_value()) {
      result.view = *std::move(cut);
    } else {
      result.crop_problem = cut.error().message;
    }
  }
  result.fortran_order = untouched && column_major(result.view);
  return result;
}

Result<RestoredTensor> remove_padding(const Tensor& tensor, const LayoutRules& rules) {
  Tensor source = tensor;
  source.desc.format = effective_format(source.desc);
  const Format to = restored_format(source.desc, rules);
  LayoutRules unchecked = rules;
  unchecked.check_nz_window = false;
  RestoredTensor restored;
  auto stored = stored_view(source);
  if (!stored.has_value()) {
    OPDRIFT_TRY(restored.view, all_elements(source));
    restored.note = "shape left aside: " + stored.error().message;
    return restored;
  }
  restored.view = *std::move(stored);
  const bool convert = to != source.desc.format && conversion_exists(source.desc.format, to);
  bool converted = false;
  if (convert) {
    auto view = convert_layout(source, to, source.desc.original_shape, unchecked);
    converted = view.has_value();
    if (converted) {
      restored.view = *std::move(view);
    } else {
      restored.note = "padding kept: " + view.error().message;
    }
  }
  cut_restored(restored, source.desc, to, converted, rules);
  return restored;
}

}  // namespace opdrift::tensor
