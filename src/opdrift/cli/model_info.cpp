#include "opdrift/cli/model_info.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "opdrift/base/text.hpp"
#include "opdrift/graph/model_facts.hpp"
#include "opdrift/graph/om/inout_info.hpp"
#include "opdrift/graph/om/model_graph.hpp"
#include "opdrift/io/model_file.hpp"

namespace opdrift::cli {

namespace {

using Json = nlohmann::ordered_json;

std::string hex(std::uint64_t number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(number));
  return text.data();
}

Json json_of(const graph::OmFile& file) {
  Json partitions = Json::array();
  for (const graph::OmPartition& partition : file.partitions) {
    partitions.push_back({{"table", partition.table},
                          {"type", graph::partition_name(partition.type, file.header.mobile)},
                          {"offset", partition.offset},
                          {"bytes", partition.size}});
  }
  return {{"name", file.header.name},
          {"type", graph::model_type_name(file.header.model_type, file.header.mobile)},
          {"version", hex(file.header.version)},
          {"platform_version", file.header.platform_version},
          {"dynamic", file.header.dynamic},
          {"table_entry_bytes", file.entry_bytes()},
          {"bytes", file.bytes.size()},
          {"partitions", std::move(partitions)}};
}

Json json_of(const graph::InoutTensor& tensor) {
  Json json = {{"name", tensor.name},
               {"dtype", tensor.dtype},
               {"format", tensor.format},
               {"dims", tensor.dims},
               {"bytes", tensor.bytes}};
  if (!tensor.dims_before_aipp.empty() && tensor.dims_before_aipp != tensor.dims) {
    json["dims_before_aipp"] = tensor.dims_before_aipp;
  }
  if (!tensor.ranges.empty()) {
    json["ranges"] = tensor.ranges;
  }
  return json;
}

Json json_of(const graph::NetTensor& tensor) {
  Json json = {{"name", tensor.name},
               {"dtype", tensor.desc.dtype.starts_with("DT_") ? tensor.desc.dtype.substr(3)
                                                              : tensor.desc.dtype},
               {"format", tensor.desc.format},
               {"dims", tensor.desc.dims},
               {"bytes", tensor.bytes ? Json(*tensor.bytes) : Json(nullptr)}};
  if (!tensor.desc.ranges.empty()) {
    json["ranges"] = tensor.desc.ranges;
  }
  return json;
}

template <typename Tensors>
Json json_of_all(const Tensors& tensors) {
  Json json = Json::array();
  for (const auto& tensor : tensors) {
    json.push_back(json_of(tensor));
  }
  return json;
}

/// Inputs and outputs from the partition made for that, or from the graph where there is none.
void add_tensors(const graph::Graph& model, const std::optional<graph::InoutInfo>& inout,
                 Json& json) {
  if (inout && !(inout->inputs.empty() && inout->outputs.empty())) {
    json["inputs"] = json_of_all(inout->inputs);
    json["outputs"] = json_of_all(inout->outputs);
    return;
  }
  json["inputs"] = json_of_all(graph::net_inputs(model));
  Json outputs = json_of_all(graph::net_outputs(model));
  const std::vector<graph::NetOutputName> names = graph::net_output_names(model);
  for (std::size_t i = 0; i < std::min(outputs.size(), names.size()); ++i) {
    outputs[i]["original"] = names[i].text;
  }
  json["outputs"] = std::move(outputs);
}

void add_dynamic(const graph::DynamicInputs& dynamic, const std::optional<graph::InoutInfo>& inout,
                 Json& json) {
  json["dynamic"] = nullptr;
  if (dynamic.kind != graph::DynamicInputs::Kind::fixed) {
    json["dynamic"] = {{"kind", std::string(graph::to_string(dynamic.kind))},
                       {"values", dynamic.values},
                       {"gears", dynamic.gears()}};
  } else if (inout && !inout->batch_gears.empty()) {
    json["dynamic"] = {{"kind", "batch"}, {"gears", inout->batch_gears}};
  } else if (inout && !inout->image_gears.empty()) {
    json["dynamic"] = {{"kind", "image"}, {"gears", inout->image_gears}};
  } else if (inout && !inout->dims_gears.empty()) {
    json["dynamic"] = {{"kind", "dims"}, {"gears", inout->dims_gears}};
  }
}

Json json_of_aipp(const graph::Graph& model) {
  Json json = Json::array();
  for (const graph::AippOperator& aipp : graph::aipp_operators(model)) {
    Json settings = Json::object();
    for (const auto& [key, value] : aipp.settings) {
      settings[key] = value;
    }
    json.push_back({{"operator", model.operators[aipp.op].name}, {"settings", settings}});
  }
  return json;
}

/// Operators by type, passes by number of operators, and operators made of others.
void add_operators(const graph::Graph& model, Json& json) {
  std::map<std::string, std::uint64_t> types;
  std::map<std::string, std::uint64_t> passes;
  Json fused = Json::array();
  const std::vector<std::size_t> listed = graph::listed_operators(model);
  for (const std::size_t position : listed) {
    const graph::Operator& op = model.operators[position];
    ++types[op.type];
    const std::vector<std::string> made_by = graph::all_fusion_passes(op);
    for (const std::string& pass : made_by) {
      ++passes[pass];
    }
    const std::vector<std::string> originals = graph::fused_originals(op);
    if (originals.size() > 1 || (!made_by.empty() && !originals.empty())) {
      fused.push_back(
          {{"name", op.name}, {"type", op.type}, {"originals", originals}, {"passes", made_by}});
    }
  }
  json["graphs"] = model.graph_names;
  json["operators"] = listed.size();
  json["operator_types"] = types;
  json["fusion_passes"] = passes;
  json["fused_operators"] = std::move(fused);
}

Json describe_model(const graph::Graph& model, const std::optional<graph::InoutInfo>& inout) {
  const graph::AtcOptions build = graph::build_options(model);
  Json options = Json::array();
  for (const auto& [name, value] : build.values) {
    options.push_back({{"name", name}, {"value", value}});
  }
  Json json = {{"name", model.name},
               {"framework", graph::text_attribute(model.attributes, "framework_type")},
               {"soc_version", graph::text_attribute(model.attributes, "soc_version")},
               {"atc_version", graph::text_attribute(model.attributes, "atc_version")},
               {"atc_program", build.program},
               {"atc_options", std::move(options)}};
  if (json["soc_version"].get<std::string>().empty()) {
    json["soc_version"] = build.get("soc_version").value_or("");
  }
  add_dynamic(graph::dynamic_inputs(build), inout, json);
  add_tensors(model, inout, json);
  json["aipp"] = json_of_aipp(model);
  add_operators(model, json);
  return json;
}

/// The model that `options` choose out of a container or a text graph.
Result<Json> describe_file(const graph::ModelFile& file) {
  OPDRIFT_TRY(const graph::Graph model, graph::graph_of_model(file.model, true));
  std::optional<graph::InoutInfo> inout;
  Json warnings = file.model.warnings();
  if (file.chosen && !file.chosen->inout_info.empty()) {
    Result<graph::InoutInfo> read =
        graph::parse_inout_info(file.chosen->inout_info, file.chosen->inout_offset);
    if (read) {
      inout = std::move(*read);
    } else {
      warnings.push_back("MODEL_INOUT_INFO: " + read.error().to_string());
    }
  }
  Json json = describe_model(model, inout);
  json["warnings"] = std::move(warnings);
  return json;
}

std::string_view kind_text(graph::GraphFileKind kind) {
  switch (kind) {
    case graph::GraphFileKind::ge_text: return "GE text graph";
    case graph::GraphFileKind::zip: return "offline model (om2)";
    default: return "offline model";
  }
}

Result<Json> describe_serialised(const std::string& path, const graph::GraphFileOptions& options) {
  graph::GraphFileOptions first = options;
  Result<graph::ModelFile> file = io::open_model_file(path, options);
  bool all = !file && file.error().code == ErrorCode::ambiguous && options.model.empty();
  if (all) {
    first.model = "0";
    file = io::open_model_file(path, first);
  }
  if (!file) {
    return file.error();
  }
  all = all || (file->kind == graph::GraphFileKind::zip && options.model.empty());
  Json models = Json::array();
  OPDRIFT_TRY(Json described, describe_file(*file));
  models.push_back(std::move(described));
  for (std::size_t i = 1; all && i < file->models.size(); ++i) {
    first.model = file->models[i];
    OPDRIFT_TRY(const graph::ModelFile next, io::open_model_file(path, first));
    OPDRIFT_TRY(Json more, describe_file(next));
    models.push_back(std::move(more));
  }
  Json json = {{"kind", kind_text(file->kind)}};
  if (file->container) {
    json["container"] = json_of(*file->container);
    json["container"]["warnings"] = file->container->warnings;
  }
  json["models"] = std::move(models);
  return json;
}

Result<Json> describe_json(const std::string& path) {
  OPDRIFT_TRY(const graph::Graph model, io::read_graph_file(path, {.attributes = true}));
  Json described = describe_model(model, std::nullopt);
  described["warnings"] = Json::array();
  Json json = {{"kind", "graph JSON"}};
  json["models"].push_back(std::move(described));
  return json;
}

// The text is made of the JSON, so that both always say the same.

std::string text_of(const Json& json) {
  return json.is_string() ? printable(json.get<std::string>()) : json.dump();
}

std::string joined(const Json& texts) {
  std::string text;
  for (const Json& one : texts) {
    text += (text.empty() ? "" : ", ") + text_of(one);
  }
  return text;
}

void add_line(std::string& text, const std::string& title, const std::string& value) {
  if (value.empty()) {
    return;
  }
  std::string line = title;
  line.resize(std::max<std::size_t>(line.size() + 1, 11), ' ');
  text += line + value + "\n";
}

std::string container_text(const Json& container) {
  std::string text;
  const std::string name = text_of(container["name"]);
  add_line(text, "header",
           name + (name.empty() ? "" : ", ") + text_of(container["type"]) + ", version " +
               text_of(container["version"]) +
               (container["dynamic"].get<bool>() ? ", dynamic" : "") + ", " +
               human_bytes(container["bytes"].get<std::uint64_t>()));
  add_line(text, "platform", text_of(container["platform_version"]));
  for (const Json& partition : container["partitions"]) {
    add_line(text, "partition",
             text_of(partition["type"]) + "  table " + text_of(partition["table"]) + "  offset " +
                 text_of(partition["offset"]) + "  " + text_of(partition["bytes"]) + " B");
  }
  for (const Json& warning : container["warnings"]) {
    add_line(text, "warning", text_of(warning));
  }
  return text;
}

std::string tensor_text(const Json& tensor) {
  std::string text = text_of(tensor["name"]) + " ";
  for (const char* part : {"dtype", "format"}) {
    const std::string known = text_of(tensor[part]);
    text += known.empty() ? "" : " " + known;
  }
  text += " " + tensor["dims"].dump();
  if (tensor.contains("ranges")) {
    text += "  ranges " + tensor["ranges"].dump();
  }
  if (tensor.contains("dims_before_aipp")) {
    text += "  before AIPP " + tensor["dims_before_aipp"].dump();
  }
  if (!tensor["bytes"].is_null() && tensor["bytes"].get<std::uint64_t>() != 0) {
    text += "  " + text_of(tensor["bytes"]) + " B";
  }
  return text + (tensor.contains("original") ? "  = " + text_of(tensor["original"]) : "");
}

std::string counts_text(const Json& counts) {
  std::string text;
  for (const auto& [name, count] : counts.items()) {
    text += (text.empty() ? "" : " ") + printable(name) + " x" + count.dump();
  }
  return text;
}

void add_build_lines(std::string& text, const Json& model) {
  add_line(text, "framework", text_of(model["framework"]));
  add_line(text, "soc", text_of(model["soc_version"]));
  add_line(text, "atc", text_of(model["atc_version"]));
  for (const Json& option : model["atc_options"]) {
    const std::string value = text_of(option["value"]);
    add_line(text, "option", "--" + text_of(option["name"]) + (value.empty() ? "" : "=" + value));
  }
  if (!model["dynamic"].is_null()) {
    const Json& dynamic = model["dynamic"];
    add_line(
        text, "dynamic",
        text_of(dynamic["kind"]) + " " +
            (dynamic.contains("values") ? text_of(dynamic["values"]) : dynamic["gears"].dump()));
  }
}

std::string model_text(const Json& model) {
  std::string text;
  add_line(text, "model", text_of(model["name"]));
  add_build_lines(text, model);
  for (const Json& tensor : model["inputs"]) {
    add_line(text, "input", tensor_text(tensor));
  }
  for (const Json& tensor : model["outputs"]) {
    add_line(text, "output", tensor_text(tensor));
  }
  for (const Json& aipp : model["aipp"]) {
    std::string settings;
    for (const auto& [key, value] : aipp["settings"].items()) {
      settings += (settings.empty() ? "" : ", ") + printable(key) + " " + text_of(value);
    }
    add_line(text, "aipp", text_of(aipp["operator"]) + ": " + settings);
  }
  add_line(text, "graphs", joined(model["graphs"]));
  add_line(text, "operators", text_of(model["operators"]));
  add_line(text, "types", counts_text(model["operator_types"]));
  add_line(text, "passes", counts_text(model["fusion_passes"]));
  for (const Json& op : model["fused_operators"]) {
    const std::string passes = joined(op["passes"]);
    add_line(text, "fused",
             text_of(op["name"]) + " (" + text_of(op["type"]) + ") = " + joined(op["originals"]) +
                 (passes.empty() ? "" : "  by " + passes));
  }
  for (const Json& warning : model["warnings"]) {
    add_line(text, "warning", text_of(warning));
  }
  return text;
}

}  // namespace

Result<Json> model_info(const std::string& path, const graph::GraphFileOptions& options) {
  const bool rendered = graph::graph_file_kind(path) == graph::GraphFileKind::atc_json;
  Result<Json> described = rendered ? describe_json(path) : describe_serialised(path, options);
  if (!described) {
    return described.error();
  }
  Json json = {{"schema", "opdrift-model-info/1"}, {"path", path}};
  json.update(*described);
  return json;
}

std::string model_info_text(const Json& info) {
  std::string text;
  add_line(text, "kind", text_of(info["kind"]));
  if (info.contains("container")) {
    text += container_text(info["container"]);
  }
  for (const Json& model : info["models"]) {
    text += model_text(model);
  }
  return text;
}

}  // namespace opdrift::cli
