#include "opdrift/io/ascend/writer.hpp"

#include "opdrift/base/protobuf_cursor.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/tensor/dtype.hpp"

namespace opdrift::io {

namespace {

ProtobufWriter encode_shape(const tensor::Shape& shape) {
  ProtobufWriter message;
  message.packed(1, shape);
  return message;
}

Result<int> type_number(const tensor::TensorDesc& desc) {
  const int number =
      desc.ascend_dtype >= 0 ? desc.ascend_dtype : tensor::info(desc.dtype).ascend_number;
  if (number < 0) {
    return Error{ErrorCode::unsupported_dtype, "expected a type with an Ascend number, found " +
                                                   std::string(tensor::name_of(desc.dtype))};
  }
  return number;
}

Result<ProtobufWriter> encode_tensor(const AscendTensor& source) {
  const bool is_output = source.role == TensorRole::output;
  ProtobufWriter message;
  OPDRIFT_TRY(const int number, type_number(source.desc));
  message.signed_varint(1, number);
  message.signed_varint(2, static_cast<int>(source.desc.format));
  if (source.desc.has_shape) {
    message.message(3, encode_shape(source.desc.shape));
  }
  message.varint(is_output ? 6 : 5, source.claimed_size.value_or(source.bytes.size()));
  if (!source.desc.original_shape.empty()) {
    message.message(is_output ? 7 : 6, encode_shape(source.desc.original_shape));
  }
  if (source.desc.sub_format != 0) {
    message.signed_varint(is_output ? 8 : 7, source.desc.sub_format);
  }
  if (source.desc.address != 0) {
    message.varint(is_output ? 9 : 8, source.desc.address);
  }
  return message;
}

Result<ProtobufWriter> encode_member(const AscendTensor& source) {
  if (source.role == TensorRole::input || source.role == TensorRole::output) {
    return encode_tensor(source);
  }
  ProtobufWriter message;
  message.varint(3, source.claimed_size.value_or(source.bytes.size()));
  return message;
}

std::uint32_t member_field(TensorRole role) {
  switch (role) {
    case TensorRole::output: return 3;
    case TensorRole::input: return 4;
    case TensorRole::buffer: return 5;
    case TensorRole::space: break;
  }
  return 8;
}

Result<ProtobufWriter> encode_header(const AscendContent& content) {
  ProtobufWriter header;
  header.text(1, content.version);
  header.varint(2, content.dump_time_us);
  for (const AscendTensor& source : content.tensors) {
    OPDRIFT_TRY(const ProtobufWriter member, encode_member(source));
    header.message(member_field(source.role), member);
  }
  header.text(6, content.op_name);
  for (const auto& [name, value] : content.attributes) {
    ProtobufWriter attribute;
    attribute.text(1, name);
    attribute.text(2, value);
    header.message(7, attribute);
  }
  return header;
}

}  // namespace

Result<std::vector<std::byte>> encode_ascend_dump(const AscendContent& content) {
  OPDRIFT_TRY(const ProtobufWriter header, encode_header(content));
  std::vector<std::byte> file;
  for (unsigned i = 0; i < 8; ++i) {
    file.push_back(static_cast<std::byte>(std::uint64_t{header.view().size()} >> (8 * i)));
  }
  file.insert(file.end(), header.view().begin(), header.view().end());
  for (const TensorRole role :
       {TensorRole::input, TensorRole::output, TensorRole::buffer, TensorRole::space}) {
    for (const AscendTensor& source : content.tensors) {
      if (source.role == role) {
        file.insert(file.end(), source.bytes.begin(), source.bytes.end());
      }
    }
  }
  return file;
}

Status write_ascend_dump(const std::string& path, const AscendContent& content) {
  OPDRIFT_TRY(const std::vector<std::byte> file, encode_ascend_dump(content));
  OPDRIFT_TRY(FileWriter writer, FileWriter::create(path));
  OPDRIFT_CHECK_OK(writer.write(ByteSpan(file)));
  return writer.commit();
}

}  // namespace opdrift::io
