#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "opdrift/graph/graph.hpp"

namespace opdrift::graph::testing {

namespace fs = std::filesystem;

/// Folder of shared fixtures of that area; empty when it is not there.
inline fs::path fixtures_of(const std::string& area) {
  const char* set = std::getenv("OPDRIFT_SHARED");
  const fs::path shared =
      set != nullptr ? fs::path(set) : fs::path(OPDRIFT_SOURCE_DIR) / ".." / "shared";
  const fs::path folder = shared / "fixtures" / area;
  return fs::exists(folder) ? folder : fs::path();
}

inline nlohmann::json read_json(const fs::path& path) {
  std::ifstream file(path);
  return nlohmann::json::parse(file);
}

inline nlohmann::json to_json(const Attribute& attribute) {
  return {static_cast<int>(attribute.kind), attribute.integers, attribute.reals, attribute.texts};
}

inline nlohmann::json to_json(const std::map<std::string, Attribute>& attributes) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [key, attribute] : attributes) {
    json[key] = to_json(attribute);
  }
  return json;
}

/// The same JSON with arrays of {"key", "value"} sorted by key: their order says nothing.
inline nlohmann::json with_sorted_maps(nlohmann::json json) {
  for (nlohmann::json& part : json) {
    if (part.is_structured()) {
      part = with_sorted_maps(part);
    }
  }
  const auto is_entry = [](const nlohmann::json& part) {
    return part.is_object() && part.contains("key");
  };
  if (json.is_array() && std::all_of(json.begin(), json.end(), is_entry)) {
    std::sort(json.begin(), json.end(),
              [](const nlohmann::json& a, const nlohmann::json& b) { return a["key"] < b["key"]; });
  }
  return json;
}

/// Everything of an operator that a reader fills in.
inline nlohmann::json to_json(const Operator& op) {
  nlohmann::json inputs = nlohmann::json::array();
  for (const InputRef& input : op.inputs) {
    inputs.push_back({input.text, input.producer, input.index, input.well_formed});
  }
  nlohmann::json outputs = nlohmann::json::array();
  for (const OutputDesc& output : op.outputs) {
    outputs.push_back({output.dtype, output.format, output.shape, output.origin_name,
                       output.origin_index.value_or(-1), output.origin_format, output.origin_shape,
                       output.described});
  }
  nlohmann::json descs = nlohmann::json::array();
  for (const InputDesc& desc : op.input_descs) {
    descs.push_back({desc.dtype, desc.format, desc.dims, desc.ranges});
  }
  return {{"name", op.name},
          {"type", op.type},
          {"id", op.id},
          {"inputs", inputs},
          {"outputs", outputs},
          {"descs", descs},
          {"originals", op.original_names},
          {"attributes", to_json(op.attributes)},
          {"l1", op.l1_fusion_group},
          {"flags", {op.multi_op, op.device_only, op.originals_given}},
          {"graph", op.graph},
          {"subgraphs", op.subgraphs}};
}

inline nlohmann::json to_json(const Graph& graph) {
  nlohmann::json operators = nlohmann::json::array();
  for (const Operator& op : graph.operators) {
    operators.push_back(to_json(op));
  }
  return {{"name", graph.name},
          {"graphs", graph.graph_names},
          {"operators", operators},
          {"attributes", to_json(graph.attributes)}};
}

}  // namespace opdrift::graph::testing
