#pragma once

#include "opdrift/base/byte_cursor.hpp"

/// The functions under fuzzing, one per source file. Each feeds any bytes to a public entry point
/// of io and must neither crash, nor hang, nor need memory without measure.
namespace opdrift::fuzz {

void readers(ByteSpan bytes);
void pickle(ByteSpan bytes);
void dump_json(ByteSpan bytes);
void zip(ByteSpan bytes);
void npy_header(ByteSpan bytes);
void safetensors(ByteSpan bytes);
void protobuf(ByteSpan bytes);
void hdf5(ByteSpan bytes);
void onnx_model(ByteSpan bytes);

}  // namespace opdrift::fuzz
