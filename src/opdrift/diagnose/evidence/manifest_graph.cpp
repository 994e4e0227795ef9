#include <nlohmann/json.hpp>

#include "opdrift/base/json_text.hpp"
#include "opdrift/base/mapped_file.hpp"
#include "opdrift/diagnose/evidence/edges.hpp"
#include "opdrift/io/dump_manifest.hpp"

namespace opdrift::diagnose::evidence {

namespace {

using Json = nlohmann::json;

graph::Operator operator_of(const Json& json) {
  graph::Operator op;
  op.name = json_text(json, "name");
  op.type = json_text(json, "type");
  for (const Json& input : json_list(json, "inputs")) {
    graph::InputRef ref;
    ref.tensor = input.is_string() ? input.get<std::string>() : std::string();
    op.inputs.push_back(std::move(ref));
  }
  for (const Json& output : json_list(json, "outputs")) {
    graph::OutputDesc desc;
    desc.tensor = json_text(output, "tensor");
    desc.dtype = json_text(output, "dtype");
    op.outputs.push_back(std::move(desc));
  }
  for (const Json& original : json_list(json, "originals")) {
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
  OPDRIFT_TRY(const Json json, parse_json<Json>(as_text(bytes.span), path));
  if (!json.is_object()) {
    return Error{ErrorCode::bad_json, "expected a manifest, found JSON of another kind", path};
  }
  graph::Graph made;
  made.source_path = path;
  for (const Json& op : json_list(json, "operators")) {
    made.operators.push_back(operator_of(op));
  }
  return made;
}

}  // namespace opdrift::diagnose::evidence
