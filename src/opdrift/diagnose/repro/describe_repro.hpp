#pragma once

#include <string>
#include <vector>

#include "opdrift/diagnose/repro/write_repro.hpp"
#include "opdrift/io/onnx/model.hpp"

namespace opdrift::diagnose {

/// What the texts of a bundle tell.
struct ReproDescription {
  const ReproOptions& options;
  const Repro& made;  ///< with the comparison and the notes
  const io::onnx::Model& model;
  const io::onnx::Node& node;
  std::vector<std::string> merged;  ///< operators packed with it
};

/// True for a path that ends in ".zip".
bool is_zip_path(const std::string& path);

/// repro.json, see docs/check-op.md. Fails when the model cannot be read any more.
Result<std::string> render_repro_json(const ReproDescription& about);

/// README.txt.
std::string render_repro_readme(const ReproDescription& about);

}  // namespace opdrift::diagnose
