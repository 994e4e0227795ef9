#pragma once

#include <string>

#include "opdrift/base/result.hpp"
#include "opdrift/pipeline/compare.hpp"
#include "opdrift/verdict/result.hpp"

namespace opdrift::diagnose {

struct ReproOptions {
  std::string operator_name;
  std::string target;  ///< dump
  std::string golden;  ///< dump
  std::string model;   ///< ONNX
  std::string output;  ///< folder, or a path that ends in ".zip"
  std::string opdrift_version;
  pipeline::CompareOptions compare;  ///< for the verdict
};

struct Repro {
  std::string path;                ///< of the folder or zip
  verdict::RunResult compared;     ///< target against golden, this operator alone
  std::vector<std::string> notes;  ///< what is not in it
};

/// Writes a bundle (bundle.hpp). A folder must be new, empty or an older bundle. Fails with
/// invalid_argument (no such operator; a folder with other files), not_found (the golden lacks its
/// inputs, a side its outputs), and what reading and writing may fail with.
Result<Repro> write_repro(const ReproOptions& options);

}  // namespace opdrift::diagnose
