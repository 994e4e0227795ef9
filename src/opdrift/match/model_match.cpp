#include "opdrift/match/model_match.hpp"

namespace opdrift::match {

std::optional<std::string> second_number(const std::string& name) {
  std::vector<std::string> runs;
  bool inside = false;
  for (const char c : name) {
    const bool digit = c >= '0' && c <= '9';
    if (digit && !inside) {
      runs.emplace_back();
    }
    if (digit) {
      runs.back() += c;
    }
    inside = digit;
  }
  return runs.size() == 2 ? std::optional(runs[1]) : std::nullopt;
}

std::vector<ModelPair> match_models(std::span<const std::string> graph_names,
                                    std::span<const std::string> folder_names) {
  std::vector<ModelPair> pairs;
  for (std::size_t graph = 0; graph < graph_names.size(); ++graph) {
    const std::size_t before = pairs.size();
    for (std::size_t folder = 0; folder < folder_names.size(); ++folder) {
      if (folder_names[folder] == graph_names[graph]) {
        pairs.push_back({graph, folder, false});
      }
    }
    const std::optional<std::string> number = second_number(graph_names[graph]);
    if (pairs.size() != before || !number) {
      continue;
    }
    for (std::size_t folder = 0; folder < folder_names.size(); ++folder) {
      if (second_number(folder_names[folder]) == number) {
        pairs.push_back({graph, folder, true});
      }
    }
  }
  return pairs;
}

}  // namespace opdrift::match
