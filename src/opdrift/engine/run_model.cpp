#include "opdrift/engine/run_model.hpp"

#include <utility>

#include "opdrift/engine/optimised_model.hpp"
#include "opdrift/engine/surgery/extract_file.hpp"

namespace opdrift::engine {

namespace {

namespace onnx = io::onnx;

constexpr int kFloat = 1;  // TensorProto.FLOAT

SessionOptions session_options(const RunSettings& settings) {
  SessionOptions options;
  options.optimization = settings.optimization;
  options.provider = settings.provider;
  options.threads = settings.threads;
  return options;
}

/// The graph as the optimiser leaves it.
Result<PlacedModel> optimised(Runtime& runtime, const PlacedModel& placed,
                              const RunSettings& settings, const std::string& work_folder) {
  SessionOptions options = session_options(settings);
  options.save_optimized = work_folder + "/optimized.onnx";
  OPDRIFT_TRY(const auto session, open_model(runtime, placed, options));
  OPDRIFT_TRY(onnx::Model model, open_optimised_model(options.save_optimized));
  return PlacedModel{std::move(model), work_folder};
}

std::unordered_set<std::string> float_values(const ValueTypes& types) {
  std::unordered_set<std::string> names;
  for (const auto& [name, info] : types) {
    if (info.kind == onnx::ValueKind::tensor && info.element_type == kFloat) {
      names.insert(name);
    }
  }
  return names;
}

}  // namespace

Result<std::vector<RunValue>> run_model(Runtime& runtime, PlacedModel placed,
                                        const RunSettings& settings,
                                        std::vector<NamedTensor> inputs,
                                        std::span<const std::string> outputs,
                                        const std::string& work_folder, const KeptOperators& keep) {
  SessionOptions options = session_options(settings);
  if (settings.precision != Precision::fp32) {
    if (settings.optimization != Optimization::none) {
      OPDRIFT_TRY(placed, optimised(runtime, placed, settings, work_folder));
      options.optimization = Optimization::none;
    }
    OPDRIFT_TRY(const ValueTypes types, infer_types(runtime, placed));
    OPDRIFT_CHECK_OK(round_constants(placed, settings.precision, work_folder, keep));
    round_borders(placed.model, settings.precision, float_values(types), keep);
    round_inputs(settings.precision, inputs);
  }
  OPDRIFT_TRY(const auto session, open_model(runtime, placed, std::move(options)));
  return session->run(inputs, outputs);
}

}  // namespace opdrift::engine
