#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "opdrift/base/byte_cursor.hpp"
#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/io/dump.hpp"

/// Tensors of a model as Hugging Face stores them (`.safetensors`):
///
///   file   = u64 N, N bytes JSON (UTF-8, begins with "{", may end in blanks), data
///   JSON   = {name: {"dtype": D, "shape": [n, ...], "data_offsets": [begin, end]}, ...,
///             "__metadata__": {name: text, ...}}
///   D      = F64 F32 F16 BF16 F8_E5M2 F8_E4M3 F8_E8M0 F6_E2M3 F6_E3M2 F4 I64 I32 I16 I8 U64 U32
///            U16 U8 BOOL C64
///   offsets count from the begin of data; little-endian elements in C order
///
/// Every tensor is mapped in place, in the order of the data. Ranges outside the file or sharing
/// bytes are refused for the whole file: one of two such tensors would be wrong.
namespace opdrift::io {

bool probe_safetensors(ByteSpan head, std::uint64_t file_size, std::string_view file_name);

/// Fails with truncated or limit (header beyond the file or 100 MB), bad_json (no JSON of the form
/// above, names twice), malformed (ranges), or what mapping a file may fail with. Unknown element
/// types and ranges that do not fit the shape are a tensor's `problem`.
Result<FileDump> open_safetensors(const std::string& path);

/// The same over bytes that are already there; `path` is only named in the result.
Result<FileDump> parse_safetensors(const Bytes& file, const std::string& path);

}  // namespace opdrift::io
