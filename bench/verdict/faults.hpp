#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "network.hpp"
#include "numbers.hpp"
#include "target.hpp"

/// Planted faults: each replaces the output of one operator in a clean run.
namespace opdrift::evaluation {

/// An operator to be harmed: its first output, clean.
struct FaultSite {
  const Network& network;
  Target& target;
  const Values& values;  ///< the clean run
  std::size_t op = 0;
  Random& random;

  ValueId output() const { return network.problem().operators[op].outputs[0]; }
  const tensor::Tensor& clean() const { return *values[output()]; }
};

struct FaultKind {
  std::string_view name;
  std::string_view what;
  bool subtle = false;  ///< one of the three kinds tried beside the twenty
  /// The harmed output before it is stored; nothing where the kind does not apply.
  std::optional<std::vector<float>> (*make)(FaultSite& site, std::vector<float> clean);
};

std::span<const FaultKind> fault_kinds();

/// `kind` at `site`, rounded to what the target stores; nothing where it does not apply or changes
/// nothing.
std::optional<tensor::Tensor> plant(const FaultKind& kind, FaultSite& site);

/// The operator nearest to `spot` (0 to 1 of the way through the network) at which the kind takes
/// effect and that is not yet in `used`, with the harmed tensor.
struct PlantedFault {
  std::size_t op = 0;
  tensor::Tensor harmed;
};
std::optional<PlantedFault> plant_near(const FaultKind& kind, double spot, const Network& network,
                                       Target& target, const Values& values, Random& random,
                                       std::span<const std::size_t> used);

}  // namespace opdrift::evaluation
