#pragma once

#include <optional>
#include <string>
#include <vector>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/graph/graph_file.hpp"
#include "opdrift/graph/om/container.hpp"
#include "opdrift/graph/om/model_def.hpp"

namespace opdrift::graph {

/// The description of one model, out of an offline model or a text graph, with what it points into.
struct ModelFile {
  GraphFileKind kind = GraphFileKind::offline_model;
  std::vector<std::string> models;  ///< of a file with several: what GraphFileOptions::model takes
  std::optional<OmFile> container;  ///< of an offline model
  std::optional<OmModel> chosen;    ///< of the container
  Bytes bytes;
  ModelDef model;

  /// Of container and description.
  std::vector<std::string> warnings() const;
};

/// Opens the model that `options` choose. The errors of read_graph_file; unsupported for JSON,
/// which holds no serialised description.
Result<ModelFile> open_model_file(const std::string& path, const GraphFileOptions& options = {});
Result<ModelFile> parse_model_file(Bytes bytes, const std::string& path,
                                   const GraphFileOptions& options = {});

}  // namespace opdrift::graph
