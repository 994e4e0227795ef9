#include "opdrift/base/protobuf_cursor.hpp"

#include <array>
#include <bit>

#include "opdrift/base/text.hpp"

namespace opdrift {

namespace {

constexpr std::uint64_t kMaxTag = 0xFFFFFFFF;

Error malformed(std::string message, std::uint64_t offset) {
  return Error{ErrorCode::malformed, std::move(message), {}, offset};
}

}  // namespace

float ProtobufField::as_float() const {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value));
}

double ProtobufField::as_double() const {
  return std::bit_cast<double>(value);
}

Result<std::string_view> ProtobufField::as_utf8(std::string_view what) const {
  const std::string_view content = as_text(bytes);
  if (!is_utf8(content)) {
    return malformed(std::string(what) + ": expected UTF-8 text, found other bytes", offset);
  }
  return content;
}

Result<ProtobufCursor::Tag> ProtobufCursor::read_tag() {
  const std::uint64_t offset = cursor_.file_offset();
  OPDRIFT_TRY(const std::uint64_t tag, cursor_.varint("protobuf tag"));
  const std::uint64_t type = tag & 7;
  if (tag > kMaxTag || tag >> 3 == 0 || type > 5) {
    return malformed("protobuf tag: expected field 1 or above and wire type 0 to 5, found " +
                         std::to_string(tag),
                     offset);
  }
  return Tag{static_cast<std::uint32_t>(tag >> 3), static_cast<WireType>(type)};
}

Result<bool> ProtobufCursor::next() {
  if (depth_ > kMaxDepth) {
    return malformed("expected at most " + std::to_string(kMaxDepth) + " nested messages",
                     cursor_.file_offset());
  }
  if (cursor_.remaining() == 0) {
    return false;
  }
  OPDRIFT_TRY(const Tag tag, read_tag());
  field_ = ProtobufField{.number = tag.number,
                         .type = tag.type,
                         .value = 0,
                         .bytes = {},
                         .offset = cursor_.file_offset(),
                         .nested_depth = depth_ + 1};
  OPDRIFT_CHECK_OK(read_value(tag));
  return true;
}

Status ProtobufCursor::read_value(const Tag& tag) {
  switch (tag.type) {
    case WireType::varint: {
      OPDRIFT_TRY(field_.value, cursor_.varint("protobuf number"));
      return Unit{};
    }
    case WireType::fixed64: {
      OPDRIFT_TRY(field_.value, cursor_.u64("protobuf fixed64"));
      return Unit{};
    }
    case WireType::fixed32: {
      OPDRIFT_TRY(field_.value, cursor_.u32("protobuf fixed32"));
      return Unit{};
    }
    case WireType::bytes: {
      OPDRIFT_TRY(std::uint64_t length, cursor_.varint("protobuf length"));
      field_.offset = cursor_.file_offset();
      if (accept_cut_ && length > cursor_.remaining()) {
        length = cursor_.remaining();
        was_cut_ = true;
      }
      OPDRIFT_TRY(field_.bytes, cursor_.take(length, "protobuf field"));
      return Unit{};
    }
    case WireType::group: return read_group(tag.number);
    case WireType::end_group: break;
  }
  return malformed("protobuf group: found an end without a begin", field_.offset);
}

Status ProtobufCursor::read_group(std::uint32_t number) {
  std::array<std::uint32_t, kMaxDepth + 1> open{};
  std::size_t level = 0;
  open[level++] = number;
  ByteCursor begin = cursor_;
  const std::size_t start = cursor_.position();
  while (true) {
    const std::size_t content_end = cursor_.position();
    OPDRIFT_TRY(const Tag tag, read_tag());
    if (tag.type == WireType::group) {
      if (level + depth_ >= kMaxDepth) {
        return malformed("expected at most " + std::to_string(kMaxDepth) + " nested groups",
                         cursor_.file_offset());
      }
      open[level++] = tag.number;
    } else if (tag.type != WireType::end_group) {
      OPDRIFT_CHECK_OK(skip_scalar(tag.type));
    } else if (open[--level] != tag.number) {
      return malformed("protobuf group: expected the end of field " + std::to_string(open[level]) +
                           ", found the end of field " + std::to_string(tag.number),
                       cursor_.file_offset());
    } else if (level == 0) {
      OPDRIFT_TRY(field_.bytes, begin.take(content_end - start, "protobuf group"));
      return Unit{};
    }
  }
}

