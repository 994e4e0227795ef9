#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "opdrift/base/result.hpp"

namespace opdrift {

using ByteSpan = std::span<const std::byte>;

/// Reads little-endian fields from a span, one named step at a time. Every step checks what is left
/// and fails with `truncated`, the field's name and the offset; the cursor then stays where it was.
class ByteCursor {
 public:
  /// `base_offset` is added to the offsets in error messages (position of `bytes` in its file).
  explicit ByteCursor(ByteSpan bytes, std::uint64_t base_offset = 0)
      : bytes_(bytes), base_offset_(base_offset) {}

  std::size_t position() const { return position_; }
  std::size_t remaining() const { return bytes_.size() - position_; }
  std::uint64_t file_offset() const { return base_offset_ + position_; }

  Result<std::uint8_t> u8(std::string_view field);
  Result<std::uint16_t> u16(std::string_view field);
  Result<std::uint32_t> u32(std::string_view field);
  Result<std::int32_t> i32(std::string_view field);
  Result<std::uint64_t> u64(std::string_view field);
  /// Protobuf base-128 number: at most ten bytes.
  Result<std::uint64_t> varint(std::string_view field);
  /// The next `count` bytes, not copied.
  Result<ByteSpan> take(std::uint64_t count, std::string_view field);
  Status skip(std::uint64_t count, std::string_view field);

 private:
  Error short_of(std::uint64_t needed, std::string_view field) const;

  ByteSpan bytes_;
  std::size_t position_ = 0;
  std::uint64_t base_offset_ = 0;
};

inline std::string_view as_text(ByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline ByteSpan as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

}  // namespace opdrift
