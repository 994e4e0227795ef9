#include "opdrift/base/byte_cursor.hpp"

#include <cstring>
#include <string>

namespace opdrift {

namespace {

template <typename T>
T load_little_endian(ByteSpan bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

}  // namespace

Error ByteCursor::short_of(std::uint64_t needed, std::string_view field) const {
  return Error{ErrorCode::truncated,
               std::string(field) + ": expected " + std::to_string(needed) + " bytes, found " +
                   std::to_string(remaining()),
               {},
               file_offset()};
}

Result<ByteSpan> ByteCursor::take(std::uint64_t count, std::string_view field) {
  if (count > remaining()) {
    return short_of(count, field);
  }
  const ByteSpan part = bytes_.subspan(position_, static_cast<std::size_t>(count));
  position_ += static_cast<std::size_t>(count);
  return part;
}

Status ByteCursor::skip(std::uint64_t count, std::string_view field) {
  OPDRIFT_CHECK_OK(take(count, field));
  return Unit{};
}

Result<std::uint8_t> ByteCursor::u8(std::string_view field) {
  OPDRIFT_TRY(const ByteSpan part, take(1, field));
  return load_little_endian<std::uint8_t>(part);
}

Result<std::uint16_t> ByteCursor::u16(std::string_view field) {
  OPDRIFT_TRY(const ByteSpan part, take(2, field));
  return load_little_endian<std::uint16_t>(part);
}

Result<std::uint32_t> ByteCursor::u32(std::string_view field) {
  OPDRIFT_TRY(const ByteSpan part, take(4, field));
  return load_little_endian<std::uint32_t>(part);
}

Result<std::int32_t> ByteCursor::i32(std::string_view field) {
  OPDRIFT_TRY(const ByteSpan part, take(4, field));
  return load_little_endian<std::int32_t>(part);
}

Result<std::uint64_t> ByteCursor::u64(std::string_view field) {
  OPDRIFT_TRY(const ByteSpan part, take(8, field));
  return load_little_endian<std::uint64_t>(part);
}

Result<std::uint64_t> ByteCursor::varint(std::string_view field) {
  std::uint64_t value = 0;
  const std::size_t start = position_;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    if (remaining() == 0) {
      position_ = start;
      return short_of(1, field);
    }
    const auto byte = static_cast<std::uint64_t>(bytes_[position_++]);
    if (shift < 64) {
      value |= (byte & 0x7F) << shift;
    }
    if ((byte & 0x80) == 0) {
      return value;
    }
  }
  position_ = start;
  return Error{ErrorCode::malformed,
               std::string(field) + ": expected a number of at most ten bytes",
               {},
               file_offset()};
}

}  // namespace opdrift
