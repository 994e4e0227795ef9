#include "opdrift/io/numpy/npy_writer.hpp"

#include <optional>
#include <utility>

#include "opdrift/io/in_file.hpp"
#include "opdrift/io/numpy/npy_header.hpp"
#include "opdrift/io/view_stream.hpp"

namespace opdrift::io {

namespace {

using tensor::DType;

bool is_one_byte_float(const tensor::DTypeInfo& row) {
  return row.kind == tensor::DTypeKind::floating && row.bits == 8;
}

}  // namespace

Result<std::string> npy_descr(DType dtype, bool raw_extension_types) {
  const tensor::DTypeInfo& row = tensor::info(dtype);
  if (!row.npy_descr.empty()) {
    return std::string(row.npy_descr);
  }
  if (raw_extension_types && (dtype == DType::bf16 || is_one_byte_float(row))) {
    return "|V" + std::to_string(row.bits / 8);
  }
  return Error{ErrorCode::unsupported_dtype,
               "NumPy has no element type for " + std::string(row.name)};
}

Result<NpyWriter> NpyWriter::create(const std::string& path, DType dtype,
                                    const tensor::Shape& shape, const NpyWriteOptions& options) {
  OPDRIFT_TRY(const std::string descr,
              in_file(npy_descr(dtype, options.raw_extension_types), path));
  OPDRIFT_TRY(const std::uint64_t count, in_file(tensor::element_count(shape), path));
  const std::optional<std::uint64_t> bytes = tensor::storage_bytes(dtype, count);
  if (!bytes) {
    return Error{ErrorCode::bad_shape, "expected an array of at most 2^63 bytes", path};
  }
  OPDRIFT_TRY(FileWriter file, FileWriter::create(path, options.file));
  // Both orders are one for vectors, and NumPy then says C.
  const bool fortran_order = options.fortran_order && shape.size() > 1;
  OPDRIFT_CHECK_OK(file.write(format_npy_header(descr, fortran_order, shape)));
  return NpyWriter(std::move(file), *bytes);
}

Status NpyWriter::write(ByteSpan elements) {
  if (elements.size() > bytes_left_) {
    return Error{ErrorCode::mismatch,
                 "more data than the shape holds: " + std::to_string(elements.size()) +
                     " bytes where " + std::to_string(bytes_left_) + " are left",
                 file_.path()};
  }
  OPDRIFT_CHECK_OK(file_.write(elements));
  bytes_left_ -= elements.size();
  return Unit{};
}

Status NpyWriter::finish() {
  if (bytes_left_ > 0) {
    return Error{
        ErrorCode::mismatch,
        "less data than the shape holds: " + std::to_string(bytes_left_) + " bytes are missing",
        file_.path()};
  }
  return file_.commit();
}

Status write_npy(const std::string& path, const tensor::View& view,
                 const NpyWriteOptions& options) {
  NpyWriteOptions c_order = options;
  c_order.fortran_order = false;
  OPDRIFT_TRY(NpyWriter writer,
              NpyWriter::create(path, view.tensor.desc.dtype, view.shape(), c_order));
  OPDRIFT_CHECK_OK(
      in_file(stream_view(view, [&writer](ByteSpan block) { return writer.write(block); }), path));
  return writer.finish();
}

}  // namespace opdrift::io
