#include <map>
#include <string>

#include "opdrift/base/text.hpp"
#include "opdrift/cli/commands.hpp"
#include "opdrift/cli/console.hpp"
#include "opdrift/cli/describe.hpp"
#include "opdrift/cli/model_info.hpp"
#include "opdrift/cli/options.hpp"
#include "opdrift/graph/graph_file.hpp"
#include "opdrift/io/registry.hpp"
#include "opdrift/pipeline/dump_index.hpp"

namespace opdrift::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFooter =
    "Examples:\n"
    "  opdrift info dump/Conv2D.conv1.2.7.1700000000004000\n"
    "  opdrift info --format json weights.safetensors\n"
    "  opdrift info dump/\n"
    "  opdrift info model.om\n";

Json json_of(const pipeline::IndexedTensor& tensor) {
  Json json = to_json(tensor.desc);
  json["tensor"] = tensor.label();
  json["value_name"] = tensor.name.tensor_name;
  json["type"] = tensor.operator_type;
  json["file"] = tensor.path;
  json["bytes"] = tensor.size_bytes;
  json["problem"] = tensor.problem ? Json(tensor.problem->to_string()) : Json(nullptr);
  return json;
}

std::string json_text(const pipeline::DumpIndex& index) {
  Json tensors = Json::array();
  for (const pipeline::IndexedTensor& tensor : index.tensors) {
    tensors.push_back(json_of(tensor));
  }
  Json files = Json::array();
  for (const verdict::LedgerEntry& entry : index.ledger) {
    files.push_back({{"file", entry.path},
                     {"state", verdict::to_string(entry.state)},
                     {"reason", entry.reason}});
  }
  const Json json = {{"schema", "opdrift-info/1"},
                     {"path", index.path},
                     {"kind", index.kind},
                     {"tensors", std::move(tensors)},
                     {"other_files", std::move(files)}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string header_text(const io::FileDump& dump) {
  std::string text = "format    " + std::string(dump.format) + "\n";
  if (!dump.op_name.empty()) {
    text += "operator  " + printable(dump.op_name) + "\n";
  }
  if (!dump.version.empty()) {
    text += "version   " + printable(dump.version) + "\n";
  }
  for (const auto& [name, value] : dump.attributes) {
    text += "attribute " + printable(name) + " = " + printable(value) + "\n";
  }
  for (const std::string& warning : dump.warnings) {
    text += "warning   " + printable(warning) + "\n";
  }
  return text;
}

std::string tensor_lines(const pipeline::DumpIndex& index) {
  std::string text;
  for (const pipeline::IndexedTensor& tensor : index.tensors) {
    text += printable(tensor.label()) + "  " + describe(tensor.desc) + "  " +
            human_bytes(tensor.size_bytes);
    text += tensor.problem ? "  unreadable: " + tensor.problem->to_string() + "\n" : "\n";
  }
  return text;
}

std::string folder_text(const pipeline::DumpIndex& index) {
  std::uint64_t bytes = 0;
  std::map<std::string, std::uint64_t> kinds;
  for (const pipeline::IndexedTensor& tensor : index.tensors) {
    bytes += tensor.size_bytes;
    ++kinds[std::string(tensor::name_of(tensor.desc.dtype))];
  }
  std::string text = "kind      " + index.kind + "\ntensors   " +
                     std::to_string(index.tensors.size()) + ", " + human_bytes(bytes) +
                     "\ndtypes   ";
  for (const auto& [name, count] : kinds) {
    text += " " + name + " x" + std::to_string(count);
  }
  return text + "\n";
}

std::string other_lines(const pipeline::DumpIndex& index) {
  std::string text;
  for (const verdict::LedgerEntry& entry : index.ledger) {
    text += printable(entry.path) + "  " + verdict::to_string(entry.state) + ": " +
            printable(entry.reason) + "\n";
  }
  return text;
}

/// True for files that can be nothing but a compiled model.
bool is_model(const std::string& path) {
  const graph::GraphFileKind kind = graph::graph_file_kind(path);
  return kind == graph::GraphFileKind::offline_model || path.ends_with(".om") ||
         path.ends_with(".om2");
}

int show_model(const nlohmann::ordered_json& model, bool as_json) {
  const std::string text = as_json
                               ? model.dump(1, ' ', false, Json::error_handler_t::replace) + "\n"
                               : model_info_text(model);
  return write_output(text) ? kExitSame : kExitTrouble;
}

}  // namespace

int run_info(std::span<const std::string> arguments) {
  CLI::App app("Says what a dump file or folder, or a compiled model, holds.", "opdrift info");
  app.footer(kFooter);
  std::string path;
  std::string format = "text";
  app.add_option("PATH", path,
                 "dump file or folder; offline model (.om, om2), graph json, text graph")
      ->required();
  app.add_option("-f,--format", format, "text or json")->check(CLI::IsMember({"text", "json"}));
  graph::GraphFileOptions options;
  app.add_option("--model", options.model, "name or number of the model, of an .om with several");
  app.add_flag("--salvage", options.salvage, "say what is left of a damaged .om");
  if (const auto code = parse_arguments(app, arguments)) {
    return *code;
  }
  const bool as_json = format == "json";
  if (is_model(path)) {
    const auto model = model_info(path, options);
    return model ? show_model(*model, as_json) : report_error(model.error());
  }
  const auto index = pipeline::index_dump(path, verdict::RunSide::target, 0);
  if (!index || index->tensors.empty()) {
    const auto model = model_info(path, options);
    if (model) {
      return show_model(*model, as_json);
    }
  }
  if (!index) {
    return report_error(index.error());
  }
  std::string text;
  if (as_json) {
    text = json_text(*index);
  } else {
    const auto file = io::open_file(path);
    text = file ? header_text(*file) : folder_text(*index);
    text += tensor_lines(*index) + other_lines(*index);
  }
  const bool written = write_output(text);
  return written && !index->tensors.empty() ? kExitSame : kExitTrouble;
}

}  // namespace opdrift::cli
