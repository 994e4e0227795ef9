#pragma once

#include <string>
#include <utility>

#include "opdrift/base/byte_cursor.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/io/archive/zip_writer.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/tensor/dtype.hpp"
#include "opdrift/tensor/tensor.hpp"
#include "opdrift/tensor/view.hpp"

/// One contiguous tensor as `torch.save` writes it: an archive (archive/zip_archive.hpp) of
///
///   <stem>/data.pkl   pickle, protocol 2, of torch._utils._rebuild_tensor_v2(storage "0", offset
///   0,
///                     shape, strides, requires_grad False, no hooks)
///   <stem>/data/0     the elements, little-endian, C order
///   <stem>/version    "3\n"
///
/// where <stem> is the file name without its last extension.
namespace opdrift::io {

class PtWriter {
 public:
  /// Fails with unsupported_dtype for types torch lacks (uint16, uint32, uint64, sub-byte types,
  /// ...), bad_shape, or as FileWriter does.
  static Result<PtWriter> create(const std::string& path, tensor::DType dtype,
                                 const tensor::Shape& shape, const FileWriterOptions& options = {});

  /// The next elements, little-endian and dense.
  Status write(ByteSpan elements) { return zip_.write(elements); }
  Status finish();

 private:
  PtWriter(ZipWriter zip, std::string stem) : zip_(std::move(zip)), stem_(std::move(stem)) {}

  ZipWriter zip_;
  std::string stem_;
};

/// Writes the elements of a view in logical order.
Status write_pt(const std::string& path, const tensor::View& view,
                const FileWriterOptions& options = {});

}  // namespace opdrift::io
