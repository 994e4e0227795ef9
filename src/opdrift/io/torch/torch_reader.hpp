#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "opdrift/base/byte_cursor.hpp"
#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/io/dump.hpp"

/// One tensor saved by torch (`.pt`, `.pth`). Two layouts:
///
///   zip     = archive with <top>/data.pkl, <top>/data/<key> per storage, <top>/version and, from
///             newer writers, <top>/byteorder ("little" | "big"); <top> is any name. Members are
///             stored, or deflated when somebody repacked the archive
///   legacy  = pickle(0x1950a86a20f9469cfc6c) pickle(1001) pickle({"little_endian": bool, ...})
///             pickle(object) pickle([key ...]) storage*
///   storage = count i64, elements       (legacy, in the order of the keys)
///
/// The object is a pickle as in io/torch/torch_pickle.hpp, made of
///
///   tensor = _rebuild_tensor_v2(storage, offset, size, stride, requires_grad, hooks[, metadata])
///          | _rebuild_tensor_v3(storage, offset, size, stride, requires_grad, hooks, dtype[, ...])
///          | _rebuild_tensor(storage, offset, size, stride)
///          | _rebuild_parameter(tensor, ...) | _rebuild_parameter_with_state(tensor, ...)
///          | _rebuild_from_type_v2(function, type, arguments, state)
///   storage = persistent id ("storage", torch <X>Storage, key, location, count[, None])
///
/// Offsets and strides count elements; the storage may be larger than the view. Any other call is
/// refused by name, and nothing in the file is ever executed.
namespace opdrift::io {

bool probe_torch(ByteSpan head, std::uint64_t file_size, std::string_view file_name);

/// Fails with `unsupported` when the file holds anything but one tensor (naming what), with
/// unsupported_dtype, data_mismatch when the storage is too small for the view, malformed,
/// truncated or limit.
Result<FileDump> open_torch(const std::string& path);

/// The same over bytes that are already there; `path` is only named in the result.
Result<FileDump> parse_torch(const Bytes& file, const std::string& path);

}  // namespace opdrift::io
