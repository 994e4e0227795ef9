#pragma once

#define ORT_API_MANUAL_INIT
#include <onnxruntime_cxx_api.h>
#undef ORT_API_MANUAL_INIT

namespace opdrift::engine {

/// The operator opdrift.Round (see precision.hpp) for sessions of a library with interface
/// `api_version`: one f32 tensor in, the same rounded to the type in attribute `to` out. Made once,
/// lives until the process ends. May throw Ort::Exception.
OrtCustomOpDomain* rounding_domain(unsigned api_version);

}  // namespace opdrift::engine
