#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "opdrift/graph/api_run.hpp"
#include "opdrift/match/api_mapping.hpp"

/// Pairs of leaves from the module trees of two frameworks.
///
/// Every call has a scope, a path in a tree:
///
///   scope = layer "." [frame function "."] api
///   layer = name of the module without class and call; for plain functions that of the module they
///           ran in, "TopLayer" outside of all modules
///   frame function = function of the last of the framework's own lines that begin the call stack
///
/// A target scope is walked from the root. At a node of class T the rules under T say which golden
/// parts stand for the next target parts; parts without a rule keep their name. Calls of the node
/// reached pair by direction and order, their leaves by equal ends of their names.
namespace opdrift::match {

/// What is known about the calls of one side besides dump.json.
struct CallContext {
  std::unordered_map<std::string_view, std::string_view> parent_of;  ///< "" for none
  std::function<const std::vector<std::string_view>*(std::string_view)> stack_of;
};

/// Rules by class: target part(s) -> golden part(s), "a.b: c". The class "Cell" stands for the top.
using LayerRules = std::map<std::string, NamePairs>;

/// Every target leaf with its golden leaf, "N/A" where there is none; target order.
NamePairs map_layers(const graph::ApiRun& target, const CallContext& target_context,
                     const graph::ApiRun& golden, const CallContext& golden_context,
                     const LayerRules& rules);

}  // namespace opdrift::match
