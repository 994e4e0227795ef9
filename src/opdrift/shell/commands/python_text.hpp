#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "opdrift/base/text.hpp"
#include "opdrift/graph/table_text.hpp"

/// Lists as Python prints them: [1, 2] and ['a', 'b'].
namespace opdrift::shell {

inline std::string python_list(const std::vector<std::int64_t>& numbers) {
  std::vector<std::string> parts;
  for (const std::int64_t number : numbers) {
    parts.push_back(std::to_string(number));
  }
  return "[" + join(parts, ", ") + "]";
}

inline std::string python_list(const std::vector<std::string>& texts) {
  std::vector<std::string> parts;
  for (const std::string& text : texts) {
    parts.push_back(graph::python_repr(text));
  }
  return "[" + join(parts, ", ") + "]";
}

}  // namespace opdrift::shell
