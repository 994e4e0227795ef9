#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/parallel.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/engine/inputs.hpp"
#include "opdrift/engine/onnxruntime.hpp"
#include "opdrift/engine/precision.hpp"

/// Runs a model and keeps what every operator made:
///
///   folder/<stem>.<output index>.<time>.npy   outputs and network inputs (dump_names.hpp)
///   folder/<file>.json                        sidecar of bf16 files, which npy cannot name
///   folder/mapping.csv                        where names had to be replaced
///   folder/manifest.json                      manifest.hpp; written last
///
/// With optimisation on, ONNX Runtime first rewrites the graph and saves it; what is dumped are the
/// values of the rewritten graph, run as it is, so that fused operators stay fused. With reduced
/// precision the rounding of precision.hpp is added after that.
///
/// The model runs once: every value is looked at and written as soon as it is made (taps.hpp), so
/// memory is that of a plain run.
namespace opdrift::engine {

struct DumpProgress {
  std::string_view stage;   ///< "loading", "running", "writing"
  std::uint64_t done = 0;   ///< values written
  std::uint64_t total = 0;  ///< values to write, 0 while that is not known
  std::uint64_t bytes = 0;  ///< written so far
};

struct DumpOptions {
  std::string model;
  std::string output_folder;  ///< made if missing; must hold no other dump
  bool overwrite = false;     ///< remove an older dump of opdrift's from the folder first
  InputOptions inputs;
  Optimization optimization = Optimization::none;
  /// What the library may do when it runs the graph whose values are exposed: every one of them is
  /// kept, whereas `optimization` fuses operators.
  Optimization session_optimization = Optimization::none;
  Precision precision = Precision::fp32;
  /// Operators that stay f32 in a run of reduced precision: names of the model as given (a fused
  /// operator counts as all of its originals), or "OpType::" and a type.
  std::vector<std::string> keep;
  std::vector<std::string> disabled_optimizers;  ///< of ONNX Runtime, by its names
  std::string provider = "cpu";
  std::string only;     ///< regular expression searched in operator and value names; "" takes all
  std::string library;  ///< of ONNX Runtime, see library_search.hpp
  unsigned threads = 0;
  bool check_outputs = true;  ///< compare the final outputs with those of a run that shows no more
  std::optional<std::uint64_t> time_us;  ///< for file names; the clock when not given
  std::string opdrift_version;           ///< for the manifest
  const CancelFlag* cancel = nullptr;
  std::function<void(const DumpProgress&)> progress;
};

/// An operator output that was not written, and why.
struct SkippedOutput {
  std::string operator_name;
  std::string tensor;
  std::string reason;
};

/// Whether looking changed the result: a final output with and without all others exposed.
struct OutputCheck {
  std::string tensor;
  bool equal = false;             ///< bit for bit
  double max_abs_difference = 0;  ///< NaN when shapes or types differ
};

/// What an input of the model was filled with.
struct InputSource {
  std::string tensor;
  std::string source;  ///< path, "seed N", or as the caller named it
  tensor::Shape shape;
};

struct DumpReport {
  std::string folder;
  std::string manifest;  ///< path
  std::string library_version;
  std::string library_path;
  std::size_t operators = 0;
  std::size_t files = 0;
  std::uint64_t bytes = 0;            ///< of tensor data in the files
  std::uint64_t estimated_bytes = 0;  ///< of all values in memory, had they been held at once
  std::vector<InputSource> inputs;    ///< in the model's order
  bool complete = true;               ///< false after an interruption; what was done is kept
  std::vector<OutputCheck> checks;    ///< empty when not checked
  std::vector<SkippedOutput> skipped;
  std::vector<std::string> notes;  ///< for people: defaults that were chosen and the like

  bool outputs_equal() const;
};

/// Fails with invalid_argument (options, inputs), not_found (model, library), malformed,
/// unsupported (the library cannot run the model), write_failed and so on. After a cancel the
/// result is a report that is not complete.
Result<DumpReport> dump_model(const DumpOptions& options);

}  // namespace opdrift::engine
