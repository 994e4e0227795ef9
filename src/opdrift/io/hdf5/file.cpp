#include "opdrift/io/hdf5/file.hpp"

#include <string>

namespace opdrift::io::hdf5 {

namespace {

constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";
constexpr std::size_t kMaxMessages = 1 << 16;
constexpr std::size_t kMaxBlocks = 4096;
constexpr std::uint64_t kChecksumBytes = 4;

std::uint64_t all_ones(unsigned width) {
  return width >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * width)) - 1;
}

}  // namespace

/// A stretch of messages of one object header.
struct File::Block {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  bool version2 = false;
  bool has_order = false;
};

bool is_hdf5(ByteSpan head) {
  return as_text(head).starts_with(kSignature);
}

Result<std::uint64_t> read_number(ByteCursor& cursor, unsigned width, std::string_view field) {
  OPDRIFT_TRY(const ByteSpan bytes, cursor.take(width, field));
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | static_cast<std::uint64_t>(bytes[i]);
  }
  return value;
}

Result<File> File::open(Bytes bytes) {
  File file(std::move(bytes));
  OPDRIFT_CHECK_OK(file.read_superblock());
  return file;
}

Status File::read_superblock() {
  if (!is_hdf5(bytes_.span)) {
    return Error{ErrorCode::malformed, "expected the HDF5 signature", {}, 0};
  }
  ByteCursor cursor(bytes_.span);
  OPDRIFT_CHECK_OK(cursor.skip(kSignature.size(), "signature"));
  OPDRIFT_TRY(const std::uint8_t version, cursor.u8("superblock version"));
  if (version <= 1) {
    return read_old_superblock(cursor, version);
  }
  if (version <= 3) {
    return read_new_superblock(cursor);
  }
  return Error{ErrorCode::unsupported,
               "expected HDF5 superblock 0 to 3, found " + std::to_string(version),
               {},
               8};
}

Status File::set_widths(unsigned address_width, unsigned length_width) {
  for (const unsigned width : {address_width, length_width}) {
    if (width != 2 && width != 4 && width != 8) {
      return Error{ErrorCode::malformed,
                   "expected HDF5 numbers of 2, 4 or 8 bytes, found " + std::to_string(width),
                   {},
                   8};
    }
  }
  address_width_ = address_width;
  length_width_ = length_width;
  return Unit{};
}

Status File::read_old_superblock(ByteCursor& cursor, unsigned version) {
  OPDRIFT_CHECK_OK(cursor.skip(4, "superblock"));
  OPDRIFT_TRY(const std::uint8_t address_bytes, cursor.u8("width of offsets"));
  OPDRIFT_TRY(const std::uint8_t length_bytes, cursor.u8("width of lengths"));
  OPDRIFT_CHECK_OK(set_widths(address_bytes, length_bytes));
  OPDRIFT_CHECK_OK(cursor.skip(version == 1 ? 13 : 9, "superblock"));
  OPDRIFT_TRY(const auto base, address(cursor, "base address"));
  OPDRIFT_CHECK_OK(cursor.skip(4ULL * address_width_, "superblock"));
  OPDRIFT_TRY(const auto root, address(cursor, "root group"));
  if (base != std::uint64_t{0} || !root) {
    return Error{ErrorCode::unsupported, "expected an HDF5 file that begins at its first byte"};
  }
  root_ = *root;
  return Unit{};
}

Status File::read_new_superblock(ByteCursor& cursor) {
  OPDRIFT_TRY(const std::uint8_t address_bytes, cursor.u8("width of offsets"));
  OPDRIFT_TRY(const std::uint8_t length_bytes, cursor.u8("width of lengths"));
  OPDRIFT_CHECK_OK(set_widths(address_bytes, length_bytes));
  OPDRIFT_CHECK_OK(cursor.skip(1, "superblock"));
  OPDRIFT_TRY(const auto base, address(cursor, "base address"));
  OPDRIFT_CHECK_OK(cursor.skip(2ULL * address_width_, "superblock"));
  OPDRIFT_TRY(const auto root, address(cursor, "root group"));
  if (base != std::uint64_t{0} || !root) {
    return Error{ErrorCode::unsupported, "expected an HDF5 file that begins at its first byte"};
  }
  root_ = *root;
  return Unit{};
}

Result<ByteCursor> File::from(std::uint64_t address) const {
  if (address > bytes_.size()) {
    return Error{ErrorCode::truncated,
                 "expected an HDF5 object at byte " + std::to_string(address) + ", the file has " +
                     std::to_string(bytes_.size()),
                 {},
                 address};
  }
  return ByteCursor(bytes_.span.subspan(static_cast<std::size_t>(address)), address);
}

Result<ByteCursor> File::at(std::uint64_t address, std::uint64_t count) const {
  OPDRIFT_TRY(ByteCursor cursor, from(address));
  OPDRIFT_TRY(const ByteSpan bytes, cursor.take(count, "HDF5 block"));
  return ByteCursor(bytes, address);
}

