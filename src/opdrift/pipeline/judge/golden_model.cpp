#include "opdrift/pipeline/judge/golden_model.hpp"

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include "opdrift/base/byte_cursor.hpp"
#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/natural_order.hpp"
#include "opdrift/base/stable_hash.hpp"
#include "opdrift/io/dump_manifest.hpp"

namespace opdrift::pipeline {

namespace {

namespace fs = std::filesystem;

/// Where a model named by a manifest may be, most likely first.
std::array<fs::path, 2> places_of(const std::string& model_path, const fs::path& dump) {
  const fs::path named(model_path);
  return {named, dump / named.filename()};
}

/// The folder with the manifest: the dump, or the first of its steps that has one.
std::optional<fs::path> manifest_folder(const fs::path& dump) {
  std::error_code problem;
  if (fs::exists(dump / io::kManifestFileName, problem)) {
    return dump;
  }
  std::optional<fs::path> first;
  for (fs::directory_iterator at(dump, problem), end; !problem && at != end;
       at.increment(problem)) {
    const bool earlier =
        !first || natural_less(at->path().filename().string(), first->filename().string());
    std::error_code ignored;
    if (earlier && fs::exists(at->path() / io::kManifestFileName, ignored)) {
      first = at->path();
    }
  }
  return first;
}

/// Retrained weights leave the size of a model as it was.
bool has_hash(const std::string& path, const std::string& wanted) {
  const auto bytes = map_file(path);
  if (!bytes) {
    return true;  // opening it will tell
  }
  std::array<char, 32> hash{};
  std::snprintf(hash.data(), hash.size(), "fnv1a64:%016llx",
                static_cast<unsigned long long>(stable_hash(as_text(bytes->span))));
  return wanted.empty() || wanted == hash.data();
}

}  // namespace

Result<GoldenModel> golden_model(const std::string& given, const std::string& golden_dump) {
  GoldenModel found;
  if (!given.empty()) {
    OPDRIFT_TRY(found.model, io::onnx::open_model(given));
    return found;
  }
  const std::optional<fs::path> folder = manifest_folder(golden_dump);
  if (!folder) {
    return found;
  }
  const auto manifest = io::read_dump_manifest((*folder / io::kManifestFileName).string());
  if (!manifest || manifest->model_path.empty()) {
    return found;
  }
  for (const fs::path& place : places_of(manifest->model_path, *folder)) {
    std::error_code problem;
    const auto size = fs::file_size(place, problem);
    if (problem) {
      continue;
    }
    if (size != manifest->model_size_bytes || !has_hash(place.string(), manifest->model_hash)) {
      found.note = "the model '" + place.string() + "' has changed since the golden was dumped; ";
      break;
    }
    auto model = io::onnx::open_model(place.string());
    if (model) {
      found.model = std::move(*model);
      found.note.clear();
      return found;
    }
    found.note = model.error().to_string() + "; ";
  }
  if (found.note.empty()) {
    found.note = "the model '" + manifest->model_path + "' of the golden is not there; ";
  }
  found.note += "give it with --graph to have operators judged by their own error";
  return found;
}

}  // namespace opdrift::pipeline
