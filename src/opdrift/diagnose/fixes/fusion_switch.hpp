#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opdrift/base/result.hpp"

/// The file of `--fusion_switch_file`:
///
///   { "Switch": { "GraphFusion": { PASS: "on"|"off", … }, "UBFusion": { … } } }
///   or lines   PASS ":" ("on"|"off")
///
/// The pass ALL stands for every pass that can be switched; others beside it are exceptions.
namespace opdrift::diagnose::fixes {

/// A pass and whether it is on.
using PassSwitch = std::pair<std::string, bool>;

struct FusionSwitch {
  std::vector<PassSwitch> graph;
  std::vector<PassSwitch> ub;  ///< left out of the file when empty: not every product has these
};

/// Everything off, but for `keep`.
FusionSwitch all_fusion_off(const std::vector<std::string>& keep = {}, bool ub = true);

/// Only these passes off. Names that begin with Tbe, or hold UB, are fusions in the unified buffer.
FusionSwitch passes_off(const std::vector<std::string>& passes);

/// Which products a quantised model runs on.
enum class QuantProduct : std::uint8_t { any, training, inference };

/// Passes that have to be off for quantised models to be compared operator by operator.
std::vector<std::string> quantised_passes(QuantProduct product);

std::string write_fusion_switch(const FusionSwitch& fusion);
/// The value of `--optimization_switch`: "A:off;B:off".
std::string optimization_switch(const FusionSwitch& fusion);

/// Either form; the lines count as graph fusion. Fails with malformed.
Result<FusionSwitch> parse_fusion_switch(std::string_view text);

}  // namespace opdrift::diagnose::fixes
