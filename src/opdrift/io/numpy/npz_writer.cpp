#include "opdrift/io/numpy/npz_writer.hpp"

#include <cstdint>
#include <optional>

#include "opdrift/io/in_file.hpp"
#include "opdrift/io/numpy/npy_header.hpp"
#include "opdrift/io/view_stream.hpp"

namespace opdrift::io {

Result<NpzWriter> NpzWriter::create(const std::string& path, const NpyWriteOptions& options) {
  OPDRIFT_TRY(ZipWriter zip, ZipWriter::create(path, ZipStyle::numpy, options.file));
  return NpzWriter(std::move(zip), path, options);
}

Status NpzWriter::begin(std::string_view name, tensor::DType dtype, const tensor::Shape& shape) {
  if (!names_.emplace(name).second) {
    return Error{ErrorCode::invalid_argument,
                 "member '" + std::string(name) + "' was already written", path_};
  }
  OPDRIFT_TRY(const std::string descr,
              in_file(npy_descr(dtype, options_.raw_extension_types), path_));
  OPDRIFT_TRY(const std::uint64_t count, in_file(tensor::element_count(shape), path_));
  const std::optional<std::uint64_t> bytes = tensor::storage_bytes(dtype, count);
  if (!bytes) {
    return Error{ErrorCode::bad_shape, "expected an array of at most 2^63 bytes", path_};
  }
  const bool fortran_order = options_.fortran_order && shape.size() > 1;
  const std::string header = format_npy_header(descr, fortran_order, shape);
  OPDRIFT_CHECK_OK(zip_.begin(std::string(name) + ".npy", header.size() + *bytes));
  return zip_.write(header);
}

Status NpzWriter::write(ByteSpan elements) {
  return zip_.write(elements);
}

Status NpzWriter::end() {
  return zip_.end();
}

Status NpzWriter::add(std::string_view name, const tensor::View& view) {
  OPDRIFT_CHECK(!options_.fortran_order);
  OPDRIFT_CHECK_OK(begin(name, view.tensor.desc.dtype, view.shape()));
  OPDRIFT_CHECK_OK(
      in_file(stream_view(view, [this](ByteSpan block) { return zip_.write(block); }), path_));
  return end();
}

Status NpzWriter::finish() {
  return zip_.finish();
}

}  // namespace opdrift::io
