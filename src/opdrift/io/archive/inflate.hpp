#pragma once

#include <cstdint>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/result.hpp"

namespace opdrift::io {

/// How a deflate stream is wrapped: not at all (zip) or with a zlib header and checksum (HDF5).
enum class DeflateWrapping : std::uint8_t { none, zlib };

/// Unpacks exactly `bytes` bytes into memory; the caller has checked `bytes` against a limit. Fails
/// with malformed (bad data, or more or fewer bytes come out) or truncated (the stream does not
/// end).
Result<Bytes> inflate_to_memory(ByteSpan packed, std::uint64_t bytes, DeflateWrapping wrapping);

/// The same into a scratch file, which is then mapped.
Result<Bytes> inflate_to_scratch(ByteSpan packed, std::uint64_t bytes, DeflateWrapping wrapping);

/// The first `bytes` bytes of the output, or all when it has fewer.
Result<Bytes> inflate_head(ByteSpan packed, std::uint64_t bytes, DeflateWrapping wrapping);

/// The most bytes that `packed_bytes` of deflate data can unpack to: 258 bytes per 2 bits.
std::uint64_t deflate_bound(std::uint64_t packed_bytes);

/// CRC-32 as in zip files.
std::uint32_t crc32_of(ByteSpan bytes, std::uint32_t previous = 0);

}  // namespace opdrift::io
