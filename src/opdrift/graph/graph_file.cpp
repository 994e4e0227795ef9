#include "opdrift/graph/graph_file.hpp"

#include <algorithm>
#include <utility>

#include "opdrift/base/file_kind.hpp"
#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/graph/atc_json.hpp"
#include "opdrift/graph/om/container.hpp"
#include "opdrift/graph/om/model_file.hpp"
#include "opdrift/graph/om/model_graph.hpp"

namespace opdrift::graph {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kLookAt = 4096;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// Without blanks and comment lines at the front.
std::string_view without_comments(std::string_view text) {
  text = trim(text);
  while (text.starts_with('#')) {
    const std::size_t end = text.find('\n');
    text = end == std::string_view::npos ? std::string_view() : trim(text.substr(end));
  }
  return text;
}

/// A field name and what may follow it.
bool is_text_format(std::string_view text) {
  text = without_comments(text);
  const auto* const end = std::find_if_not(
      text.begin(), text.end(), [](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
  if (text.empty() || !is_letter(text.front())) {
    return false;
  }
  const std::string_view rest = trim(text.substr(static_cast<std::size_t>(end - text.begin())));
  return !rest.empty() && std::string_view(":{<").find(rest.front()) != std::string_view::npos;
}

Result<Graph> graph_of(Bytes bytes, const std::string& path, const GraphFileOptions& options) {
  if (graph_file_kind(bytes.span) == GraphFileKind::atc_json) {
    return parse_atc_json(bytes.span, path, {.attributes = options.attributes});
  }
  OPDRIFT_TRY(const ModelFile file, parse_model_file(std::move(bytes), path, options));
  OPDRIFT_TRY(Graph graph, graph_of_model(file.model, options.attributes));
  graph.warnings = file.warnings();
  return graph;
}

}  // namespace

GraphFileKind graph_file_kind(ByteSpan head) {
  if (is_om(head)) {
    return GraphFileKind::offline_model;
  }
  if (is_zip(head)) {
    return GraphFileKind::zip;
  }
  std::string_view text = as_text(head.first(std::min(head.size(), kLookAt)));
  text.remove_prefix(text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0);
  text = trim(text);
  if (text.starts_with('{') || text.starts_with('[')) {
    return GraphFileKind::atc_json;
  }
  return is_text_format(text) ? GraphFileKind::ge_text : GraphFileKind::unknown;
}

GraphFileKind graph_file_kind(const std::string& path) {
  return graph_file_kind(as_bytes(file_head(path, kLookAt)));
}

bool is_graph_file(const std::string& path) {
  return graph_file_kind(path) != GraphFileKind::unknown || path.ends_with(".om");
}

Result<Graph> read_graph_file(const std::string& path, const GraphFileOptions& options) {
  OPDRIFT_TRY(const auto file, MappedFile::open(path));
  if (!is_om(file->bytes())) {
    file->advise_sequential();  // of an offline model the weights are never touched
  }
  Result<Graph> graph = graph_of(Bytes{file->bytes(), file}, path, options);
  if (!graph) {
    graph.error().path = path;
    return graph;
  }
  graph->source_path = path;
  return graph;
}

}  // namespace opdrift::graph
