#include "opdrift/diagnose/offline/device_model.hpp"

#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "opdrift/diagnose/offline/model_kind.hpp"
#include "opdrift/graph/model_facts.hpp"
#include "opdrift/graph/om/model_json.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/io/model_file.hpp"

namespace opdrift::diagnose::offline {

bool DeviceModel::image() const {
  return !graph::aipp_operators(graph).empty();
}

bool DeviceModel::has_gears() const {
  return graph::dynamic_inputs(graph::build_options(graph)).has_gears();
}

std::vector<std::string> DeviceModel::names() const {
  std::vector<std::string> names = {graph.name.empty() ? stem_of(path) : graph.name};
  for (std::string& name : graph::called_graphs(graph)) {
    names.push_back(std::move(name));
  }
  return names;
}

Outcome<DeviceModel> open_device_model(const std::string& path) {
  graph::GraphFileOptions options;
  options.attributes = true;
  OPDRIFT_TRY(graph::Graph graph, io::read_graph_file(path, options));
  return DeviceModel{path, std::move(graph)};
}

Done write_graph_json(const std::string& model, const std::string& folder) {
  const std::string path = folder + "/" + stem_of(model) + ".json";
  std::error_code problem;
  if (model.ends_with(".json") || std::filesystem::exists(path, problem)) {
    return Unit{};
  }
  std::filesystem::create_directories(folder, problem);
  OPDRIFT_TRY(const graph::ModelFile file, io::open_model_file(model));
  OPDRIFT_TRY(io::FileWriter writer, io::FileWriter::create(path));
  OPDRIFT_CHECK_OK(graph::write_model_json(
      file.model, [&writer](std::string_view piece) { return writer.write(piece); }));
  return Done(writer.commit());
}

std::string absolute_path(const std::string& path) {
  std::error_code problem;
  return std::filesystem::absolute(path, problem).lexically_normal().string();
}

Outcome<DeviceStep> device_step(const DeviceModel& model, const std::string& shapes,
                                const std::string& output_sizes, const std::string& folder) {
  DeviceStep step;
  step.model = absolute_path(model.path);
  step.model_names = model.names();
  step.folder = folder;
  OPDRIFT_TRY(step.dynamic, dynamic_words(model.graph, shapes, output_sizes));
  return step;
}

}  // namespace opdrift::diagnose::offline
