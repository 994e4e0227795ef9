#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "opdrift/base/byte_cursor.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/tensor/dtype.hpp"
#include "opdrift/tensor/tensor.hpp"

/// Head of a .npy file:
///
///   file    = 93 "NUMPY" major minor length dict data
///   major   = 01 (length u16, Latin-1) | 02 (length u32, Latin-1) | 03 (length u32, UTF-8)
///   dict    = Python literal {'descr': D, 'fortran_order': B, 'shape': (n, ...), }, padded with
///             blanks and ended by a newline so that data begins at a multiple of 64 (16 in old
///             files; a reader must not rely on it)
///   D       = order kind size, as in '<f4' | list of fields (structured)
///   order   = '<' little-endian | '>' big-endian | '|' neither | '=' as the writer's machine
///   kind    = b bool, i int, u unsigned, f float, c complex, V raw bytes, O pickled Python object,
///             S U strings, M m dates
///   data    = product of shape elements, first axis slowest, or fastest when fortran_order
namespace opdrift::io {

/// What stands in front of the data.
struct NpyHeader {
  std::string descr;  ///< as written; "[...]" for structured types
  char kind = 'V';    ///< '[' for structured types, '?' when the descr makes no sense
  bool big_endian = false;
  std::uint64_t item_bytes = 0;  ///< 0 when unknown (object, structured)
  bool fortran_order = false;
  tensor::Shape shape;
  std::uint64_t data_offset = 0;
};

/// Longest dictionary accepted. NumPy itself stops at 10,000 bytes unless told otherwise.
inline constexpr std::uint64_t kMaxNpyHeaderBytes = 1 << 20;

/// Bytes that are enough to parse any accepted header.
inline constexpr std::uint64_t kNpyHeadBytes = kMaxNpyHeaderBytes + 12;

bool is_npy(ByteSpan head);

/// Parses the head of a file. `bytes` needs to hold the header only. Fails with malformed
/// (no magic, not a dictionary, wrong or missing keys), unsupported (version), truncated, limit or
/// bad_shape (negative extents, more than 64 axes).
Result<NpyHeader> parse_npy_header(ByteSpan bytes);

/// The element type a header names; `raw` for void, unsupported_dtype for all that cannot be read
/// as numbers (objects, strings, dates, structures, 16-byte floats).
Result<tensor::DType> npy_dtype(const NpyHeader& header);

/// The header NumPy writes for this array: version 1.0, or 2.0 when too long for that.
std::string format_npy_header(std::string_view descr, bool fortran_order,
                              const tensor::Shape& shape);

}  // namespace opdrift::io
