#pragma once

#include <string>
#include <vector>

#include "opdrift/base/result.hpp"

/// Many models at once: dumps below a folder named by a time stamp, graphs in a folder.
///
///   <digits>/<device>/<model>/<model_id>/<step>/<dump files>
///   <graphs>/*.json (*.om where there is none), each with graph[].name = a model
///
/// Models and graphs are matched by name (match/model_match.hpp). Of the steps of a model the
/// largest by text order is taken.
namespace opdrift::pipeline {

/// One comparison of a batch.
struct BatchItem {
  std::string graph_json;
  std::string dump_folder;    ///< the step's folder
  std::string result_prefix;  ///< "<device>_<model>_<step>_"
};

struct Batch {
  std::vector<BatchItem> items;  ///< by json, then by folder
  std::vector<std::string> warnings;
};

/// Fails with not_found when the target folder is not named by digits, the layout below it is
/// another, or nothing matches; with bad_json when a graph cannot be read.
Result<Batch> find_batch(const std::string& target_path, const std::string& graph_folder);

}  // namespace opdrift::pipeline
