#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "opdrift/base/byte_cursor.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/io/archive/zip_writer.hpp"
#include "opdrift/io/numpy/npy_writer.hpp"
#include "opdrift/tensor/dtype.hpp"
#include "opdrift/tensor/tensor.hpp"
#include "opdrift/tensor/view.hpp"

namespace opdrift::io {

/// Writes an archive of arrays as numpy.savez does (stored, not packed), one after the other:
/// create, (begin, write*, end)* or add*, finish. Nothing appears before `finish`.
class NpzWriter {
 public:
  static Result<NpzWriter> create(const std::string& path, const NpyWriteOptions& options = {});

  /// Starts member "name.npy". Fails with invalid_argument when the name was used before, and as
  /// NpyWriter::create does.
  Status begin(std::string_view name, tensor::DType dtype, const tensor::Shape& shape);
  /// The next elements, little-endian and dense.
  Status write(ByteSpan elements);
  Status end();
  /// A whole member: the elements of a view in logical order.
  Status add(std::string_view name, const tensor::View& view);
  Status finish();

 private:
  NpzWriter(ZipWriter zip, std::string path, const NpyWriteOptions& options)
      : zip_(std::move(zip)), path_(std::move(path)), options_(options) {}

  ZipWriter zip_;
  std::string path_;
  NpyWriteOptions options_;
  std::set<std::string, std::less<>> names_;
};

}  // namespace opdrift::io
