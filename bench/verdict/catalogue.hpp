#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "network.hpp"

#include "opdrift/base/result.hpp"
#include "opdrift/engine/onnxruntime.hpp"

/// The networks of the evaluation and what they are fed with.
namespace opdrift::evaluation {

/// How a network stands to the rule.
enum class Group : std::uint8_t {
  shaped,  ///< the rule was shaped on it
  held,    ///< the rule was tried on it once, when it was written down
  unseen,  ///< taken up with this evaluation
  built,   ///< the same, made here with random weights
};

std::string_view to_string(Group group);

struct CatalogueEntry {
  std::string_view name;
  Group group = Group::unseen;
  std::string_view what;  ///< one phrase for the reader
  Result<std::unique_ptr<Network>> (*open)(engine::Runtime& runtime, const std::string& models);
  /// False where another network of the same kind stands for it in the trials with faults.
  bool faults = true;
};

/// Largest networks first, so that two workers end together. `models` is the folder into which
/// tools/setup.sh unpacks the packages.
std::span<const CatalogueEntry> catalogue();

}  // namespace opdrift::evaluation
