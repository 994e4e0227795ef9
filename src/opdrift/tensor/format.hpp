#pragma once

#include <optional>
#include <string_view>

namespace opdrift::tensor {

/// Memory formats by their Ascend number. Values without an enumerator occur in files and are kept
/// as numbers; see `format_name`.
enum class Format : int {
  nchw = 0,
  nhwc = 1,
  nd = 2,
  nc1hwc0 = 3,
  fractal_z = 4,
  nc1c0hwpad = 5,
  nhwc1c0 = 6,
  chwn = 14,
  hwcn = 16,
  ndhwc = 27,
  fractal_nz = 29,
  ncdhw = 30,
  dhwcn = 31,
  ndc1hwc0 = 32,
  fractal_z_3d = 33,
  dhwnc = 36,
  reserved = 40,
};

/// Name as used in options and file names ("NC1HWC0"); nothing for numbers without a name.
std::optional<std::string_view> format_name(Format format);

/// Exact, case-sensitive reverse of format_name.
std::optional<Format> format_by_name(std::string_view name);

}  // namespace opdrift::tensor
