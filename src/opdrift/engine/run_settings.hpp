#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "opdrift/base/result.hpp"
#include "opdrift/engine/dump.hpp"
#include "opdrift/engine/onnxruntime.hpp"
#include "opdrift/engine/precision.hpp"

/// How ONNX Runtime is to run a model, in words:
///
///   settings = [setting (',' setting)*]
///   setting  = "precision=" ("fp32" | "fp16" | "bf16")
///            | "optimize=" ("none" | "basic" | "extended" | "all")
///            | "provider=" name          as the library calls it: cpu, cuda, cann
///            | "threads=" number         0: the library decides
///            | "seed=" number            of inputs that are made up
namespace opdrift::engine {

struct RunSettings {
  Optimization optimization = Optimization::none;
  Precision precision = Precision::fp32;
  std::string provider = "cpu";
  unsigned threads = 0;
  std::optional<std::uint64_t> seed;  ///< nothing: not said
};

/// Changes one setting. Fails with invalid_argument; the message begins with `name`.
Status set_run_setting(RunSettings& settings, std::string_view name, std::string_view value);

/// Reads the grammar above. Fails as set_run_setting does.
Result<RunSettings> parse_run_settings(std::string_view text);

/// "fp16, optimisation all, provider cpu".
std::string describe(const RunSettings& settings);

/// Puts the settings into the options of a dump; a seed that was not said stays what it is.
void apply(const RunSettings& settings, DumpOptions& options);

}  // namespace opdrift::engine
