#include "opdrift/io/onnx/tensor_data.hpp"

#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "opdrift/base/text.hpp"
#include "opdrift/io/in_file.hpp"

namespace opdrift::io::onnx {

namespace {

using tensor::DType;

struct TypeRow {
  int number;
  DType dtype;
  std::uint32_t field;  ///< of the typed data
};

constexpr TypeRow kTypes[] = {
    {1, DType::f32, 4},     {2, DType::u8, 5},    {3, DType::i8, 5},     {4, DType::u16, 5},
    {5, DType::i16, 5},     {6, DType::i32, 5},   {7, DType::i64, 7},    {8, DType::string, 6},
    {9, DType::boolean, 5}, {10, DType::f16, 5},  {11, DType::f64, 10},  {12, DType::u32, 11},
    {13, DType::u64, 11},   {14, DType::c64, 4},  {15, DType::c128, 10}, {16, DType::bf16, 5},
    {17, DType::e4m3fn, 5}, {19, DType::e5m2, 5}, {21, DType::u4, 5},    {22, DType::i4, 5},
    {23, DType::e2m1, 5},   {24, DType::e8m0, 5}, {25, DType::u2, 5},    {26, DType::i2, 5},
};

const TypeRow* row_of(int number) {
  for (const TypeRow& row : kTypes) {
    if (row.number == number) {
      return &row;
    }
  }
  return nullptr;
}

Error problem(ErrorCode code, const Tensor& tensor, const std::string& message) {
  return Error{code, "constant '" + printable(tensor.name) + "': " + message};
}

/// Collects the typed data fields as the bytes raw_data would hold.
class TypedData {
 public:
  TypedData(const TypeRow& row, std::uint64_t limit) : row_(row), limit_(limit) {}

  Status add(const ProtobufField& field) {
    if (field.number == 4 || field.number == 10) {
      return add_fixed(field);
    }
    std::vector<std::uint64_t> numbers;
    OPDRIFT_CHECK_OK(append_varints(field, numbers, limit_));
    // Packed 4- and 2-bit types stand a whole byte at a time in int32_data.
    const std::size_t size = std::max<std::size_t>(1, tensor::info(row_.dtype).bits / 8);
    for (const std::uint64_t number : numbers) {
      OPDRIFT_CHECK_OK(append(&number, size));
    }
    return Unit{};
  }

  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  Status add_fixed(const ProtobufField& field) {
    if (field.type == WireType::bytes) {
      return append(field.bytes.data(), field.bytes.size());
    }
    return append(&field.value, field.number == 4 ? 4 : 8);
  }

  Status append(const void* source, std::size_t size) {
    if (size > limit_ - bytes_.size()) {
      return Error{ErrorCode::data_mismatch, "more data than its shape needs"};
    }
    const auto* begin = static_cast<const std::byte*>(source);
    bytes_.insert(bytes_.end(), begin, begin + size);
    return Unit{};
  }

