#include "opdrift/io/model_file.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "opdrift/base/json_text.hpp"
#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/natural_order.hpp"
#include "opdrift/base/protobuf_cursor.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/graph/om/model_graph.hpp"
#include "opdrift/graph/om/model_schema.hpp"
#include "opdrift/graph/om/visual_json.hpp"
#include "opdrift/io/archive/zip_archive.hpp"
#include "opdrift/io/in_file.hpp"

namespace opdrift::io {

namespace {

namespace number = graph::field_number;

constexpr std::string_view kManifest = "manifest.json";
constexpr std::uint64_t kMostManifest = std::uint64_t{1} << 20;

constexpr ModelFormat kFormats[] = {
    {"onnx", "ONNX model, weights inside or beside it"},
    {"om", "Offline model: one, several, a flow or a bundle of them"},
    {"om2", "Offline model in a zip archive"},
    {"atc-json", "Graph JSON of 'atc --mode=1'"},
    {"ge-text", "Text of a GE graph, ge_proto_*.txt"},
};

/// The number in "data/model_3/debug/visual.json"; nothing for other members.
std::optional<std::uint64_t> described_model(std::string_view name) {
  constexpr std::string_view kModel = "model_";
  const std::vector<std::string_view> parts = split(name, '/');
  if (parts.size() < 3 || parts[parts.size() - 2] != "debug") {
    return std::nullopt;
  }
  const bool description =
      parts.back() == "visual.json" ||
      (parts.back().starts_with("ge_visual_") && parts.back().ends_with(".json"));
  const std::string_view folder = parts[parts.size() - 3];
  return description && folder.starts_with(kModel) ? parse_u64(folder.substr(kModel.size()))
                                                   : std::nullopt;
}

/// An archive and where the descriptions of its models are.
class Om2 {
 public:
  static Result<Om2> open(Bytes bytes) {
    Om2 file;
    OPDRIFT_TRY(file.archive_, ZipArchive::open(std::move(bytes)));
    const std::vector<ZipMember>& members = file.archive_->members();
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (const auto model = described_model(members[i].name)) {
        const auto known = file.models_.emplace(*model, i).first;
        if (natural_less(members[known->second].name, members[i].name)) {
          known->second = i;
        }
      } else if (members[i].name == kManifest) {
        file.manifest_ = i;
      }
    }
    if (file.models_.empty()) {
      return Error{ErrorCode::unsupported,
                   "expected a model, found a zip archive of " + std::to_string(members.size()) +
                       " member(s) without data/model_<i>/debug/ge_visual_*.json, which an om2 "
                       "model has; give the graph JSON of 'atc --mode=1' instead"};
    }
    return file;
  }

  std::vector<std::string> models() const {
    std::vector<std::string> numbers;
    for (const auto& [model, member] : models_) {
      numbers.push_back(std::to_string(model));
    }
    return numbers;
  }

  Result<std::vector<std::byte>> description(const std::string& wanted) const {
    OPDRIFT_TRY(const std::size_t member, choose(wanted));
    const std::string& name = archive_->members()[member].name;
    if (archive_->members()[member].bytes > graph::kMostVisualJson) {
      return Error{ErrorCode::limit, printable(name) + ": expected at most 1 GiB of JSON"};
    }
    Result<Bytes> text = archive_->load(member);
    Result<std::vector<std::byte>> encoded =
        text ? graph::encode_visual_json(text->span) : Result<std::vector<std::byte>>(text.error());
    if (!encoded) {
      encoded.error().message.insert(0, printable(name) + ": ");
      return encoded;
    }
    // The last entry of a name counts, so what the model says itself has to come behind.
    ProtobufWriter model;
    const std::string command = build_command();
    if (!command.empty()) {
      model.message(number::kModelAttr, text_entry("atc_cmdline", command));
    }
    std::vector<std::byte> message = model.take();
    message.insert(message.end(), encoded->begin(), encoded->end());
    return message;
  }

 private:
  Result<std::size_t> choose(std::string_view wanted) const {
    wanted.remove_prefix(wanted.starts_with("model_") ? 6 : 0);
    const auto found = wanted.empty() ? models_.begin()
                                      : models_.find(parse_u64(wanted).value_or(~std::uint64_t{0}));
    if (found == models_.end()) {
      return Error{ErrorCode::not_found,
                   "expected a model \"" + printable(wanted) + "\", found " + join(models(), ", ")};
    }
    return found->second;
  }

  /// "" where the manifest does not say.
  std::string build_command() const {
    if (!manifest_ || archive_->members()[*manifest_].bytes > kMostManifest) {
      return "";
    }
    const auto text = archive_->load(*manifest_);
    const auto json = text ? parse_json<nlohmann::json>(as_text(text->span))
                           : Result<nlohmann::json>(text.error());
    return json && json->is_object() ? json_text(*json, "atc_command") : "";
  }

  static ProtobufWriter text_entry(std::string_view key, std::string_view value) {
    ProtobufWriter attribute;
    attribute.text(number::kText, value);
    ProtobufWriter entry;
    entry.text(number::kEntryKey, key);
    entry.message(number::kEntryValue, attribute);
    return entry;
  }

  std::shared_ptr<const ZipArchive> archive_;
  std::map<std::uint64_t, std::size_t> models_;  // number to member
  std::optional<std::size_t> manifest_;
};

Result<graph::ModelFile> open_om2(Bytes bytes, const graph::GraphFileOptions& options) {
  OPDRIFT_TRY(const Om2 archive, Om2::open(std::move(bytes)));
  OPDRIFT_TRY(std::vector<std::byte> message, archive.description(options.model));
  graph::ModelFile file;
  file.kind = graph::GraphFileKind::zip;
  file.models = archive.models();
  file.bytes = own_bytes(std::move(message));
  OPDRIFT_TRY(file.model, graph::ModelDef::read(file.bytes.span, 0));
  return file;
}

}  // namespace

std::span<const ModelFormat> model_formats() {
  return kFormats;
}

Result<graph::ModelFile> open_model_file(const std::string& path,
                                         const graph::GraphFileOptions& options) {
  OPDRIFT_TRY(Bytes bytes, map_file(path));
  return io::parse_model_file(std::move(bytes), path, options);
}

Result<graph::ModelFile> parse_model_file(Bytes bytes, const std::string& path,
                                          const graph::GraphFileOptions& options) {
  if (graph::graph_file_kind(bytes.span) == graph::GraphFileKind::zip) {
    return in_file(open_om2(std::move(bytes), options), path);
  }
  return graph::parse_model_file(std::move(bytes), path, options);
}

Result<graph::Graph> read_graph_file(const std::string& path,
                                     const graph::GraphFileOptions& options) {
  if (graph::graph_file_kind(path) != graph::GraphFileKind::zip) {
    return graph::read_graph_file(path, options);
  }
  OPDRIFT_TRY(const graph::ModelFile file, io::open_model_file(path, options));
  OPDRIFT_TRY(graph::Graph graph,
              in_file(graph::graph_of_model(file.model, options.attributes), path));
  graph.warnings = file.warnings();
  graph.source_path = path;
  return graph;
}

}  // namespace opdrift::io
