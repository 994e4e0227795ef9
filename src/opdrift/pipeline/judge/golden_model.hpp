#pragma once

#include <optional>
#include <string>

#include "opdrift/base/result.hpp"
#include "opdrift/io/onnx/model.hpp"

namespace opdrift::pipeline {

/// The model that a comparison is judged by.
struct GoldenModel {
  std::optional<io::onnx::Model> model;
  std::string note;  ///< why there is none although the golden names one; "" otherwise
};

/// Opens `given`. When that is empty, the model that the manifest of the golden dump (or of the
/// first of its steps) names, as long as it is where it was (as written, or beside the dump) and
/// has the content it had. Fails only for a given model that cannot be read.
Result<GoldenModel> golden_model(const std::string& given, const std::string& golden_dump);

}  // namespace opdrift::pipeline
