#include "opdrift/graph/api_run.hpp"

namespace opdrift::graph {

namespace {

/// Start of the last part, and of the one before it (npos when there is none).
struct LastParts {
  std::size_t last = 0;
  std::size_t before = std::string_view::npos;
};

LastParts last_parts(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) {
    return {};
  }
  const std::size_t earlier = dot == 0 ? std::string_view::npos : name.rfind('.', dot - 1);
  return {dot + 1, earlier == std::string_view::npos ? 0 : earlier + 1};
}

bool has_part(std::string_view name, const LastParts& parts, std::string_view word) {
  if (name.substr(parts.last) == word) {
    return true;
  }
  return parts.before != std::string_view::npos &&
         name.substr(parts.before, parts.last - 1 - parts.before) == word;
}

void cut_at(std::string_view name, std::size_t call_start, CallDirection direction,
            ApiEntry& entry) {
  if (call_start == 0 || call_start == std::string_view::npos) {
    return;
  }
  entry.prefix = name.substr(0, call_start - 1);
  entry.call = name.substr(call_start);
  entry.direction = direction;
}

}  // namespace

std::string_view to_string(LeafRole role) {
  switch (role) {
    case LeafRole::input: return "input";
    case LeafRole::output: return "output";
    case LeafRole::parameters: return "parameters";
    case LeafRole::parameters_grad: return "parameters_grad";
    case LeafRole::debug: return "debug";
  }
  return "input";
}

void split_api_name(std::string_view name, ApiEntry& entry) {
  entry.prefix = {};
  entry.call = {};
  entry.direction = CallDirection::none;
  const LastParts parts = last_parts(name);
  if (has_part(name, parts, "parameters_grad")) {
    cut_at(name, parts.last, CallDirection::parameters_grad, entry);
  } else if (has_part(name, parts, "forward")) {
    cut_at(name, parts.before, CallDirection::forward, entry);
  } else if (has_part(name, parts, "backward")) {
    cut_at(name, parts.before, CallDirection::backward, entry);
  }
}

}  // namespace opdrift::graph
