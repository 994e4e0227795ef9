#pragma once

#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/engine/surgery/break_apart.hpp"
#include "opdrift/engine/surgery/extract.hpp"
#include "opdrift/engine/surgery/save_part.hpp"

namespace opdrift::engine {

/// An extraction from file to file.
struct ExtractFileOptions {
  std::string model;
  std::string output;
  std::vector<std::string> starts;  ///< each a name, or names between commas
  std::vector<std::string> ends;
  std::string input_shapes;  ///< see parse_shapes
  std::string input_types;   ///< see parse_types
  bool infer = false;        ///< fill in types and shapes with ONNX Runtime
  bool check = false;        ///< load the result in ONNX Runtime
  std::string library;       ///< of ONNX Runtime
};

struct ExtractFileReport {
  Extracted extracted;
  SavedPart saved;
  std::size_t operators = 0;       ///< of the whole model
  std::vector<std::string> notes;  ///< beside the warnings: types that had to be assumed
  std::string check_problem;       ///< "" when it loads or was not to be checked
};

/// Extracts and writes. Where the model leaves the type of an input or output open and ONNX Runtime
/// is installed, its element type is taken from there (with `infer` the shape too); else it is
/// float32 and noted.
///
/// Fails as extract and save_part do, with invalid_argument when output and model are one file, and
/// with not_found when `infer` or `check` want a library that is not installed.
Result<ExtractFileReport> extract_file(const ExtractFileOptions& options);

struct BreakFileReport {
  std::vector<SinglePiece> pieces;
  SavedPart saved;
  std::vector<std::string> assumed;  ///< values of unknown type, taken for float32
};

/// Breaks a model into its operators (break_apart.hpp) and writes the result; of `options` only
/// model, output and library count. Types come from ONNX Runtime where it is installed.
Result<BreakFileReport> break_file(const ExtractFileOptions& options);

/// Types and shapes of all node outputs as ONNX Runtime infers them. Fails when it cannot load the
/// model.
Result<ValueTypes> infer_types(Runtime& runtime, const PlacedModel& placed);

}  // namespace opdrift::engine
