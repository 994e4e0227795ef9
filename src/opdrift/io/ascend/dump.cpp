#include "opdrift/io/ascend/dump.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "opdrift/base/protobuf_cursor.hpp"
#include "opdrift/io/ascend/tensor.hpp"
#include "opdrift/io/in_file.hpp"

namespace opdrift::io {

namespace {

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeaderBytes = std::uint64_t{256} << 20;
constexpr std::size_t kMaxTensors = 100'000;
constexpr std::size_t kMaxDims = 4096;

/// Field numbers that differ between inputs and outputs; 0 = the message has no such field.
struct TensorFields {
  std::uint32_t original_op;
  std::uint32_t size;
  std::uint32_t original_shape;
  std::uint32_t sub_format;
  std::uint32_t address;
  std::uint32_t dim_range;
};

constexpr TensorFields kOutputFields = {4, 6, 7, 8, 9, 10};
constexpr TensorFields kInputFields = {0, 5, 6, 7, 8, 0};
constexpr std::uint32_t kShapeField = 3;

Status read_shape(const ProtobufField& message, tensor::Shape& shape) {
  return for_each_field(ProtobufCursor(message), [&](const ProtobufField& field) -> Status {
    return field.number == 1 ? append_varints(field, shape, kMaxDims) : Status(Unit{});
  });
}

/// Walks over a message only to see that it is one, and that field 1 is UTF-8 when it is text.
Status check_message(const ProtobufField& message, bool first_is_text) {
  return for_each_field(ProtobufCursor(message), [&](const ProtobufField& field) -> Status {
    if (first_is_text && field.is(1, WireType::bytes)) {
      OPDRIFT_CHECK_OK(field.as_utf8("original operator name"));
    }
    return Unit{};
  });
}

Status read_nested(const TensorFields& fields, const ProtobufField& field,
                   tensor::TensorDesc& desc) {
  if (field.number == kShapeField) {
    return read_shape(field, desc.shape);
  }
  if (field.number == fields.original_shape) {
    return read_shape(field, desc.original_shape);
  }
  if (field.number == fields.original_op || field.number == fields.dim_range) {
    return check_message(field, field.number == fields.original_op);
  }
  return Unit{};
}

void read_scalar(const TensorFields& fields, const ProtobufField& field, FileTensor& out) {
  if (field.number == 1) {
    set_ascend_dtype(out.desc, field.as_i32());
  } else if (field.number == 2) {
    out.desc.format = static_cast<tensor::Format>(field.as_i32());
  } else if (field.number == fields.size) {
    out.size_bytes = field.value;
  } else if (field.number == fields.sub_format) {
    out.desc.sub_format = field.as_i32();
  } else if (field.number == fields.address) {
    out.desc.address = field.value;
  }
}

Result<FileTensor> read_tensor(const ProtobufField& message, TensorRole role) {
  const TensorFields& fields = role == TensorRole::output ? kOutputFields : kInputFields;
  FileTensor out;
  out.role = role;
  out.desc.format = tensor::Format::nchw;
  set_ascend_dtype(out.desc, 0);
  OPDRIFT_CHECK_OK(
      for_each_field(ProtobufCursor(message), [&](const ProtobufField& field) -> Status {
        if (field.type == WireType::bytes) {
          return read_nested(fields, field, out.desc);
        }
        if (field.type == WireType::varint) {
          read_scalar(fields, field, out);
        }
        return Unit{};
      }));
  out.desc.has_shape = !out.desc.shape.empty();
  return out;
}

Result<FileTensor> read_block(const ProtobufField& message, TensorRole role) {
  FileTensor out;
  out.role = role;
  out.desc.dtype = tensor::DType::raw;
  OPDRIFT_CHECK_OK(
      for_each_field(ProtobufCursor(message), [&](const ProtobufField& field) -> Status {
        out.size_bytes = field.is(3, WireType::varint) ? field.value : out.size_bytes;
        return Unit{};
      }));
  out.desc.shape = {out.size_bytes};
  return out;
}

Status read_attribute(const ProtobufField& message, FileDump& dump) {
  std::pair<std::string, std::string> attribute;
  OPDRIFT_CHECK_OK(
      for_each_field(ProtobufCursor(message), [&](const ProtobufField& field) -> Status {
        if (field.is(1, WireType::bytes) || field.is(2, WireType::bytes)) {
          OPDRIFT_TRY(const std::string_view text, field.as_utf8("attribute"));
          (field.number == 1 ? attribute.first : attribute.second) = text;
        }
        return Unit{};
      }));
  dump.attributes.push_back(std::move(attribute));
  return Unit{};
}

std::optional<TensorRole> role_of_field(std::uint32_t number) {
  switch (number) {
    case 3: return TensorRole::output;
    case 4: return TensorRole::input;
    case 5: return TensorRole::buffer;
    case 8: return TensorRole::space;
    default: return std::nullopt;
  }
}

/// The fields of DumpData, tensors sorted by role.
class HeaderReader {
 public:
  explicit HeaderReader(FileDump& dump) : dump_(dump) {}

  Status read(ByteSpan header) {
    OPDRIFT_CHECK_OK(for_each_field(ProtobufCursor(header, kLengthBytes),
                                    [&](const ProtobufField& field) { return take(field); }));
    for (std::vector<FileTensor>* list : {&inputs_, &outputs_, &buffers_, &spaces_}) {
      for (std::size_t i = 0; i < list->size(); ++i) {
        (*list)[i].index = static_cast<std::uint32_t>(i);
        dump_.tensors.push_back(std::move((*list)[i]));
      }
    }
    return Unit{};
  }

