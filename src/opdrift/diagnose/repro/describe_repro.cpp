#include "opdrift/diagnose/repro/describe_repro.hpp"

#include <array>
#include <cstdio>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "opdrift/base/json_text.hpp"
#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/shell_words.hpp"
#include "opdrift/base/stable_hash.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/io/dump_manifest.hpp"

namespace opdrift::diagnose {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// The part of a dump's manifest that says how it was made; null where there is none.
Json origin_of(const std::string& dump) {
  const auto bytes = map_file((fs::path(dump) / io::kManifestFileName).string());
  const Json manifest = bytes ? parse_json<Json>(as_text(bytes->span)).value_or(Json()) : Json();
  Json origin{{"path", dump}};
  for (const char* key : {"opdrift_version", "run", "model"}) {
    origin[key] = manifest.is_object() && manifest.contains(key) ? manifest[key] : Json();
  }
  return origin;
}

std::string hash_of(const Bytes& bytes) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "fnv1a64:%016llx",
                static_cast<unsigned long long>(stable_hash(as_text(bytes.span))));
  return text.data();
}

std::string verdict_sentence(const verdict::RunResult& compared) {
  if (compared.verdict) {
    return compared.verdict->sentence;
  }
  const verdict::TensorResult* offender = compared.first_offender();
  return offender == nullptr ? "within the limits" : offender->reason;
}

/// To be typed where the zip lies, or inside the folder.
std::string command(const ReproOptions& options) {
  const std::string bundle =
      is_zip_path(options.output) ? fs::path(options.output).filename().string() : std::string(".");
  return shell_command({"opdrift", "repro", "--run", bundle});
}

}  // namespace

bool is_zip_path(const std::string& path) {
  return to_lower(path).ends_with(".zip");
}

Result<std::string> render_repro_json(const ReproDescription& about) {
  OPDRIFT_TRY(const Bytes model, map_file(about.options.model));
  const Json json{{"schema", "opdrift.repro"},
                  {"schema_version", 1},
                  {"opdrift_version", about.options.opdrift_version},
                  {"operator", about.node.name},
                  {"type", about.node.op_type},
                  {"domain", about.node.domain},
                  {"merged", about.merged},
                  {"model",
                   {{"path", about.options.model},
                    {"size_bytes", model.size()},
                    {"content_hash", hash_of(model)},
                    {"producer", about.model.producer}}},
                  {"golden", origin_of(about.options.golden)},
                  {"target", origin_of(about.options.target)},
                  {"verdict", verdict_sentence(about.made.compared)},
                  {"command", command(about.options)},
                  {"notes", about.made.notes}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string render_repro_readme(const ReproDescription& about) {
  std::string text = "Operator '" + printable(about.node.name) + "' (" +
                     printable(about.node.op_type) + ") of " + printable(about.options.model) +
                     "\n\n" + printable(verdict_sentence(about.made.compared)) + "\n\n" +
                     "  operator.onnx   the operator alone\n"
                     "  golden/         its inputs and outputs in the trusted run\n"
                     "  target/         the same in the suspected run\n"
                     "  repro.json      where all this came from\n\n"
                     "To run it again and see the verdict:\n\n  " +
                     command(about.options) + "\n";
  for (const std::string& note : about.made.notes) {
    text += "\nNote: " + printable(note) + ".\n";
  }
  return text;
}

}  // namespace opdrift::diagnose
