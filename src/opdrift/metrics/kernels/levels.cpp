#include "opdrift/metrics/kernels/levels.hpp"

#include <cstdlib>
#include <string>
#include <vector>

#include "opdrift/base/text.hpp"
#include "opdrift/metrics/kernels/vector_kernels.hpp"

namespace opdrift::metrics::kernels {

std::span<const Level> available_levels() {
  static const std::vector<Level> kLevels = [] {
    std::vector<Level> all = {{"scalar", nullptr}};
    for (const Level& level : vector_levels()) {
      all.push_back(level);
    }
    return all;
  }();
  return kLevels;
}

const Level& choose_level(std::string_view name) {
  const std::string wanted = to_lower(name);
  for (const Level& level : available_levels()) {
    if (level.name == wanted) {
      return level;
    }
  }
  return available_levels().back();
}

const Level& default_level() {
  static const Level& level = [&]() -> const Level& {
    const char* name = std::getenv("OPDRIFT_CPU");  // NOLINT(concurrency-mt-unsafe)
    return choose_level(name == nullptr ? "" : name);
  }();
  return level;
}

}  // namespace opdrift::metrics::kernels
