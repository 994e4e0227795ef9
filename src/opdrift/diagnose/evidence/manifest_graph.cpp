#include <nlohmann/json.hpp>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/diagnose/evidence/edges.hpp"
#include "opdrift/io/dump_manifest.hpp"

namespace opdrift::diagnose::evidence {

namespace {

using Json = nlohmann::json;

std::string text_of(const Json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

const Json& list_of(const Json& object, const char* key) {
  static const Json kNone = Json::array();
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_array() ? *found : kNone;
}

graph::Operator operator_of(const Json& json) {
  graph::Operator op;
  op.name = text_of(json, "name");
  op.type = text_of(json, "type");
  for (const Json& input : list_of(json, "inputs")) {
    graph::InputRef ref;
    ref.tensor = input.is_string() ? input.get<std::string>() : std::string();
    op.inputs.push_back(std::move(ref));
  }
  for (const Json& output : list_of(json, "outputs")) {
    graph::OutputDesc desc;
    desc.tensor = text_of(output, "tensor");
    desc.dtype = text_of(output, "dtype");
    op.outputs.push_back(std::move(desc));
  }
  for (const Json& original : list_of(json, "originals")) {
    if (original.is_string()) {
      op.original_names.push_back(original.get<std::string>());
    }
  }
  op.originals_given = !op.original_names.empty();
  return op;
}

}  // namespace

Result<graph::Graph> read_manifest_graph(const std::string& folder) {
  const std::string path = folder + "/" + std::string(io::kManifestFileName);
  OPDRIFT_TRY(const Bytes bytes, map_file(path));
  const Json json = Json::parse(as_text(bytes.span), nullptr, false);
  if (!json.is_object()) {
    return Error{ErrorCode::bad_json, "expected a manifest, found text that is no JSON", path};
  }
  graph::Graph made;
  made.source_path = path;
  for (const Json& op : list_of(json, "operators")) {
    made.operators.push_back(operator_of(op));
  }
  return made;
}

}  // namespace opdrift::diagnose::evidence
