#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opdrift/graph/api_run.hpp"
#include "opdrift/match/api_match.hpp"

/// Translations of target names into golden names.
///
///   data   name: name                                  names not listed keep themselves
///   cell   part of a module path: part of a module path
///   api    MindSpore call -> PyTorch call, with the positions of arguments and results
namespace opdrift::match {

using NamePairs = std::vector<std::pair<std::string, std::string>>;

/// Data mapping.
NameTranslation data_translation(const NamePairs& pairs);

/// Cell mapping: "Cell" becomes "Module"; the module path is looked up whole, else every listed
/// part that occurs in it is replaced once, in list order. Names that are neither calls nor
/// gradients stay unmatched.
NameTranslation cell_translation(NamePairs pairs);

/// Positions of one kind of leaves: target index -> golden index.
struct PositionPairs {
  std::vector<std::uint64_t> target;
  std::vector<std::uint64_t> golden;
};

/// One call of a user's api mapping.
struct ApiRule {
  std::string target_api;  ///< "Functional.flash_attention_score"
  std::string golden_api;
  PositionPairs inputs;
  PositionPairs outputs;
  PositionPairs parameters;
  PositionPairs parameters_grad;
};

/// Built-in names first, then the rules whose calls occur on both sides. Leaves of such a call that
/// a rule does not list stay unmatched.
NameTranslation api_translation(const graph::ApiRun& target, const graph::ApiRun& golden,
                                std::vector<ApiRule> rules);

/// The PyTorch name of a MindSpore call by the public correspondence of the two interfaces:
/// "Mint.add" -> "Torch.add". Names without a counterpart come back as they are.
std::string torch_name(std::string_view name);

}  // namespace opdrift::match
