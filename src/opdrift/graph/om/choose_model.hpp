#pragma once

#include <string>

#include "opdrift/base/result.hpp"
#include "opdrift/graph/om/container.hpp"

namespace opdrift::graph {

/// The model of that name or number; for "" the first table, or the only model of a bundle. Fails
/// with not_found, or with ambiguous for "" and a bundle of several; both name the models.
Result<OmModel> choose_model(const OmFile& file, const std::string& wanted);

}  // namespace opdrift::graph
