#pragma once

#include <string_view>

#include "opdrift/base/text.hpp"
#include "opdrift/shell/graph/neighbours.hpp"

namespace opdrift::shell {

/// Colour of an operator's box by its lowest cosine; "" when nothing is known of it. Results name
/// operators as the graph does, or with "/" read as "_".
inline std::string_view fill_of(const Node& node, const Verdicts& verdicts) {
  constexpr double kLimit = 0.98;
  auto found = verdicts.find(node.name);
  if (found == verdicts.end()) {
    found = verdicts.find(replace_all(node.name, "/", "_"));
  }
  if (found == verdicts.end()) {
    return {};
  }
  return found->second > kLimit ? "#c6efce" : "#f8a5a5";
}

}  // namespace opdrift::shell
