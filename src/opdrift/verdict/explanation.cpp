#include "opdrift/verdict/explanation.hpp"

namespace opdrift::verdict {

std::string_view to_string(ExplanationKind value) {
  switch (value) {
    case ExplanationKind::clamped: return "clamped";
    case ExplanationKind::rounded: return "rounded";
    case ExplanationKind::truncated: return "truncated";
    case ExplanationKind::scaled: return "scaled";
    case ExplanationKind::offset: return "offset";
    case ExplanationKind::affine: return "affine";
    case ExplanationKind::channel_affine: return "channel_affine";
    case ExplanationKind::permuted: return "permuted";
    case ExplanationKind::reversed_channels: return "reversed_channels";
    case ExplanationKind::swapped_channels: return "swapped_channels";
    case ExplanationKind::shifted: return "shifted";
    case ExplanationKind::cropped: return "cropped";
    case ExplanationKind::swapped_rows: return "swapped_rows";
    case ExplanationKind::padding_only: return "padding_only";
    case ExplanationKind::other_tensor: return "other_tensor";
    case ExplanationKind::overwritten: return "overwritten";
    case ExplanationKind::zero: return "zero";
    case ExplanationKind::constant: return "constant";
    case ExplanationKind::half_accumulation: return "half_accumulation";
    case ExplanationKind::other_function: return "other_function";
  }
  return "";
}

}  // namespace opdrift::verdict