 private:
  Status take(const ProtobufField& field) {
    if (field.is(2, WireType::varint)) {
      dump_.dump_time_us = field.value;
      return Unit{};
    }
    if (field.type != WireType::bytes) {
      return Unit{};
    }
    if (const std::optional<TensorRole> role = role_of_field(field.number)) {
      return take_tensor(field, *role);
    }
    if (field.number == 7) {
      return read_attribute(field, dump_);
    }
    return take_text(field);
  }

  Status take_text(const ProtobufField& field) {
    if (field.number == 1 || field.number == 6 || field.number == 9) {
      OPDRIFT_TRY(const std::string_view text, field.as_utf8("header text"));
      if (field.number != 9) {
        (field.number == 1 ? dump_.version : dump_.op_name) = text;
      }
    }
    return Unit{};
  }

  Status take_tensor(const ProtobufField& field, TensorRole role) {
    if (++count_ > kMaxTensors) {
      return Error{ErrorCode::limit, "expected at most 100000 tensors", {}, field.offset};
    }
    const bool is_tensor = role == TensorRole::input || role == TensorRole::output;
    OPDRIFT_TRY(FileTensor read, is_tensor ? read_tensor(field, role) : read_block(field, role));
    list_of(role).push_back(std::move(read));
    return Unit{};
  }

  std::vector<FileTensor>& list_of(TensorRole role) {
    switch (role) {
      case TensorRole::input: return inputs_;
      case TensorRole::output: return outputs_;
      case TensorRole::buffer: return buffers_;
      case TensorRole::space: break;
    }
    return spaces_;
  }

  FileDump& dump_;
  std::size_t count_ = 0;
  std::vector<FileTensor> inputs_;
  std::vector<FileTensor> outputs_;
  std::vector<FileTensor> buffers_;
  std::vector<FileTensor> spaces_;
};

/// Gives every tensor its part of the payload.
void place_payload(const Bytes& file, std::uint64_t offset, FileDump& dump) {
  for (FileTensor& file_tensor : dump.tensors) {
    const std::uint64_t left = file.size() - offset;
    if (file_tensor.size_bytes > left) {
      const Error short_payload{ErrorCode::truncated,
                                "payload: expected " + std::to_string(file_tensor.size_bytes) +
                                    " bytes, found " + std::to_string(left),
                                dump.path, offset};
      file_tensor.problem = short_payload;
      offset = file.size();
      continue;
    }
    file_tensor.bytes = file.part(offset, file_tensor.size_bytes);
    offset += file_tensor.size_bytes;
    if (file_tensor.role == TensorRole::input || file_tensor.role == TensorRole::output) {
      settle_ascend_tensor(file_tensor);
    }
  }
}

Status parse_into(const Bytes& file, FileDump& dump) {
  if (file.size() == 0) {
    return Error{ErrorCode::truncated, "expected a dump, found an empty file"};
  }
  if (file.size() <= kLengthBytes) {
    dump.warnings.push_back("expected more than 8 bytes, found " + std::to_string(file.size()) +
                            ": read as an empty dump");
    return Unit{};
  }
  ByteCursor cursor(file.span);
  OPDRIFT_TRY(const std::uint64_t header_bytes, cursor.u64("header length"));
  if (header_bytes > cursor.remaining()) {
    return Error{ErrorCode::truncated,
                 "header: expected " + std::to_string(header_bytes) + " bytes, found " +
                     std::to_string(cursor.remaining()),
                 {},
                 kLengthBytes};
  }
  if (header_bytes > kMaxHeaderBytes) {
    return Error{ErrorCode::limit, "header: expected at most 256 MiB, found " +
                                       std::to_string(header_bytes) + " bytes"};
  }
  OPDRIFT_TRY(const ByteSpan header, cursor.take(header_bytes, "header"));
  OPDRIFT_CHECK_OK(HeaderReader(dump).read(header));
  place_payload(file, kLengthBytes + header_bytes, dump);
  return Unit{};
}

}  // namespace

bool probe_ascend_dump(ByteSpan head, std::uint64_t file_size, std::string_view /*file_name*/) {
  ByteCursor cursor(head);
  const Result<std::uint64_t> header_bytes = cursor.u64("header length");
  if (!header_bytes || *header_bytes == 0 || file_size < kLengthBytes ||
      *header_bytes > file_size - kLengthBytes) {
    return false;
  }
  const Result<std::uint8_t> tag = cursor.u8("first tag");
  if (!tag) {
    return false;
  }
  const unsigned number = *tag >> 3U;
  const unsigned type = *tag & 7U;
  return number >= 1 && number <= 9 && type == (number == 2 ? 0U : 2U);
}

Result<FileDump> parse_ascend_dump(const Bytes& file, const std::string& path) {
  FileDump dump;
  dump.path = path;
  dump.format = "ascend";
  const Status status = parse_into(file, dump);
  if (!status) {
    return in_file(status.error(), path);
  }
  return dump;
}

Result<FileDump> open_ascend_dump(const std::string& path) {
  OPDRIFT_TRY(const Bytes file, map_file(path));
  return parse_ascend_dump(file, path);
}

}  // namespace opdrift::io
