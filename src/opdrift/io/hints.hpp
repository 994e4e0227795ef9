#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "opdrift/base/result.hpp"
#include "opdrift/io/dump.hpp"
#include "opdrift/tensor/dtype.hpp"
#include "opdrift/tensor/format.hpp"
#include "opdrift/tensor/tensor.hpp"

/// What is known about the bytes of a file that does not say it itself:
///
///   sidecar  = `<file>.json`: {"dtype": "bfloat16", "shape": [2, 3], "format": "NCHW"}, all
///   optional,
///              other keys ignored
///   bin name = base '.' ('input' | 'output') '.' index '.' dims '.' dtype '.' format '.bin'
///            | base '.' ('l1buffer' | 'space') '.' index '.bin'
///   dims     = number ('_' number)*, or empty for a single element
namespace opdrift::io {

struct TensorHints {
  std::optional<tensor::DType> dtype;
  std::optional<tensor::Shape> shape;
  std::optional<tensor::Format> format;
};

/// The sidecar of a file; nothing when there is none. Fails with bad_json (not JSON, over 64 KiB,
/// a value that makes no sense).
Result<std::optional<TensorHints>> read_sidecar(const std::string& path);

/// The one type of `bits` bits per element among those NumPy has no name for (bfloat16 and the
/// float8 kinds) that stands in a file name as a word of its own ("x.bf16.npy", "y_e5m2.npy").
/// Nothing when there is none, or more than one.
std::optional<tensor::DType> extension_dtype_in_name(std::string_view file_name, unsigned bits);

/// A name as `opdrift convert -t bin` and its relatives write it.
struct BinName {
  std::string base;  ///< name of the dump it came from
  TensorRole role = TensorRole::output;
  std::uint32_t index = 0;
  TensorHints hints;
};

std::optional<BinName> parse_bin_name(std::string_view file_name);

}  // namespace opdrift::io
