#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace opdrift::cli {

/// `compare TARGET GOLDEN --compat`: the tables of the tool that made such dumps, and nothing else.
struct CompatRequest {
  std::string target;
  std::string golden;
  std::vector<std::string> graphs;
  std::string output;  ///< "" for that tool's default
  std::size_t jobs = 0;
};

/// Hands the pair to the front end of that tool: msprobe for torchair and dump.json runs, msaccucmp
/// for everything else. Returns the front end's exit code.
int compare_as_reference(const CompatRequest& request);

}  // namespace opdrift::cli