Status ProtobufCursor::skip_scalar(WireType type) {
  if (type == WireType::varint) {
    OPDRIFT_CHECK_OK(cursor_.varint("protobuf number"));
    return Unit{};
  }
  if (type == WireType::bytes) {
    OPDRIFT_TRY(const std::uint64_t length, cursor_.varint("protobuf length"));
    return cursor_.skip(length, "protobuf field");
  }
  return cursor_.skip(type == WireType::fixed64 ? 8 : 4, "protobuf fixed number");
}

Status append_varints(const ProtobufField& field, std::vector<std::uint64_t>& out,
                      std::size_t max_count) {
  const auto full = [&] {
    return Error{ErrorCode::limit,
                 "expected at most " + std::to_string(max_count) + " numbers in field " +
                     std::to_string(field.number),
                 {},
                 field.offset};
  };
  if (field.type == WireType::varint) {
    if (out.size() >= max_count) {
      return full();
    }
    out.push_back(field.value);
  } else if (field.type == WireType::bytes) {
    ByteCursor numbers(field.bytes, field.offset);
    while (numbers.remaining() > 0) {
      if (out.size() >= max_count) {
        return full();
      }
      OPDRIFT_TRY(const std::uint64_t number, numbers.varint("packed number"));
      out.push_back(number);
    }
  }
  return Unit{};
}

void ProtobufWriter::put_varint(std::uint64_t value) {
  while (value >= 0x80) {
    data_.push_back(static_cast<std::byte>(value | 0x80));
    value >>= 7;
  }
  data_.push_back(static_cast<std::byte>(value));
}

void ProtobufWriter::put_little_endian(std::uint64_t value, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    data_.push_back(static_cast<std::byte>(value >> (8 * i)));
  }
}

void ProtobufWriter::put_tag(std::uint32_t number, WireType type) {
  put_varint(std::uint64_t{number} << 3 | static_cast<std::uint64_t>(type));
}

void ProtobufWriter::varint(std::uint32_t number, std::uint64_t value) {
  put_tag(number, WireType::varint);
  put_varint(value);
}

void ProtobufWriter::signed_varint(std::uint32_t number, std::int64_t value) {
  varint(number, static_cast<std::uint64_t>(value));
}

void ProtobufWriter::fixed32(std::uint32_t number, std::uint32_t value) {
  put_tag(number, WireType::fixed32);
  put_little_endian(value, 4);
}

void ProtobufWriter::fixed64(std::uint32_t number, std::uint64_t value) {
  put_tag(number, WireType::fixed64);
  put_little_endian(value, 8);
}

void ProtobufWriter::real(std::uint32_t number, float value) {
  fixed32(number, std::bit_cast<std::uint32_t>(value));
}

void ProtobufWriter::real(std::uint32_t number, double value) {
  fixed64(number, std::bit_cast<std::uint64_t>(value));
}

void ProtobufWriter::text(std::uint32_t number, std::string_view value) {
  bytes(number, as_bytes(value));
}

void ProtobufWriter::bytes(std::uint32_t number, ByteSpan value) {
  put_tag(number, WireType::bytes);
  put_varint(value.size());
  data_.insert(data_.end(), value.begin(), value.end());
}

void ProtobufWriter::message(std::uint32_t number, const ProtobufWriter& value) {
  bytes(number, value.view());
}

void ProtobufWriter::field(const ProtobufField& field) {
  switch (field.type) {
    case WireType::varint: varint(field.number, field.value); break;
    case WireType::fixed64: fixed64(field.number, field.value); break;
    case WireType::fixed32: fixed32(field.number, static_cast<std::uint32_t>(field.value)); break;
    case WireType::bytes: bytes(field.number, field.bytes); break;
    case WireType::group:
    case WireType::end_group: break;
  }
}

void ProtobufWriter::packed(std::uint32_t number, std::span<const std::uint64_t> values) {
  ProtobufWriter numbers;
  for (const std::uint64_t value : values) {
    numbers.put_varint(value);
  }
  message(number, numbers);
}

}  // namespace opdrift
