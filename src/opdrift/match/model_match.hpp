#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// Finds the dump folders that belong to the graphs of several models:
///
///   a graph and a folder match   when their names are equal, or else, for a graph whose name no
///                                folder has, when both names have exactly two runs of digits and
///                                the second runs agree
namespace opdrift::match {

struct ModelPair {
  std::size_t graph = 0;   ///< position in the list of graph names
  std::size_t folder = 0;  ///< position in the list of folder names
  bool by_number = false;  ///< only the second number agrees
};

std::vector<ModelPair> match_models(std::span<const std::string> graph_names,
                                    std::span<const std::string> folder_names);

/// The second run of digits when the name has exactly two.
std::optional<std::string> second_number(const std::string& name);

}  // namespace opdrift::match
