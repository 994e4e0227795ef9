#pragma once

#include "opdrift/base/byte_cursor.hpp"

/// The functions under fuzzing, one per source file. Each feeds any bytes to a public entry point
/// and must neither crash, nor hang, nor need memory without measure.
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
void graph_json(ByteSpan bytes);
void graph_text(ByteSpan bytes);
void om(ByteSpan bytes);
void om2(ByteSpan bytes);
void side_files(ByteSpan bytes);
void diagnosis_facts(ByteSpan bytes);
void result_tables(ByteSpan bytes);
void config_files(ByteSpan bytes);
void shell_files(ByteSpan bytes);

/// A target and the folder of its seeds below the corpus.
struct Target {
  const char* name;
  void (*run)(ByteSpan bytes);
};

/// Every target of the list in CMakeLists.txt.
inline constexpr Target kTargets[] = {
    {"readers", &readers},
    {"pickle", &pickle},
    {"dump_json", &dump_json},
    {"zip", &zip},
    {"npy_header", &npy_header},
    {"safetensors", &safetensors},
    {"protobuf", &protobuf},
    {"hdf5", &hdf5},
    {"onnx_model", &onnx_model},
    {"graph_json", &graph_json},
    {"graph_text", &graph_text},
    {"om", &om},
    {"om2", &om2},
    {"side_files", &side_files},
    {"diagnosis_facts", &diagnosis_facts},
    {"result_tables", &result_tables},
    {"config_files", &config_files},
    {"shell_files", &shell_files},
};

}  // namespace opdrift::fuzz
