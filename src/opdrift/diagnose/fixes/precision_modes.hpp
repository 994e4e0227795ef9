#pragma once

#include <string>
#include <string_view>

#include "opdrift/graph/atc_options.hpp"

/// What the precision options of atc mean.
namespace opdrift::diagnose::fixes {

/// A value of `--precision_mode` (version 1) or `--precision_mode_v2` (version 2).
struct PrecisionMode {
  std::string_view name;
  int version = 1;
  bool high = false;    ///< counts as the high precision run
  bool strict = false;  ///< nothing is more precise
  bool mixed = false;   ///< lists of types decide (modify_mixlist)
  bool origin = false;  ///< keeps the original types: keep_dtype has no effect
};

/// The row of a value, null for one that does not exist.
const PrecisionMode* find_precision_mode(std::string_view name, int version);

/// The mode a command chooses: precision_mode_v2 before precision_mode; null for the default
/// (float16 for everything) and for unknown values.
const PrecisionMode* chosen_precision(const graph::AtcOptions& options);

}  // namespace opdrift::diagnose::fixes
