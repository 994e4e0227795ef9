#pragma once

#include <span>
#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/engine/instrument.hpp"
#include "opdrift/engine/onnxruntime.hpp"
#include "opdrift/engine/precision.hpp"
#include "opdrift/engine/run_settings.hpp"

namespace opdrift::engine {

/// Runs a model once and returns the values of `outputs`, which are graph outputs of the model.
///
/// With reduced precision inputs, constants and what passes between operators are rounded
/// (precision.hpp), after the optimiser has rewritten the graph; `keep` names operators that stay
/// in f32. `work_folder` is an existing folder for files that are needed meanwhile.
///
/// Fails as opening and running a session do.
Result<std::vector<RunValue>> run_model(Runtime& runtime, PlacedModel placed,
                                        const RunSettings& settings,
                                        std::vector<NamedTensor> inputs,
                                        std::span<const std::string> outputs,
                                        const std::string& work_folder,
                                        const KeptOperators& keep = {});

}  // namespace opdrift::engine