Result<std::optional<std::uint64_t>> File::address(ByteCursor& cursor,
                                                   std::string_view field) const {
  OPDRIFT_TRY(const std::uint64_t value, read_number(cursor, address_width_, field));
  return value == all_ones(address_width_) ? std::optional<std::uint64_t>{} : std::optional(value);
}

Result<std::uint64_t> File::length(ByteCursor& cursor, std::string_view field) const {
  return read_number(cursor, length_width_, field);
}

Result<File::Block> File::first_block(std::uint64_t address) const {
  OPDRIFT_TRY(ByteCursor cursor, from(address));
  OPDRIFT_TRY(const std::uint8_t first, cursor.u8("object header version"));
  Block block;
  if (first == 1) {
    OPDRIFT_CHECK_OK(cursor.skip(7, "object header"));
    OPDRIFT_TRY(block.bytes, cursor.u32("object header size"));
    OPDRIFT_CHECK_OK(cursor.skip(4, "object header"));
    block.address = cursor.file_offset();
    return block;
  }
  OPDRIFT_TRY(const ByteSpan rest, cursor.take(3, "object header"));
  OPDRIFT_TRY(const std::uint8_t version, cursor.u8("object header version"));
  if (first != 'O' || as_text(rest) != "HDR" || version != 2) {
    return Error{ErrorCode::malformed, "expected an HDF5 object header", {}, address};
  }
  OPDRIFT_TRY(const std::uint8_t flags, cursor.u8("object header flags"));
  OPDRIFT_CHECK_OK(
      cursor.skip(((flags & 0x20) != 0 ? 16 : 0) + ((flags & 0x10) != 0 ? 4 : 0), "object header"));
  OPDRIFT_TRY(block.bytes, read_number(cursor, 1U << (flags & 3), "object header size"));
  block.address = cursor.file_offset();
  block.version2 = true;
  block.has_order = (flags & 4) != 0;
  return block;
}

Result<File::Block> File::continuation(const Message& message, const Block& parent) const {
  ByteCursor cursor(message.data, message.offset);
  OPDRIFT_TRY(const auto target, address(cursor, "continuation address"));
  Block block = parent;
  OPDRIFT_TRY(block.bytes, length(cursor, "continuation size"));
  block.address = target.value_or(bytes_.size());
  if (!parent.version2) {
    return block;
  }
  OPDRIFT_TRY(ByteCursor head, at(block.address, block.bytes));
  OPDRIFT_TRY(const ByteSpan magic, head.take(4, "continuation"));
  if (as_text(magic) != "OCHK" || block.bytes < 4 + kChecksumBytes) {
    return Error{ErrorCode::malformed, "expected an HDF5 header continuation", {}, block.address};
  }
  block.address += 4;
  block.bytes -= 4 + kChecksumBytes;
  return block;
}

Status File::read_block(const Block& block, std::vector<Message>& messages,
                        std::vector<Block>& waiting) const {
  OPDRIFT_TRY(ByteCursor cursor, at(block.address, block.bytes));
  const std::size_t head_bytes = block.version2 ? (block.has_order ? 6 : 4) : 8;
  while (cursor.remaining() >= head_bytes) {
    Message message;
    std::uint16_t type = 0;
    if (block.version2) {
      OPDRIFT_TRY(type, cursor.u8("message type"));
    } else {
      OPDRIFT_TRY(type, cursor.u16("message type"));
    }
    OPDRIFT_TRY(const std::uint16_t bytes, cursor.u16("message size"));
    OPDRIFT_TRY(const std::uint8_t flags, cursor.u8("message flags"));
    OPDRIFT_CHECK_OK(cursor.skip(head_bytes - (block.version2 ? 4 : 5), "message"));
    message.type = static_cast<MessageType>(type);
    message.shared = (flags & 2) != 0;
    message.offset = cursor.file_offset();
    OPDRIFT_TRY(message.data, cursor.take(bytes, "message"));
    if (message.type == MessageType::continuation) {
      OPDRIFT_TRY(Block next, continuation(message, block));
      waiting.push_back(next);
    } else {
      messages.push_back(message);
    }
    if (messages.size() > kMaxMessages || waiting.size() > kMaxBlocks) {
      return Error{
          ErrorCode::limit, "expected fewer messages in an HDF5 object header", {}, block.address};
    }
  }
  return Unit{};
}

Result<std::vector<Message>> File::messages(std::uint64_t address) const {
  OPDRIFT_TRY(const Block first, first_block(address));
  std::vector<Message> messages;
  std::vector<Block> waiting = {first};
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    const Block block = waiting[i];
    OPDRIFT_CHECK_OK(read_block(block, messages, waiting));
  }
  return messages;
}

}  // namespace opdrift::io::hdf5
