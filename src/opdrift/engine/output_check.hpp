#pragma once

#include <string>

#include "opdrift/engine/dump.hpp"
#include "opdrift/engine/onnxruntime.hpp"

namespace opdrift::engine {

/// Compares a final output of a run that shows no other values with that of a run that does.
OutputCheck check_output(const std::string& name, const RunValue& plain, const RunValue& shown);

}  // namespace opdrift::engine
