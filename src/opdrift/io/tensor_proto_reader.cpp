#include "opdrift/io/tensor_proto_reader.hpp"

#include <optional>
#include <utility>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/protobuf_cursor.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/io/onnx/model.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"

namespace opdrift::io {

namespace {

constexpr std::size_t kMaxRank = 64;

Status read_external(const ProtobufField& entry, onnx::Tensor& tensor) {
  std::string_view key;
  std::string_view value;
  OPDRIFT_CHECK_OK(for_each_field(ProtobufCursor(entry), [&](const ProtobufField& field) -> Status {
    if (field.is(1, WireType::bytes)) {
      key = as_text(field.bytes);
    } else if (field.is(2, WireType::bytes)) {
      value = as_text(field.bytes);
    }
    return Unit{};
  }));
  if (key == "location") {
    tensor.location = std::string(value);
    return Unit{};
  }
  if (key != "offset" && key != "length") {
    return Unit{};
  }
  const std::optional<std::uint64_t> number = parse_u64(value);
  if (!number) {
    return Error{ErrorCode::malformed,
                 "external data: expected a number as " + std::string(key) + ", found '" +
                     printable(value) + "'",
                 {},
                 entry.offset};
  }
  if (key == "offset") {
    tensor.offset = *number;
  } else {
    tensor.length = number;
  }
  return Unit{};
}

Status read_field(const ProtobufField& field, onnx::Tensor& tensor) {
  if (field.number == 1) {
    return append_varints(field, tensor.dims, kMaxRank);
  }
  if (field.is(2, WireType::varint)) {
    tensor.data_type = field.as_i32();
  } else if (field.is(8, WireType::bytes)) {
    tensor.name = std::string(as_text(field.bytes));
  } else if (field.is(13, WireType::bytes)) {
    return read_external(field, tensor);
  } else if (field.is(14, WireType::varint)) {
    tensor.external = field.value == 1;
  }
  return Unit{};
}

FileTensor describe(const onnx::Tensor& tensor, const std::string& path) {
  FileTensor data;
  data.name = is_utf8(tensor.name) ? tensor.name : printable(tensor.name);
  data.desc.shape = tensor.dims;
  const std::optional<tensor::DType> dtype = onnx::dtype_of(tensor.data_type);
  data.desc.dtype = dtype.value_or(tensor::DType::raw);
  if (!dtype || *dtype == tensor::DType::string) {
    data.problem = Error{
        ErrorCode::unsupported_dtype,
        "elements of ONNX type " + std::to_string(tensor.data_type) + " cannot be read as numbers",
        path};
    return data;
  }
  const Result<std::uint64_t> count = tensor::element_count(tensor.dims);
  if (!count) {
    data.problem = in_file(count.error(), path);
    return data;
  }
  data.size_bytes = tensor::storage_bytes(*dtype, *count).value_or(0);
  data.loader = [tensor, path]() -> Result<Bytes> {
    OPDRIFT_TRY(opdrift::tensor::Tensor loaded,
                in_file(onnx::load(tensor, onnx::folder_of_model(path)), path));
    return std::move(loaded.bytes);
  };
  return data;
}

/// Little-endian number of the first eight bytes; all ones when there are fewer.
std::uint64_t first_u64(ByteSpan head) {
  return ByteCursor(head).u64("length").value_or(~std::uint64_t{0});
}

bool is_tensor_field_tag(std::byte first) {
  const auto tag = static_cast<unsigned>(first);
  const unsigned number = tag >> 3;
  const unsigned wire = tag & 7;
  return number >= 1 && number <= 14 && (wire == 0 || wire == 2);
}

}  // namespace

bool probe_tensor_proto(ByteSpan head, std::uint64_t file_size, std::string_view file_name) {
  if (!file_name.ends_with(".pb") || head.empty() || !is_tensor_field_tag(head.front())) {
    return false;
  }
  const bool ascend_length = file_size >= 8 && first_u64(head) <= file_size - 8;
  return !ascend_length;
}

Result<FileDump> parse_tensor_proto(const Bytes& file, const std::string& path) {
  onnx::Tensor tensor;
  tensor.message = file;
  OPDRIFT_CHECK_OK(in_file(
      for_each_field(ProtobufCursor(file.span),
                     [&tensor](const ProtobufField& field) { return read_field(field, tensor); }),
      path));
  if (tensor.data_type == 0) {
    return Error{ErrorCode::malformed, "expected an ONNX TensorProto, found no element type", path};
  }
  FileDump dump;
  dump.path = path;
  dump.format = "onnx";
  dump.tensors.push_back(describe(tensor, path));
  return dump;
}

Result<FileDump> open_tensor_proto(const std::string& path) {
  OPDRIFT_TRY(const Bytes file, map_file(path));
  return parse_tensor_proto(file, path);
}

}  // namespace opdrift::io
