#include "opdrift/io/raw_reader.hpp"

#include <optional>
#include <utility>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/tensor/dtype.hpp"

namespace opdrift::io {

namespace {

using tensor::DType;

template <typename T>
void fill_in(std::optional<T>& wanted, const std::optional<T>& source) {
  if (!wanted) {
    wanted = source;
  }
}

void fill_in(TensorHints& wanted, const TensorHints& source) {
  fill_in(wanted.dtype, source.dtype);
  fill_in(wanted.shape, source.shape);
  fill_in(wanted.format, source.format);
}

/// True when the file holds the float32 values of a tensor that its name calls bfloat16.
bool is_widened_bf16(const TensorHints& hints, const std::optional<BinName>& name,
                     std::uint64_t bytes) {
  if (!name || name->hints.dtype != DType::bf16 || hints.dtype != DType::bf16 || !hints.shape) {
    return false;
  }
  const Result<std::uint64_t> count = tensor::element_count(*hints.shape);
  return count && *count > 0 && tensor::storage_bytes(DType::f32, *count) == bytes;
}

/// One axis of all elements the bytes hold.
tensor::Shape flat_shape(DType dtype, std::uint64_t bytes) {
  const unsigned bits = tensor::info(dtype).bits;
  if (bits == 0) {
    return {bytes};
  }
  return {bits >= 8 ? bytes / (bits / 8) : bytes * 8 / bits};
}

Status describe(const TensorHints& hints, FileDump& dump, FileTensor& data) {
  const std::uint64_t bytes = data.bytes.size();
  data.size_bytes = bytes;
  data.desc.dtype = hints.dtype.value_or(DType::raw);
  data.desc.format = hints.format.value_or(tensor::Format::nd);
  data.desc.has_shape = hints.shape.has_value();
  data.desc.shape = hints.shape ? *hints.shape : flat_shape(data.desc.dtype, bytes);
  OPDRIFT_TRY(const std::uint64_t count, tensor::element_count(data.desc.shape));
  const std::optional<std::uint64_t> needed =
      data.desc.dtype == DType::raw ? bytes : tensor::storage_bytes(data.desc.dtype, count);
  if (!needed || *needed > bytes) {
    data.problem = Error{ErrorCode::data_mismatch,
                         "expected " + std::to_string(count) + " elements of type " +
                             std::string(tensor::name_of(data.desc.dtype)) + ", found " +
                             std::to_string(bytes) + " bytes",
                         dump.path};
  } else if (*needed < bytes) {
    dump.warnings.push_back(std::to_string(bytes - *needed) +
                            " bytes after the elements are ignored");
  }
  return Unit{};
}

}  // namespace

bool probe_raw(ByteSpan /*head*/, std::uint64_t /*file_size*/, std::string_view file_name) {
  return file_name.ends_with(".bin") || file_name.ends_with(".raw") || file_name.ends_with(".data");
}

Result<FileDump> open_raw(const std::string& path) {
  return open_raw(path, TensorHints{});
}

Result<FileDump> open_raw(const std::string& path, const TensorHints& told) {
  OPDRIFT_TRY(Bytes bytes, map_file(path));
  FileDump dump;
  dump.path = path;
  dump.format = "raw";
  TensorHints hints = told;
  OPDRIFT_TRY(const std::optional<TensorHints> sidecar, read_sidecar(path));
  if (sidecar) {
    fill_in(hints, *sidecar);
  }
  const std::optional<BinName> name = parse_bin_name(base_name(path));
  FileTensor data;
  if (name) {
    fill_in(hints, name->hints);
    data.role = name->role;
    data.index = name->index;
  }
  if (is_widened_bf16(hints, name, bytes.size())) {
    hints.dtype = DType::f32;
    dump.warnings.emplace_back("named bfloat16, but by its size it holds float32");
  }
  if (!hints.dtype) {
    dump.warnings.emplace_back("no element type is known: say it, or write a sidecar file");
  }
  data.bytes = std::move(bytes);
  OPDRIFT_CHECK_OK(in_file(describe(hints, dump, data), path));
  dump.tensors.push_back(std::move(data));
  return dump;
}

}  // namespace opdrift::io
