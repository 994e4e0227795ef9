#pragma once

#include <optional>
#include <string_view>

#include "opdrift/base/text.hpp"
#include "opdrift/shell/graph/neighbours.hpp"

/// What the newest results say of an operator. They name operators as the graph does, or with "/"
/// read as "_".
namespace opdrift::shell {

/// At or below it an output is bad.
inline constexpr double kBadCosine = 0.98;

/// The lowest cosine of its outputs; nothing when it is in no result.
inline std::optional<double> lowest_cosine(std::string_view name, const Verdicts& verdicts) {
  auto found = verdicts.find(std::string(name));
  if (found == verdicts.end()) {
    found = verdicts.find(replace_all(name, "/", "_"));
  }
  return found == verdicts.end() ? std::nullopt : std::optional(found->second);
}

/// A NaN is bad, whatever the limit.
inline bool is_bad_cosine(double cosine, double limit) {
  return !(cosine > limit);
}

/// Colour of an operator's box; "" when nothing is known of it.
inline std::string_view fill_of(const Node& node, const Verdicts& verdicts) {
  const std::optional<double> cosine = lowest_cosine(node.name, verdicts);
  return !cosine ? std::string_view() : is_bad_cosine(*cosine, kBadCosine) ? "#f8a5a5" : "#c6efce";
}

}  // namespace opdrift::shell