  const TypeRow& row_;
  std::uint64_t limit_;
  std::vector<std::byte> bytes_;
};

Result<Bytes> inner_data(const Tensor& tensor, const TypeRow& row, std::uint64_t needed) {
  Bytes raw = tensor.data;
  TypedData typed(row, needed);
  OPDRIFT_CHECK_OK(for_each_field(ProtobufCursor(tensor.message.span),
                                  [&](const ProtobufField& field) -> Status {
                                    if (field.is(9, WireType::bytes)) {
                                      raw = Bytes{field.bytes, tensor.message.owner};
                                    } else if (field.number == row.field) {
                                      return typed.add(field);
                                    }
                                    return Unit{};
                                  }));
  if (raw.size() > 0) {
    return raw;
  }
  return own_bytes(typed.take());
}

Result<Bytes> outer_data(const Tensor& tensor, const std::string& model_folder,
                         std::uint64_t needed) {
  OPDRIFT_TRY(const std::string path, external_path(tensor.location, model_folder));
  OPDRIFT_TRY(const Bytes file, map_file(path));
  const std::uint64_t length = tensor.length.value_or(needed);
  if (tensor.offset > file.size() || length > file.size() - tensor.offset) {
    return Error{ErrorCode::truncated,
                 "expected " + std::to_string(length) + " bytes of external data, the file has " +
                     std::to_string(file.size()) + " bytes",
                 path, tensor.offset};
  }
  return file.part(tensor.offset, length);
}

}  // namespace

std::optional<DType> dtype_of(int data_type) {
  const TypeRow* row = row_of(data_type);
  return row == nullptr ? std::nullopt : std::optional(row->dtype);
}

int data_type_of(DType dtype) {
  for (const TypeRow& row : kTypes) {
    if (row.dtype == dtype) {
      return row.number;
    }
  }
  return 0;
}

Result<tensor::Tensor> load(const Tensor& tensor, const std::string& model_folder) {
  const TypeRow* row = row_of(tensor.data_type);
  if (row == nullptr || row->dtype == DType::string) {
    return problem(
        ErrorCode::unsupported_dtype, tensor,
        "elements of type " + std::to_string(tensor.data_type) + " cannot be read as numbers");
  }
  OPDRIFT_TRY(const std::uint64_t count, tensor::element_count(tensor.dims));
  const std::optional<std::uint64_t> needed = tensor::storage_bytes(row->dtype, count);
  if (!needed) {
    return problem(ErrorCode::limit, tensor, "its shape needs more than 2^62 bytes");
  }
  Result<Bytes> data = tensor.external ? outer_data(tensor, model_folder, *needed)
                                       : inner_data(tensor, *row, *needed);
  if (!data) {
    Error error = std::move(data).error();
    error.message = "constant '" + printable(tensor.name) + "': " + error.message;
    return error;
  }
  if (data->size() != *needed) {
    return problem(ErrorCode::data_mismatch, tensor,
                   "expected " + std::to_string(*needed) + " bytes for shape (" +
                       tensor::to_string(tensor.dims) + "), found " + std::to_string(data->size()));
  }
  opdrift::tensor::Tensor result;
  result.desc.dtype = row->dtype;
  result.desc.shape = tensor.dims;
  result.bytes = std::move(data).value();
  return result;
}

Result<std::string> external_path(const std::string& location, const std::string& model_folder) {
  namespace fs = std::filesystem;
  const auto outside = [&] {
    return Error{ErrorCode::invalid_argument, "external data '" + printable(location) +
                                                  "' lies outside the model's folder '" +
                                                  printable(model_folder) + "'"};
  };
  const fs::path relative(location);
  if (location.empty() || relative.is_absolute() || location.find('\0') != std::string::npos) {
    return outside();
  }
  for (const fs::path& step : relative) {
    if (step == "..") {
      return outside();
    }
  }
  std::error_code failed;
  const fs::path folder = fs::canonical(model_folder, failed);
  if (failed) {
    return system_error(failed.value(), "cannot open the model's folder", model_folder);
  }
  const std::string path = (fs::path(model_folder) / relative).string();
  const fs::path real = fs::canonical(fs::path(model_folder) / relative, failed);
  if (failed) {
    return system_error(failed.value(), "cannot open external data", path);
  }
  const fs::path within = real.lexically_relative(folder);
  if (within.empty() || *within.begin() == "..") {
    return outside();
  }
  return path;
}

std::string folder_of_model(const std::string& model_path) {
  const std::string_view folder = folder_of(model_path);
  return folder.empty() ? "." : std::string(folder);
}

Result<Tensor> renamed(const Tensor& source, std::string name) {
  Tensor result = source;
  result.name = std::move(name);
  ProtobufWriter writer;
  const Bytes& message = source.message;
  OPDRIFT_CHECK_OK(
      for_each_field(ProtobufCursor(message.span), [&](const ProtobufField& field) -> Status {
        if (field.is(9, WireType::bytes)) {
          result.data = Bytes{field.bytes, message.owner};
        } else if (field.number != 8) {
          writer.field(field);
        }
        return Unit{};
      }));
  writer.text(8, result.name);
  result.message = own_bytes(writer.take());
  return result;
}

Tensor make_text_tensor(std::string name, const tensor::Shape& shape,
                        const std::vector<std::string>& texts) {
  constexpr int kText = 8;  // TensorProto.STRING
  ProtobufWriter writer;
  for (const std::uint64_t extent : shape) {
    writer.varint(1, extent);
  }
  writer.signed_varint(2, kText);
  for (const std::string& text : texts) {
    writer.text(6, text);
  }
  writer.text(8, name);
  Tensor tensor;
  tensor.name = std::move(name);
  tensor.data_type = kText;
  tensor.dims = shape;
  tensor.message = own_bytes(writer.take());
  return tensor;
}

Tensor make_external_tensor(const Tensor& source, const std::string& location, std::uint64_t offset,
                            std::uint64_t length) {
  ProtobufWriter writer;
  for (const std::uint64_t extent : source.dims) {
    writer.varint(1, extent);
  }
  writer.signed_varint(2, source.data_type);
  writer.text(8, source.name);
  for (const auto& [key, value] : {std::pair<std::string, std::string>{"location", location},
                                   {"offset", std::to_string(offset)},
                                   {"length", std::to_string(length)}}) {
    ProtobufWriter entry;
    entry.text(1, key);
    entry.text(2, value);
    writer.message(13, entry);
  }
  writer.varint(14, 1);
  Tensor tensor;
  tensor.name = source.name;
  tensor.data_type = source.data_type;
  tensor.dims = source.dims;
  tensor.external = true;
  tensor.location = location;
  tensor.offset = offset;
  tensor.length = length;
  tensor.message = own_bytes(writer.take());
  return tensor;
}

Tensor make_inner_tensor(const Tensor& source, std::string name, Bytes data) {
  ProtobufWriter writer;
  for (const std::uint64_t extent : source.dims) {
    writer.varint(1, extent);
  }
  writer.signed_varint(2, source.data_type);
  writer.text(8, name);
  Tensor tensor;
  tensor.name = std::move(name);
  tensor.data_type = source.data_type;
  tensor.dims = source.dims;
  tensor.message = own_bytes(writer.take());
  tensor.data = std::move(data);
  return tensor;
}

Tensor make_tensor(std::string name, DType dtype, const tensor::Shape& shape, ByteSpan bytes) {
  ProtobufWriter writer;
  for (const std::uint64_t extent : shape) {
    writer.varint(1, extent);
  }
  writer.signed_varint(2, data_type_of(dtype));
  writer.text(8, name);
  writer.bytes(9, bytes);
  Tensor tensor;
  tensor.name = std::move(name);
  tensor.data_type = data_type_of(dtype);
  tensor.dims = shape;
  tensor.message = own_bytes(writer.take());
  return tensor;
}

}  // namespace opdrift::io::onnx
