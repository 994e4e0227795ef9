#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "opdrift/base/byte_cursor.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/tensor/view.hpp"

namespace opdrift::io {

/// Hands the elements of a view in logical order to `sink`, dense and little-endian, in blocks of
/// at most 1 MiB. Element types of less than one byte are handed over whole, as stored, and only
/// from contiguous views; else fails with unsupported_dtype. Returns the first error of `sink`.
Status stream_view(const tensor::View& view, const std::function<Status(ByteSpan)>& sink);

/// The bytes stream_view will deliver; fails with unsupported_dtype (no fixed element size) or
/// data_mismatch (the tensor's bytes are fewer).
Result<std::uint64_t> stream_bytes(const tensor::View& view);

}  // namespace opdrift::io
