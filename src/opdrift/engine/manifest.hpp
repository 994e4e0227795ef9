#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "opdrift/engine/dump.hpp"
#include "opdrift/io/onnx/model.hpp"
#include "opdrift/tensor/tensor.hpp"

/// manifest.json of a dump folder, version 1:
///
///   {"schema": "opdrift.dump", "schema_version": 1, "opdrift_version": text, "complete": bool,
///    "model": {"path", "size_bytes", "content_hash": "fnv1a64:<hex>", "graph", "ir_version",
///              "producer", "opsets": [{"domain", "version"}], "functions": [name]},
///    "run": {"library_version", "api_version", "provider", "optimize", "precision", "seed",
///    "only",
///            "threads", "time_us", "estimated_bytes"},
///    "inputs":    [{"tensor", "dtype", "shape", "file", "source"}],
///    "operators": [{"order", "name", "type", "domain", "inputs": [tensor],
///                   "outputs": [{"tensor", "index", "file", "dtype", "shape"}
///                             | {"tensor", "index", "skipped": reason}],
///                   "attributes": {name: value}, "originals": [operator name]}],
///    "constants": [{"name", "dtype", "shape"}],
///    "outputs":   [tensor],
///    "observer":  {"checked": bool, "outputs_equal": bool,
///                  "outputs": [{"tensor", "equal", "max_abs_difference"}]},
///    "skipped":   [{"operator", "tensor", "reason"}],
///    "notes":     [text]}
///
/// - Operators stand in execution order, "order" counts from 1. "inputs" keeps absent optional
///   inputs as "". "originals" are the operators of the model as given whose work this one does
///   (more than one after fusion, none for operators the optimiser added).
/// - "dtype" is that of the file ("float16"), by opdrift's names; bfloat16 files are `|V2` arrays.
/// - An attribute is an integer, a number with a fraction or exponent, text, a list of these,
///   {"tensor": {"dtype", "shape", "values"}} (at most 1,024 elements, else without "values"), or
///   {"graph": name} for a body.
/// - "max_abs_difference" is null when it is not a finite number.
namespace opdrift::engine {

/// A value with the file it is in, or the reason it is in none.
struct DumpedValue {
  std::string tensor;
  std::string file;
  tensor::DType dtype = tensor::DType::raw;  ///< in the file
  tensor::Shape shape;
  std::string skipped;
};

struct ManifestOperator {
  const io::onnx::Node* node = nullptr;
  std::vector<DumpedValue> outputs;  ///< one per output position; absent ones have no name
  std::vector<std::string> originals;
};

struct ManifestInput {
  DumpedValue value;
  std::string source;
};

/// Everything the manifest tells beside options and report.
struct ManifestContent {
  const io::onnx::Model* given = nullptr;  ///< the model file
  const io::onnx::Model* run = nullptr;    ///< the graph that was dumped
  std::string model_folder;                ///< where external data of `run` lies
  std::uint64_t content_hash = 0;
  std::uint64_t time_us = 0;
  unsigned api_version = 0;
  std::vector<ManifestInput> inputs;
  std::vector<ManifestOperator> operators;
};

/// The text of manifest.json.
std::string render_manifest(const DumpOptions& options, const DumpReport& report,
                            const ManifestContent& content);

}  // namespace opdrift::engine
