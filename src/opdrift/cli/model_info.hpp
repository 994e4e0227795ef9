#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "opdrift/base/result.hpp"
#include "opdrift/graph/graph_file.hpp"

/// What a compiled model says about itself, for `opdrift info`.
namespace opdrift::cli {

/// Container, models, and of each model its inputs, outputs, build options, operators by type,
/// fusion passes and fused operators. `options.model` chooses one model; without it every file of a
/// bundle, and the first table of other files, is described.
Result<nlohmann::ordered_json> model_info(const std::string& path,
                                          const graph::GraphFileOptions& options);

/// The same for people.
std::string model_info_text(const nlohmann::ordered_json& info);

}  // namespace opdrift::cli
