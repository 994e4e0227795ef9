#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "opdrift/base/byte_cursor.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/tensor/dtype.hpp"
#include "opdrift/tensor/tensor.hpp"
#include "opdrift/tensor/view.hpp"

/// Writes files of the grammar in io/numpy/npy_header.hpp, byte for byte as numpy.save would.
namespace opdrift::io {

struct NpyWriteOptions {
  bool fortran_order = false;  ///< the blocks come first axis fastest
  /// Store bfloat16 and one-byte floats as raw `|V2` and `|V1`, as NumPy's extension types do.
  /// Without it such types are refused, since NumPy has no name for them.
  bool raw_extension_types = false;
  FileWriterOptions file;
};

/// The descr of a type; unsupported_dtype when NumPy has none (see NpyWriteOptions).
Result<std::string> npy_descr(tensor::DType dtype, bool raw_extension_types);

/// Writes one array in blocks: create, any number of `write`, `finish`. Nothing appears under the
/// path before `finish`, and nothing is left behind without it.
class NpyWriter {
 public:
  /// Fails with unsupported_dtype, bad_shape (over 2^62 elements) or as FileWriter does.
  static Result<NpyWriter> create(const std::string& path, tensor::DType dtype,
                                  const tensor::Shape& shape, const NpyWriteOptions& options = {});

  /// The next elements, little-endian and dense. Fails with `mismatch` beyond the shape.
  Status write(ByteSpan elements);
  /// Fails with `mismatch` when fewer elements than the shape says were written.
  Status finish();

 private:
  NpyWriter(FileWriter file, std::uint64_t bytes_left)
      : file_(std::move(file)), bytes_left_(bytes_left) {}

  FileWriter file_;
  std::uint64_t bytes_left_ = 0;
};

/// Writes the elements of a view in logical order, as they are stored (no conversion), in C order.
Status write_npy(const std::string& path, const tensor::View& view,
                 const NpyWriteOptions& options = {});

}  // namespace opdrift::io
