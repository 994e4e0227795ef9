#include "opdrift/io/numpy/npy_reader.hpp"

#include <algorithm>
#include <utility>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/io/hints.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/tensor/format.hpp"

namespace opdrift::io {

namespace {

using tensor::DType;

/// Element strides of Fortran order; none where it equals C order.
std::vector<std::int64_t> fortran_strides(const tensor::Shape& shape) {
  std::vector<std::int64_t> strides;
  if (shape.size() < 2 || std::find(shape.begin(), shape.end(), 0U) != shape.end()) {
    return strides;
  }
  std::int64_t stride = 1;
  for (const std::uint64_t extent : shape) {
    strides.push_back(stride);
    stride *= static_cast<std::int64_t>(extent);
  }
  return strides;
}

/// Whether outside knowledge may replace the label: same size, and the label is void or a float.
bool may_relabel(const NpyHeader& header, DType told) {
  return tensor::info(told).bits == header.item_bytes * 8;
}

DType choose_dtype(const NpyHeader& header, DType labelled, std::optional<DType> told,
                   std::string_view name, std::vector<std::string>& warnings) {
  if (told) {
    if (may_relabel(header, *told)) {
      return *told;
    }
    warnings.push_back("told to read the elements as " + std::string(tensor::name_of(*told)) +
                       ", but they take " + std::to_string(header.item_bytes) + " bytes each");
    return labelled;
  }
  if (labelled == DType::raw && header.item_bytes <= 2) {
    const auto bits = static_cast<unsigned>(header.item_bytes * 8);
    if (const std::optional<DType> named = extension_dtype_in_name(name, bits)) {
      warnings.push_back("raw elements read as " + std::string(tensor::name_of(*named)) +
                         " because the file name says so");
      return *named;
    }
  }
  return labelled;
}

/// What the sidecar says about the element type; looked for only where it can matter.
std::optional<DType> dtype_of_sidecar(const NpyHeader& header, const std::string& path,
                                      std::vector<std::string>& warnings) {
  const bool void_label = header.kind == 'V';
  const bool half_label = header.kind == 'f' && header.item_bytes == 2;
  if (!void_label && !half_label) {
    return std::nullopt;
  }
  Result<std::optional<TensorHints>> sidecar = read_sidecar(path);
  if (!sidecar) {
    warnings.push_back(sidecar.error().to_string());
    return std::nullopt;
  }
  return *sidecar ? (*sidecar)->dtype : std::nullopt;
}

Result<NpyHeader> header_of(const MappedFile& file) {
  Result<NpyHeader> header = parse_npy_header(file.head());
  return header || file.head().size() >= file.size() ? header : parse_npy_header(file.bytes());
}

FileDump describe_file(const std::string& path, const Bytes& bytes, const NpyHeader& header,
                       const NpyOptions& options) {
  FileDump dump;
  dump.path = path;
  dump.format = "npy";
  std::optional<DType> told = options.dtype;
  if (!told) {
    told = dtype_of_sidecar(header, path, dump.warnings);
  }
  const std::uint64_t data_bytes = bytes.size() - header.data_offset;
  FileTensor array = describe_npy(header, data_bytes, told, base_name(path), dump.warnings);
  array.bytes = bytes.part(header.data_offset, std::min(array.size_bytes, data_bytes));
  dump.tensors.push_back(std::move(array));
  return dump;
}

}  // namespace

bool probe_npy(ByteSpan head, std::uint64_t /*file_size*/, std::string_view file_name) {
  return is_npy(head) || file_name.ends_with(".npy");
}

FileTensor describe_npy(const NpyHeader& header, std::uint64_t data_bytes,
                        std::optional<DType> told, std::string_view name,
                        std::vector<std::string>& warnings) {
  FileTensor array;
  array.desc.format = tensor::Format::reserved;
  array.desc.shape = header.shape;
  array.desc.big_endian = header.big_endian && header.item_bytes > 1;
  array.size_bytes = data_bytes;
  const Result<DType> labelled = npy_dtype(header);
  if (!labelled) {
    array.problem = labelled.error();
    return array;
  }
  array.desc.dtype = choose_dtype(header, *labelled, told, name, warnings);
  if (header.fortran_order) {
    array.desc.strides = fortran_strides(header.shape);
  }
  // The header parser has made sure that the count is known and below 2^62.
  const std::uint64_t count = tensor::element_count(header.shape).value_or(0U);
  const std::uint64_t item = std::max<std::uint64_t>(header.item_bytes, 1);
  if (count > data_bytes / item) {
    array.problem =
        Error{ErrorCode::truncated,
              "expected " + std::to_string(count) + " elements of " + std::to_string(item) +
                  " bytes, found " + std::to_string(data_bytes) + " bytes of data",
              {},
              header.data_offset};
    return array;
  }
  array.size_bytes = count * item;
  if (array.size_bytes < data_bytes) {
    warnings.push_back(std::to_string(data_bytes - array.size_bytes) +
                       " bytes after the array are ignored");
  }
  return array;
}

Result<FileDump> open_npy(const std::string& path) {
  return open_npy(path, NpyOptions{});
}

Result<FileDump> open_npy(const std::string& path, const NpyOptions& options) {
  OPDRIFT_TRY(const std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  OPDRIFT_TRY(const NpyHeader header, in_file(header_of(*file), path));
  FileDump dump = describe_file(path, Bytes{file->bytes(), file}, header, options);
  if (dump.tensors.front().problem) {
    dump.tensors.front().problem->path = path;
  }
  return dump;
}

}  // namespace opdrift::io
