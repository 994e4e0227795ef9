#include "opdrift/io/dump_manifest.hpp"

#include <nlohmann/json.hpp>

#include "opdrift/base/json_text.hpp"
#include "opdrift/base/mapped_file.hpp"

namespace opdrift::io {

namespace {

using Json = nlohmann::json;

constexpr std::string_view kSchema = "opdrift.dump";
constexpr int kVersion = 1;

std::uint64_t number_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

bool flag_of(const Json& object, const char* key, bool fallback) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() ? found->get<bool>() : fallback;
}

void add_file(DumpManifest& manifest, const Json& value, ManifestTensor tensor) {
  const std::string file = json_text(value, "file");
  if (file.empty() || file.find('/') != std::string::npos) {
    return;  // no value that was kept, or a path that leads out of the dump
  }
  tensor.tensor_name = json_text(value, "tensor");
  tensor.dtype = tensor::dtype_by_name(json_text(value, "dtype"));
  tensor.index = static_cast<std::uint32_t>(number_of(value, "index"));
  manifest.by_file.insert_or_assign(file, std::move(tensor));
}

void read_tensors(DumpManifest& manifest, const Json& json) {
  for (const Json& input : json_list(json, "inputs")) {
    ManifestTensor tensor;
    tensor.operator_name = json_text(input, "tensor");
    tensor.operator_type = "Input";
    add_file(manifest, input, std::move(tensor));
  }
  for (const Json& op : json_list(json, "operators")) {
    for (const Json& output : json_list(op, "outputs")) {
      ManifestTensor tensor;
      tensor.operator_name = json_text(op, "name");
      tensor.operator_type = json_text(op, "type");
      tensor.order = number_of(op, "order");
      for (const Json& original : json_list(op, "originals")) {
        tensor.originals.push_back(original.is_string() ? original.get<std::string>() : "");
      }
      if (tensor.operator_name.empty()) {
        tensor.operator_name = json_text(output, "tensor");
      }
      add_file(manifest, output, std::move(tensor));
    }
  }
  for (const Json& skip : json_list(json, "skipped")) {
    manifest.skipped.push_back(
        {json_text(skip, "operator"), json_text(skip, "tensor"), json_text(skip, "reason")});
  }
}

}  // namespace

Result<DumpManifest> read_dump_manifest(const std::string& path) {
  OPDRIFT_TRY(const Bytes bytes, map_file(path));
  const std::string_view text = as_text(bytes.span);
  OPDRIFT_TRY(const Json json, parse_json<Json>(text, path));
  if (!json.is_object() || json_text(json, "schema") != kSchema ||
      number_of(json, "schema_version") != kVersion) {
    return Error{ErrorCode::bad_json, "expected a manifest with schema opdrift.dump, version 1",
                 path};
  }
  DumpManifest manifest;
  manifest.complete = flag_of(json, "complete", true);
  if (json.contains("model")) {
    manifest.model_path = json_text(json["model"], "path");
    manifest.model_hash = json_text(json["model"], "content_hash");
    manifest.model_size_bytes = number_of(json["model"], "size_bytes");
  }
  if (json.contains("run")) {
    manifest.precision = json_text(json["run"], "precision");
    manifest.optimize = json_text(json["run"], "optimize");
  }
  if (json.contains("observer")) {
    manifest.outputs_equal = flag_of(json["observer"], "outputs_equal", true);
  }
  read_tensors(manifest, json);
  return manifest;
}

}  // namespace opdrift::io
