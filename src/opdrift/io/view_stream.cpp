#include "opdrift/io/view_stream.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "opdrift/tensor/dtype.hpp"

namespace opdrift::io {

namespace {

constexpr std::uint64_t kBlockBytes = 1 << 20;

}  // namespace

Result<std::uint64_t> stream_bytes(const tensor::View& view) {
  const tensor::DTypeInfo& row = tensor::info(view.tensor.desc.dtype);
  const bool whole_bytes = row.bits > 0 && row.bits % 8 == 0;
  if (!whole_bytes && !(row.bits > 0 && view.contiguous() && view.offset == 0)) {
    return Error{ErrorCode::unsupported_dtype,
                 "elements of type " + std::string(row.name) + " cannot be written one by one"};
  }
  const std::optional<std::uint64_t> bytes = tensor::storage_bytes(row.dtype, view.count());
  if (!bytes || (view.contiguous() && *bytes > view.tensor.bytes.size())) {
    return Error{ErrorCode::data_mismatch, "expected " + std::to_string(view.count()) +
                                               " elements, found " +
                                               std::to_string(view.tensor.bytes.size()) + " bytes"};
  }
  return *bytes;
}

Status stream_view(const tensor::View& view, const std::function<Status(ByteSpan)>& sink) {
  OPDRIFT_TRY(const std::uint64_t bytes, stream_bytes(view));
  const std::uint64_t item = tensor::info(view.tensor.desc.dtype).bits / 8;
  if (item == 0) {
    return sink(view.tensor.bytes.span.first(static_cast<std::size_t>(bytes)));
  }
  const std::uint64_t count = view.count();
  const std::uint64_t step = std::min(count, kBlockBytes / item);
  std::vector<std::byte> block(static_cast<std::size_t>(step * item));
  for (std::uint64_t first = 0; first < count; first += step) {
    const std::uint64_t size = std::min(step, count - first);
    tensor::gather(view, first, size, block.data());
    OPDRIFT_CHECK_OK(sink(ByteSpan(block).first(static_cast<std::size_t>(size * item))));
  }
  return Unit{};
}

}  // namespace opdrift::io
