#pragma once

#define ORT_API_MANUAL_INIT
#include <onnxruntime_cxx_api.h>
#undef ORT_API_MANUAL_INIT

#include <optional>

#include "opdrift/engine/onnxruntime.hpp"
#include "opdrift/tensor/dtype.hpp"

/// Values of the library as values of ours. May throw Ort::Exception.
namespace opdrift::engine {

io::onnx::ValueKind kind_of(ONNXType type);

/// Nothing for types that no dump can hold. Up to FLOAT4E2M1 (23) the numbers are those of
/// TensorProto.DataType.
std::optional<tensor::DType> dtype_of(ONNXTensorElementDataType type);

/// What `value` holds, its bytes borrowed: they last as long as the value does.
RunValue borrow_value(const Ort::ConstValue& value);

}  // namespace opdrift::engine
