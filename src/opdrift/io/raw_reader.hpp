#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "opdrift/base/byte_cursor.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/io/dump.hpp"
#include "opdrift/io/hints.hpp"

/// Elements and nothing else (`.bin`, `.raw`, `.data`), little-endian, C order.
///
/// Element type, shape and format come from the caller, else from the sidecar, else from a name of
/// the kind `F.output.0.2_3.float16.NCHW.bin` (both in io/hints.hpp); each of them separately.
/// Without a type the tensor is of type raw; without a shape it is one axis. The vendor's converter
/// writes bfloat16 as float32 under a name that says bfloat16; the size of the file tells.
namespace opdrift::io {

bool probe_raw(ByteSpan head, std::uint64_t file_size, std::string_view file_name);

/// Fails with bad_json (sidecar), bad_shape, or what mapping a file may fail with. Fewer bytes than
/// the shape needs are the tensor's `problem` (data_mismatch).
Result<FileDump> open_raw(const std::string& path);
Result<FileDump> open_raw(const std::string& path, const TensorHints& told);

}  // namespace opdrift::io
