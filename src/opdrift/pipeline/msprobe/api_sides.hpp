#pragma once

#include <optional>
#include <string>

#include "opdrift/base/result.hpp"
#include "opdrift/graph/api_run.hpp"
#include "opdrift/io/msprobe/call_stacks.hpp"
#include "opdrift/match/api_match.hpp"
#include "opdrift/pipeline/msprobe/api_options.hpp"
#include "opdrift/verdict/api_rules.hpp"

namespace opdrift::pipeline {

/// Which rules the frameworks of the two sides ask for.
enum class FrameworkRules : std::uint8_t { pytorch, mindspore, cross };

/// Two runs, read and matched.
struct ApiSides {
  graph::ApiRun target;
  graph::ApiRun golden;
  std::optional<io::CallStacks> stacks;  ///< of the target
  match::ApiMatch match;
  verdict::RowMode mode = verdict::RowMode::statistics;
  FrameworkRules rules = FrameworkRules::pytorch;
  bool debug = false;  ///< debug.json
};

/// Reads two json files and pairs their leaves. Fails when a file cannot be read, when tasks or
/// frameworks do not fit each other, or when a mapping cannot be used.
Result<ApiSides> open_api_sides(const std::string& target_json, const std::string& golden_json,
                                const ApiCompareOptions& options);

}  // namespace opdrift::pipeline
