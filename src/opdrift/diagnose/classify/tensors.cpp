#include "opdrift/diagnose/classify/tensors.hpp"

#include "opdrift/pipeline/align_pair.hpp"

namespace opdrift::diagnose::classify {

namespace {

/// Formats whose stored order is not that of any plain layout.
bool is_blocked(tensor::Format format) {
  switch (format) {
    case tensor::Format::nc1hwc0:
    case tensor::Format::ndc1hwc0:
    case tensor::Format::fractal_nz:
    case tensor::Format::fractal_z: return true;
    default: return false;
  }
}

}  // namespace

Result<InputClass> classify_tensors(const tensor::Tensor& golden, const tensor::Tensor& device) {
  if (is_blocked(golden.desc.format) || is_blocked(device.desc.format)) {
    if (const auto pair = pipeline::align_pair(golden, device)) {
      return classify_input(pair->golden, pair->target);
    }
  }
  OPDRIFT_TRY(const tensor::View golden_view, tensor::stored_view(golden));
  OPDRIFT_TRY(const tensor::View device_view, tensor::stored_view(device));
  return classify_input(golden_view, device_view);
}

}  // namespace opdrift::diagnose::classify
