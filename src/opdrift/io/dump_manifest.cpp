#include "opdrift/io/dump_manifest.hpp"

#include <nlohmann/json.hpp>

#include "opdrift/base/mapped_file.hpp"

namespace opdrift::io {

namespace {

using Json = nlohmann::json;

constexpr std::string_view kSchema = "opdrift.dump";
constexpr int kVersion = 1;

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::uint64_t number_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

bool flag_of(const Json& object, const char* key, bool fallback) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() ? found->get<bool>() : fallback;
}

/// The array under a key; an empty one when there is none.
const Json& array_of(const Json& object, const char* key) {
  static const Json kEmpty = Json::array();
  const auto found = object.find(key);
  return found != object.end() && found->is_array() ? *found : kEmpty;
}

void add_file(DumpManifest& manifest, const Json& value, ManifestTensor tensor) {
  const std::string file = text_of(value, "file");
  if (file.empty()) {
    return;
  }
  tensor.tensor_name = text_of(value, "tensor");
  tensor.dtype = tensor::dtype_by_name(text_of(value, "dtype"));
  tensor.index = static_cast<std::uint32_t>(number_of(value, "index"));
  manifest.by_file.insert_or_assign(file, std::move(tensor));
}

void read_tensors(DumpManifest& manifest, const Json& json) {
  for (const Json& input : array_of(json, "inputs")) {
    ManifestTensor tensor;
    tensor.operator_name = text_of(input, "tensor");
    tensor.operator_type = "Input";
    add_file(manifest, input, std::move(tensor));
  }
  for (const Json& op : array_of(json, "operators")) {
    for (const Json& output : array_of(op, "outputs")) {
      ManifestTensor tensor;
      tensor.operator_name = text_of(op, "name");
      tensor.operator_type = text_of(op, "type");
      tensor.order = number_of(op, "order");
      for (const Json& original : array_of(op, "originals")) {
        tensor.originals.push_back(original.is_string() ? original.get<std::string>() : "");
      }
      if (tensor.operator_name.empty()) {
        tensor.operator_name = text_of(output, "tensor");
      }
      add_file(manifest, output, std::move(tensor));
    }
  }
  for (const Json& skip : array_of(json, "skipped")) {
    manifest.skipped.push_back(
        {text_of(skip, "operator"), text_of(skip, "tensor"), text_of(skip, "reason")});
  }
}

}  // namespace

Result<DumpManifest> read_dump_manifest(const std::string& path) {
  OPDRIFT_TRY(const Bytes bytes, map_file(path));
  const std::string_view text = as_text(bytes.span);
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || text_of(json, "schema") != kSchema ||
      number_of(json, "schema_version") != kVersion) {
    return Error{ErrorCode::bad_json, "expected a manifest with schema opdrift.dump, version 1",
                 path};
  }
  DumpManifest manifest;
  manifest.complete = flag_of(json, "complete", true);
  if (json.contains("model")) {
    manifest.model_path = text_of(json["model"], "path");
    manifest.model_hash = text_of(json["model"], "content_hash");
    manifest.model_size_bytes = number_of(json["model"], "size_bytes");
  }
  if (json.contains("run")) {
    manifest.precision = text_of(json["run"], "precision");
    manifest.optimize = text_of(json["run"], "optimize");
  }
  if (json.contains("observer")) {
    manifest.outputs_equal = flag_of(json["observer"], "outputs_equal", true);
  }
  read_tensors(manifest, json);
  return manifest;
}

}  // namespace opdrift::io
