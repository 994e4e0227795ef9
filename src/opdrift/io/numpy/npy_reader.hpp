#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/byte_cursor.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/io/dump.hpp"
#include "opdrift/io/numpy/npy_header.hpp"
#include "opdrift/tensor/dtype.hpp"

/// NumPy arrays. The grammar of the bytes stands in io/npy_header.hpp.
///
/// One output tensor, format RESERVED, mapped in place; Fortran order becomes strides. NumPy has no
/// bfloat16 and no float8: such arrays arrive as raw bytes (`|V2`, `|V1`) or, from TensorFlow's
/// dump of bfloat16, mislabelled `<f2`. They are read as what the caller, the sidecar (see
/// io/hints.hpp) or, for raw bytes only, a word of the file name says, else as they are labelled.
namespace opdrift::io {

struct NpyOptions {
  std::optional<tensor::DType> dtype;  ///< read the elements as this; its size must fit
};

bool probe_npy(ByteSpan head, std::uint64_t file_size, std::string_view file_name);

/// Fails with malformed, truncated (in the header), unsupported, limit, bad_shape or what mapping a
/// file may fail with. Elements that cannot be read as numbers, and data that end early, are the
/// tensor's `problem`.
Result<FileDump> open_npy(const std::string& path);
Result<FileDump> open_npy(const std::string& path, const NpyOptions& options);

/// The tensor a header describes, without its bytes. `data_bytes` is what follows the header;
/// `told` the element type from outside, `name` the file name. Adds to `warnings`.
FileTensor describe_npy(const NpyHeader& header, std::uint64_t data_bytes,
                        std::optional<tensor::DType> told, std::string_view name,
                        std::vector<std::string>& warnings);

}  // namespace opdrift::io
