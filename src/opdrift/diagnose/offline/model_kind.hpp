#pragma once

#include <string>

#include "opdrift/diagnose/offline/failure.hpp"

namespace opdrift::diagnose::offline {

/// What a path given as a model is, by its ending; a folder is a saved model.
enum class ModelKind : unsigned char {
  onnx,
  offline,  ///< .om, or its graph as .json or .txt
  frozen,   ///< .pb
  caffe,    ///< .prototxt
  mindir,
  saved_model,  ///< a folder with saved_model.pb and variables/
};

/// Fails with bad_path (nothing there, more than 32 GiB) or model_type (another ending).
Outcome<ModelKind> model_kind(const std::string& path);

/// How a model that cannot be run here takes part all the same: the command that makes an ONNX or
/// offline model of it, and the options that take its dumps instead.
std::string way_around(ModelKind kind, bool golden);

/// The file's name without its ending.
std::string stem_of(const std::string& path);

}  // namespace opdrift::diagnose::offline
