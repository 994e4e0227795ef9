#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "opdrift/base/byte_cursor.hpp"
#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/result.hpp"

/// The frame of an HDF5 file (format specification 3.0, little-endian). O and L are numbers of the
/// widths the superblock gives; an O of all ones is no address.
///
///   superblock = 89 "HDF" 0D 0A 1A 0A version u8 ...
///     version 0, 1: u8*4, width_O u8, width_L u8, u8, leaf_k u16, internal_k u16, flags u32,
///                   [version 1: u16 u16], base O, free O, end O, driver O,
///                   root entry (name O, header O, ...)
///     version 2, 3: width_O u8, width_L u8, flags u8, base O, extension O, end O, root header O,
///                   checksum u32
///   header 1   = 01 u8 messages u16, references u32, bytes u32, u32, message1*
///   message1   = type u16, bytes u16, flags u8, u8*3, data
///   header 2   = "OHDR" 02 flags u8, [times u32*4], [u16 u16], bytes u8..u64, message2*, checksum
///   message2   = type u8, bytes u16, flags u8, [order u16], data
///   continuation (message type 16) = address O, bytes L of a block of further messages; in
///                version 2 the block is "OCHK" message2* checksum
///
/// Nothing is believed: addresses and sizes are checked against the file, the number of blocks and
/// messages is limited.
namespace opdrift::io::hdf5 {

enum class MessageType : std::uint16_t {
  dataspace = 0x01,
  link_info = 0x02,
  datatype = 0x03,
  link = 0x06,
  external_files = 0x07,
  layout = 0x08,
  filters = 0x0B,
  attribute = 0x0C,
  continuation = 0x10,
  symbol_table = 0x11,
  attribute_info = 0x15,
};

struct Message {
  MessageType type{};
  bool shared = false;  ///< the data only say where the message really is
  ByteSpan data;
  std::uint64_t offset = 0;  ///< of data in the file
};

class File {
 public:
  /// Reads the superblock. Fails with malformed, truncated or unsupported.
  static Result<File> open(Bytes bytes);

  std::uint64_t root() const { return root_; }
  const Bytes& bytes() const { return bytes_; }

  /// A cursor over [address, address + count). Fails with truncated.
  Result<ByteCursor> at(std::uint64_t address, std::uint64_t count) const;
  /// A cursor from `address` to the end of the file.
  Result<ByteCursor> from(std::uint64_t address) const;

  /// An address; nothing when it is "undefined".
  Result<std::optional<std::uint64_t>> address(ByteCursor& cursor, std::string_view field) const;
  Result<std::uint64_t> length(ByteCursor& cursor, std::string_view field) const;
  unsigned address_width() const { return address_width_; }
  unsigned length_width() const { return length_width_; }

  /// All messages of the object header at `address`, continuations followed.
  Result<std::vector<Message>> messages(std::uint64_t address) const;

 private:
  struct Block;
  explicit File(Bytes bytes) : bytes_(std::move(bytes)) {}
  Status read_superblock();
  Status read_old_superblock(ByteCursor& cursor, unsigned version);
  Status read_new_superblock(ByteCursor& cursor);
  Status set_widths(unsigned address_width, unsigned length_width);
  Result<Block> first_block(std::uint64_t address) const;
  Status read_block(const Block& block, std::vector<Message>& messages,
                    std::vector<Block>& waiting) const;
  Result<Block> continuation(const Message& message, const Block& parent) const;

  Bytes bytes_;
  std::uint64_t root_ = 0;
  unsigned address_width_ = 8;
  unsigned length_width_ = 8;
};

bool is_hdf5(ByteSpan head);

/// A little-endian number of 1 to 8 bytes.
Result<std::uint64_t> read_number(ByteCursor& cursor, unsigned width, std::string_view field);

}  // namespace opdrift::io::hdf5
