#include "opdrift/pipeline/judge/golden_model.hpp"

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <utility>

#include "opdrift/base/byte_cursor.hpp"
#include "opdrift/base/mapped_file.hpp"
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
  const fs::path manifest_path = fs::path(golden_dump) / io::kManifestFileName;
  std::error_code problem;
  if (!fs::exists(manifest_path, problem)) {
    return found;
  }
  const auto manifest = io::read_dump_manifest(manifest_path.string());
  if (!manifest || manifest->model_path.empty()) {
    return found;
  }
  for (const fs::path& place : places_of(manifest->model_path, golden_dump)) {
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
