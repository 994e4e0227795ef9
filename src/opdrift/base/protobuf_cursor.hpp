#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/byte_cursor.hpp"
#include "opdrift/base/result.hpp"

/// Protobuf wire format, without schemas:
///
///   message = field*
///   field   = tag value            tag = varint (number << 3 | wire type), number 1 .. 2^29-1
///   value   = varint               wire type 0: integers, bool, enum; negatives take ten bytes
///           | 8 bytes              1: fixed64, double (little-endian)
///           | varint n, n bytes    2: string, bytes, sub-message, packed numbers
///           | field* end tag       3 .. 4: group
///           | 4 bytes              5: fixed32, float
namespace opdrift {

enum class WireType : std::uint8_t {
  varint = 0,
  fixed64 = 1,
  bytes = 2,
  group = 3,
  end_group = 4,
  fixed32 = 5
};

/// One field as found. A reader takes it only when number *and* wire type are the expected ones;
/// anything else is an unknown field and is passed over, as protobuf does.
struct ProtobufField {
  std::uint32_t number = 0;
  WireType type = WireType::varint;
  std::uint64_t value = 0;    ///< varint, fixed64, fixed32; other types 0
  ByteSpan bytes;             ///< content of a length-delimited field or a group, not copied
  std::uint64_t offset = 0;   ///< of the value or content in its file
  unsigned nested_depth = 1;  ///< depth a cursor over `bytes` has

  bool is(std::uint32_t wanted, WireType wanted_type) const {
    return number == wanted && type == wanted_type;
  }
  /// The low 32 bits, as protobuf reads int32 and enum fields.
  std::int32_t as_i32() const {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(value));
  }
  std::int64_t as_i64() const { return static_cast<std::int64_t>(value); }
  float as_float() const;
  double as_double() const;
  /// The content as text. Fails with `malformed` when it is not UTF-8; `what` names the field.
  Result<std::string_view> as_utf8(std::string_view what) const;
};

/// Walks over the fields of one message. Nothing is copied or allocated; sub-messages are read by
/// another cursor over `field().bytes`. Messages nested deeper than `kMaxDepth` are refused.
///
///   ProtobufCursor cursor(bytes, offset);
///   while (true) {
///     OPDRIFT_TRY(const bool more, cursor.next());
///     if (!more) { break; }
///     if (cursor.field().is(1, WireType::varint)) { ... }
///   }
class ProtobufCursor {
 public:
  static constexpr unsigned kMaxDepth = 100;

  /// `base_offset` is the position of `message` in its file, for error messages.
  explicit ProtobufCursor(ByteSpan message, std::uint64_t base_offset = 0)
      : cursor_(message, base_offset) {}
  /// The message inside a length-delimited field or group.
  explicit ProtobufCursor(const ProtobufField& field)
      : cursor_(field.bytes, field.offset), depth_(field.nested_depth) {}

  /// Steps to the next field; false at the end. Fails with `malformed` (bad tag, end of a group
  /// that was not begun, nesting too deep) or `truncated`.
  Result<bool> next();
  const ProtobufField& field() const { return field_; }

  /// From now on a length-delimited field that runs past the end gives what is there; `was_cut`
  /// tells. For saving what is left of a damaged file.
  void accept_cut() { accept_cut_ = true; }
  bool was_cut() const { return was_cut_; }
  /// Where the next field begins, in the file.
  std::uint64_t next_offset() const { return cursor_.file_offset(); }

 private:
  struct Tag {
    std::uint32_t number;
    WireType type;
  };
  Result<Tag> read_tag();
  Status read_value(const Tag& tag);
  Status read_group(std::uint32_t number);
  Status skip_scalar(WireType type);

  ByteCursor cursor_;
  unsigned depth_ = 0;
  bool accept_cut_ = false;
  bool was_cut_ = false;
  ProtobufField field_;
};

/// Calls `visit(field)` (returning Status) for every field of a message.
template <typename Visitor>
Status for_each_field(ProtobufCursor cursor, Visitor visit) {
  while (true) {
    OPDRIFT_TRY(const bool more, cursor.next());
    if (!more) {
      return Unit{};
    }
    OPDRIFT_CHECK_OK(visit(cursor.field()));
  }
}

/// Adds the numbers of one occurrence of a repeated field of type int32, int64, uint64, bool or
/// enum: packed (wire type bytes) or single (varint). Other wire types add nothing. Fails with
/// `malformed`, or with `limit` when `out` would hold more than `max_count`.
Status append_varints(const ProtobufField& field, std::vector<std::uint64_t>& out,
                      std::size_t max_count = std::size_t{1} << 28);

/// Writes messages of the grammar above. Sub-messages are written on their own and then added.
class ProtobufWriter {
 public:
  void varint(std::uint32_t number, std::uint64_t value);
  /// int32, int64 and enum: negatives become ten bytes.
  void signed_varint(std::uint32_t number, std::int64_t value);
  void fixed32(std::uint32_t number, std::uint32_t value);
  void fixed64(std::uint32_t number, std::uint64_t value);
  void real(std::uint32_t number, float value);
  void real(std::uint32_t number, double value);
  void text(std::uint32_t number, std::string_view value);
  void bytes(std::uint32_t number, ByteSpan value);
  void message(std::uint32_t number, const ProtobufWriter& value);
  void packed(std::uint32_t number, std::span<const std::uint64_t> values);
  /// A field as it was found; groups are left out.
  void field(const ProtobufField& field);

  ByteSpan view() const { return {data_.data(), data_.size()}; }
  std::vector<std::byte> take() { return std::move(data_); }

 private:
  void put_tag(std::uint32_t number, WireType type);
  void put_varint(std::uint64_t value);
  void put_little_endian(std::uint64_t value, unsigned bytes);

  std::vector<std::byte> data_;
};

}  // namespace opdrift
