#pragma once

#include <span>
#include <string>
#include <string_view>

#include "opdrift/base/result.hpp"
#include "opdrift/graph/graph_file.hpp"
#include "opdrift/graph/om/model_file.hpp"

/// Models in any file, archives included: graph/graph_file.hpp for bytes that stand on their own,
/// and om2, a zip archive:
///
///   archive = manifest.json                        {"om2_version", "model_num", "atc_command"}
///             data/model_<i>/debug/<description>   ge_visual_*.json or visual.json
///
/// The description is JSON (graph/om/visual_json.hpp); of several of one model the last counts, in
/// the order of numbers in their names. A model that does not tell how it was built gets the
/// command of the manifest.
namespace opdrift::io {

/// One row per kind of file that holds a model.
struct ModelFormat {
  std::string_view name;     ///< "om"
  std::string_view summary;  ///< "Offline model ..."
};

std::span<const ModelFormat> model_formats();

/// graph::open_model_file, and om2 archives. Of an archive with several models the first is opened
/// unless `options.model` says which: its number or "model_<i>". Fails as the former, with
/// not_found, and with unsupported for archives that are no om2 model.
Result<graph::ModelFile> open_model_file(const std::string& path,
                                         const graph::GraphFileOptions& options = {});
Result<graph::ModelFile> parse_model_file(Bytes bytes, const std::string& path,
                                          const graph::GraphFileOptions& options = {});

/// graph::read_graph_file, and om2 archives.
Result<graph::Graph> read_graph_file(const std::string& path,
                                     const graph::GraphFileOptions& options = {});

}  // namespace opdrift::io
