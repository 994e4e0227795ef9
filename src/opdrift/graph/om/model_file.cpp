#include "opdrift/graph/om/model_file.hpp"

#include <algorithm>
#include <utility>

#include "opdrift/base/text.hpp"
#include "opdrift/graph/om/choose_model.hpp"
#include "opdrift/graph/om/model_text.hpp"

namespace opdrift::graph {

namespace {

constexpr std::size_t kShownBytes = 16;

Error unknown_content(ByteSpan bytes) {
  const std::string_view head = as_text(bytes.first(std::min(bytes.size(), kShownBytes)));
  return Error{ErrorCode::bad_json,
               "expected an offline model (.om), the JSON of 'atc --mode=1' or a ge_proto text "
               "graph, found " +
                   (bytes.empty() ? "an empty file" : "\"" + printable(head) + "\"")};
}

Result<ModelFile> open_container(Bytes bytes, const std::string& path,
                                 const GraphFileOptions& options) {
  ModelFile file;
  OPDRIFT_TRY(file.container,
              parse_om(std::move(bytes), path, OmOptions{.salvage = options.salvage}));
  file.bytes = file.container->bytes;
  for (std::size_t i = 0; i < file.container->models.size(); ++i) {
    file.models.push_back(std::to_string(i));
  }
  OPDRIFT_TRY(file.chosen, choose_model(*file.container, options.model));
  OPDRIFT_TRY(file.model, ModelDef::read(file.chosen->model_def, file.chosen->model_def_offset,
                                         {.salvage = options.salvage}));
  return file;
}

Result<ModelFile> open_text(const Bytes& bytes) {
  ModelFile file;
  file.kind = GraphFileKind::ge_text;
  OPDRIFT_TRY(std::vector<std::byte> message, encode_model_text(as_text(bytes.span)));
  file.bytes = own_bytes(std::move(message));
  OPDRIFT_TRY(file.model, ModelDef::read(file.bytes.span, 0));
  return file;
}

Result<ModelFile> open_content(Bytes bytes, const std::string& path,
                               const GraphFileOptions& options) {
  switch (graph_file_kind(bytes.span)) {
    case GraphFileKind::offline_model: return open_container(std::move(bytes), path, options);
    case GraphFileKind::ge_text: return open_text(bytes);
    case GraphFileKind::zip:
      return Error{ErrorCode::unsupported,
                   "expected an offline model or a text graph, found a zip archive"};
    case GraphFileKind::atc_json:
      return Error{ErrorCode::unsupported, "expected an offline model or a text graph, found JSON"};
    case GraphFileKind::unknown: break;
  }
  return unknown_content(bytes.span);
}

}  // namespace

std::vector<std::string> ModelFile::warnings() const {
  std::vector<std::string> all = container ? container->warnings : std::vector<std::string>();
  all.insert(all.end(), model.warnings().begin(), model.warnings().end());
  return all;
}

Result<ModelFile> open_model_file(const std::string& path, const GraphFileOptions& options) {
  OPDRIFT_TRY(Bytes bytes, map_file(path));
  return parse_model_file(std::move(bytes), path, options);
}

Result<ModelFile> parse_model_file(Bytes bytes, const std::string& path,
                                   const GraphFileOptions& options) {
  Result<ModelFile> file = open_content(std::move(bytes), path, options);
  if (!file) {
    file.error().path = path;
  }
  return file;
}

}  // namespace opdrift::graph
