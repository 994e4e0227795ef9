#pragma once

#include <string>
#include <vector>

#include "opdrift/diagnose/offline/device_run.hpp"
#include "opdrift/diagnose/offline/failure.hpp"
#include "opdrift/graph/graph.hpp"

namespace opdrift::diagnose::offline {

/// An offline model, or its graph, opened.
struct DeviceModel {
  std::string path;
  graph::Graph graph;

  /// True when its first operators turn an image into the input (AIPP).
  bool image() const;
  /// True when its operators stand in one sub-graph per gear.
  bool has_gears() const;
  /// Of the model and of the graphs it calls, for the list of what to dump.
  std::vector<std::string> names() const;
};

/// Reads the graph with its attributes. Fails with json_parse or bad_data for a damaged file.
Outcome<DeviceModel> open_device_model(const std::string& path);

/// Writes `<folder>/<stem>.json`, the graph as atc --mode=1 renders it, unless it is there already.
/// Nothing for a model that is such a file itself.
Done write_graph_json(const std::string& model, const std::string& folder);

/// A path from the root, without "." and "..".
std::string absolute_path(const std::string& path);

/// A run of `model`, with dumps in `folder`; `shapes` as in --input-shape. Fails as dynamic_words.
Outcome<DeviceStep> device_step(const DeviceModel& model, const std::string& shapes,
                                const std::string& output_sizes, const std::string& folder);

}  // namespace opdrift::diagnose::offline
