#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/result.hpp"

namespace opdrift::io {

struct YamlMember;

/// One value of a YAML document. Scalars are kept as their text; `plain` tells `null` from
/// `'null'`.
struct YamlNode {
  enum class Kind { scalar, list, map };
  Kind kind = Kind::scalar;
  std::string text;
  bool plain = false;  ///< a scalar without quotes
  std::vector<YamlNode> items;
  std::vector<YamlMember> members;  ///< file order; a repeat replaces

  const YamlNode* find(std::string_view key) const;
  /// An absent value: empty, ~ or null, without quotes.
  bool is_null() const;
};

/// An entry of a mapping.
struct YamlMember {
  std::string name;
  YamlNode value;
};

/// Reads the first document of a file: mappings, lists and scalars, no tags; aliases are refused.
/// Fails with `malformed` and the line, or `limit` beyond 64 levels or 1 GiB.
Result<YamlNode> read_yaml(const std::string& path);

}  // namespace opdrift::io
