#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "opdrift/base/byte_cursor.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/io/dump.hpp"
#include "opdrift/tensor/dtype.hpp"

/// Dump of a nano device:
///
///   file     = u64 T, T bytes head, payload (inputs, then outputs, exactly `size` bytes each)
///   head     = u32 0x5A5A5A5A, u32 version, [block of tag 4: inputs], [block of tag 5: outputs]
///   block    = u32 tag, u32 length (not used), u32 count, count * descriptor
///   input    = i32 data_type, i32 format, i32 address_type, u64 address, u64 offset, u64 size,
///              u32 list_len, items
///   output   = i32 data_type, i32 format, i32 address_type, i32 original_index,
///              i32 original_data_type, i32 original_format, u64 address, u64 offset, u64 size,
///              u32 list_len, items
///   items    = [shape: tag 0, u64*] [original_shape: tag 1, u64*] [output: name, tag 2, bytes]
///   item     = u32 tag, u32 length, length bytes
///
/// An item is absent, and nothing is consumed, when `list_len` is used up, fewer than eight bytes
/// are left, the tag is another one, or 0 < length < element size. A block is absent when fewer
/// than eight bytes are left or its tag is another one. A tensor without shape is flat, all bytes.
namespace opdrift::io {

/// True for files longer than 12 bytes with the magic number at offset 8.
bool probe_ascend_nano(ByteSpan head, std::uint64_t file_size, std::string_view file_name);

/// Maps the file and reads its head. Fails with truncated (head longer than the file), bad_nano (a
/// descriptor runs out of bytes), bad_header (sizes do not add up to the file), limit or what
/// mapping may fail with. Element types without a decoder are a tensor's `problem`. The operator's
/// name is the second part of the file name.
Result<FileDump> open_ascend_nano(const std::string& path);
Result<FileDump> parse_ascend_nano(const Bytes& file, const std::string& path);

/// The element type behind a number of the nano numbering, which is not that of other dumps.
std::optional<tensor::DType> dtype_by_nano_number(int number);

}  // namespace opdrift::io
