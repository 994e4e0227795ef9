#include "opdrift/diagnose/fixes/precision_modes.hpp"

#include <algorithm>
#include <iterator>

namespace opdrift::diagnose::fixes {

namespace {

constexpr PrecisionMode kModes[] = {
    {.name = "force_fp32", .version = 1, .high = true, .strict = true},
    {.name = "cube_fp16in_fp32out", .version = 1, .high = true},
    {.name = "must_keep_origin_dtype", .version = 1, .high = true, .strict = true, .origin = true},
    {.name = "allow_fp32_to_fp16", .version = 1, .high = true},
    {.name = "allow_mix_precision", .version = 1, .mixed = true},
    {.name = "allow_mix_precision_fp16", .version = 1, .mixed = true},
    {.name = "allow_mix_precision_bf16", .version = 1, .mixed = true},
    {.name = "allow_fp32_to_bf16", .version = 1},
    {.name = "force_fp16", .version = 1},
    {.name = "origin", .version = 2, .high = true, .strict = true, .origin = true},
    {.name = "cube_fp16in_fp32out", .version = 2, .high = true},
    {.name = "mixed_float16", .version = 2, .mixed = true},
    {.name = "mixed_bfloat16", .version = 2, .mixed = true},
    {.name = "mixed_hif8", .version = 2, .mixed = true},
    {.name = "cube_hif8", .version = 2},
    {.name = "fp16", .version = 2},
};

}  // namespace

const PrecisionMode* find_precision_mode(std::string_view name, int version) {
  const auto* const found = std::find_if(
      std::begin(kModes), std::end(kModes),
      [&](const PrecisionMode& mode) { return mode.name == name && mode.version == version; });
  return found == std::end(kModes) ? nullptr : found;
}

const PrecisionMode* chosen_precision(const graph::AtcOptions& options) {
  if (const auto second = options.get("precision_mode_v2")) {
    return find_precision_mode(*second, 2);
  }
  const auto first = options.get("precision_mode");
  return first ? find_precision_mode(*first, 1) : nullptr;
}

}  // namespace opdrift::diagnose::fixes
