#include "opdrift/pipeline/network/batch.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "opdrift/base/text.hpp"
#include "opdrift/io/model_file.hpp"
#include "opdrift/match/model_match.hpp"

namespace opdrift::pipeline {

namespace {

namespace fs = std::filesystem;

/// One `<device>/<model>/<model_id>` with its newest step.
struct ModelFolder {
  std::string device;
  std::string model;
  std::string step;
  std::string path;
};

struct NamedGraph {
  std::string path;
  std::string name;
};

/// Names of the folders (or of the files ending in `suffix`) directly in a folder, ascending.
std::vector<std::string> names_in(const fs::path& folder, bool folders, std::string_view suffix) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code kind_error;
    const std::string name = entry->path().filename().string();
    const bool is_folder = entry->is_directory(kind_error);
    if (!kind_error && is_folder == folders && std::string_view(name).ends_with(suffix)) {
      names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<ModelFolder> find_models(const fs::path& root) {
  std::vector<ModelFolder> models;
  for (const std::string& device : names_in(root, true, "")) {
    for (const std::string& model : names_in(root / device, true, "")) {
      for (const std::string& id : names_in(root / device / model, true, "")) {
        const fs::path folder = root / device / model / id;
        const std::vector<std::string> steps = names_in(folder, true, "");
        if (!steps.empty()) {
          models.push_back({device, model, steps.back(), (folder / steps.back()).string()});
        }
      }
    }
  }
  return models;
}

Result<std::vector<NamedGraph>> find_graphs(const fs::path& folder) {
  std::vector<NamedGraph> graphs;
  std::vector<std::string> files = names_in(folder, false, ".json");
  if (files.empty()) {
    files = names_in(folder, false, ".om");
  }
  for (const std::string& file : files) {
    const std::string path = (folder / file).string();
    OPDRIFT_TRY(const graph::Graph graph, io::read_graph_file(path));
    for (const std::string& name : graph.graph_names) {
      graphs.push_back({path, name});
    }
  }
  return graphs;
}

std::string last_part(std::string path) {
  while (path.size() > 1 && path.back() == '/') {
    path.pop_back();
  }
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

Result<Batch> find_batch(const std::string& target_path, const std::string& graph_folder) {
  if (!is_digits(last_part(target_path))) {
    return Error{ErrorCode::not_found,
                 "expected a folder named by a time stamp, digits only, when the graph jsons are "
                 "given as a folder",
                 target_path};
  }
  const std::vector<ModelFolder> models = find_models(target_path);
  if (models.empty()) {
    return Error{ErrorCode::not_found, "expected folders device/model/model_id/step, found none",
                 target_path};
  }
  OPDRIFT_TRY(const std::vector<NamedGraph> graphs, find_graphs(graph_folder));
  std::vector<std::string> graph_names;
  std::vector<std::string> model_names;
  for (const NamedGraph& graph : graphs) {
    graph_names.push_back(graph.name);
  }
  for (const ModelFolder& model : models) {
    model_names.push_back(model.model);
  }
  Batch batch;
  for (const match::ModelPair& pair : match::match_models(graph_names, model_names)) {
    const ModelFolder& model = models[pair.folder];
    batch.items.push_back({graphs[pair.graph].path, model.path,
                           model.device + "_" + model.model + "_" + model.step + "_"});
    if (pair.by_number) {
      batch.warnings.push_back("graph \"" + graphs[pair.graph].name + "\" taken for model \"" +
                               model.model + "\": only their second numbers agree");
    }
  }
  if (batch.items.empty()) {
    return Error{ErrorCode::not_found, "expected a model folder named like one of the graphs",
                 target_path};
  }
  return batch;
}

}  // namespace opdrift::pipeline
