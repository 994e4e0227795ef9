#include "opdrift/pipeline/network/align.hpp"

#include <optional>
#include <utility>

#include "opdrift/tensor/align.hpp"

namespace opdrift::pipeline {

namespace {

Aligned from(tensor::AlignedTensors tensors) {
  Aligned aligned;
  aligned.pair = {std::move(tensors.golden), std::move(tensors.target)};
  aligned.shown_shape = std::move(tensors.shape);
  aligned.format = tensors.format;
  aligned.scalar = tensors.scalar;
  aligned.remark = std::move(tensors.note);
  return aligned;
}

/// The algorithms call a tensor scalar by the shape it is compared in; empty tensors keep theirs.
Aligned from_graph(const tensor::Tensor& target, tensor::AlignedTensors tensors,
                   const tensor::LayoutRules& rules) {
  if (tensors.target.count() == 0) {
    tensors.shape = target.desc.shape;
  }
  tensors.scalar = tensor::is_scalar(tensors.shape, rules);
  return from(std::move(tensors));
}

/// Both sides without their padding; nothing when that does not give equal shapes.
std::optional<Aligned> without_padding(const tensor::Tensor& target, const tensor::Tensor& golden) {
  auto left = tensor::remove_padding(target);
  auto right = tensor::remove_padding(golden);
  if (!left.has_value() || !right.has_value() || left->view.shape() != right->view.shape()) {
    return std::nullopt;
  }
  Aligned aligned;
  aligned.shown_shape = left->view.shape();
  aligned.pair = {std::move(right->view), std::move(left->view)};
  aligned.scalar = tensor::is_scalar(target.desc.shape, {});
  return aligned;
}

/// A device dump tells its layout itself; what the graph says is about the original model.
std::string golden_format(const tensor::Tensor& golden, const AlignRequest& request) {
  if (golden.desc.format == tensor::Format::reserved) {
    return request.golden_format;
  }
  const auto name = tensor::format_name(golden.desc.format);
  return name ? std::string(*name) : "";
}

}  // namespace

Result<Aligned> align_rows(const tensor::Tensor& target, const tensor::Tensor& golden,
                           const AlignRequest& request) {
  const tensor::LayoutRules rules{request.reference};
  if (request.kind == AlignKind::device) {
    OPDRIFT_TRY(tensor::AlignedTensors tensors, tensor::align_device_pair(target, golden, rules));
    return from(std::move(tensors));
  }
  if (request.kind == AlignKind::unfused && !request.reference) {
    if (std::optional<Aligned> aligned = without_padding(target, golden)) {
      return *std::move(aligned);
    }
  }
  tensor::GoldenLayout layout;
  layout.format = golden_format(golden, request);
  layout.shape = request.golden_shape;
  layout.detail = request.kind == AlignKind::detail;
  layout.same_kind = request.kind == AlignKind::same_shape;
  layout.rules = rules;
  Result<tensor::AlignedTensors> tensors = tensor::align_to_golden(target, golden, layout);
  // The reference multiplies the leading dims of FRACTAL_NZ into one and then finds that they do
  // not fit; nobody depends on a comparison it refuses.
  if (!tensors.has_value() && request.reference &&
      target.desc.format == tensor::Format::fractal_nz) {
    layout.rules.reference = false;
    Result<tensor::AlignedTensors> kept = tensor::align_to_golden(target, golden, layout);
    if (kept.has_value()) {
      return from_graph(target, *std::move(kept), rules);
    }
  }
  if (!tensors.has_value()) {
    return tensors.error();
  }
  return from_graph(target, *std::move(tensors), rules);
}

}  // namespace opdrift::pipeline
