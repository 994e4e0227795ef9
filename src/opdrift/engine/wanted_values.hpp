#pragma once

#include <string>
#include <unordered_map>

#include "opdrift/base/result.hpp"
#include "opdrift/engine/instrument.hpp"
#include "opdrift/engine/onnxruntime.hpp"
#include "opdrift/io/onnx/model.hpp"

/// Which values a dump can write.
namespace opdrift::engine {

/// Values by name, with what the runtime says of their type.
using ValueTypes = std::unordered_map<std::string, io::onnx::ValueInfo>;

/// Why a value of this type cannot be dumped, "" when it can. Optional values may hold a tensor.
std::string unwritable_reason(const io::onnx::ValueInfo& info);

}  // namespace opdrift::engine
