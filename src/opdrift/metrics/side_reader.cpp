#include "opdrift/metrics/side_reader.hpp"

#include <algorithm>
#include <cstring>

#include "opdrift/base/mapped_read.hpp"
#include "opdrift/metrics/resident.hpp"
#include "opdrift/tensor/decode.hpp"

namespace opdrift::metrics {

namespace {

using kernels::kBlock;
using kernels::kGrain;
using tensor::DType;

// Finding the address of a page takes longer than the processor looks ahead, and one page after the
// other would be waited for. Asked for in a bunch, they are found at the same time.
constexpr std::uint64_t kCacheLine = 64;
constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kChunk = 32 * kPage;

bool aligned(const std::byte* data, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(data) % bytes == 0;
}

/// Whether the view is a run of little-endian elements inside its bytes.
bool lies_ready(const tensor::View& view, unsigned bits) {
  const tensor::Tensor& tensor = view.tensor;
  if (!view.contiguous() || tensor.desc.big_endian || view.offset < 0) {
    return false;
  }
  const auto needed = tensor::storage_bytes(tensor.desc.dtype,
                                            static_cast<std::uint64_t>(view.offset) + view.count());
  return bits != 0 && needed.has_value() && *needed <= tensor.bytes.size();
}

}  // namespace

bool fits_float(DType dtype) {
  const tensor::DTypeInfo& row = tensor::info(tensor::component_dtype(dtype));
  return row.dtype != DType::f64 && (row.kind == tensor::DTypeKind::floating || row.bits <= 16);
}

SideReader::SideReader(const tensor::View& view, const Precision& precision)
    : view_(&view),
      precision_(precision),
      component_(tensor::component_dtype(view.tensor.desc.dtype)),
      parts_(component_ == view.tensor.desc.dtype ? 1 : 2) {
  const unsigned bits = tensor::info(component_).bits;
  real_bytes_ = bits % 8 == 0 ? bits / 8 : 0;
  if (lies_ready(view, bits)) {
    ready_ = view.tensor.bytes.span;
    ready_first_ = view.offset * static_cast<std::int64_t>(parts_);
  }
}

void SideReader::bring_in(std::uint64_t first, std::uint64_t count) {
  const std::uint64_t offset =
      static_cast<std::uint64_t>(ready_first_ + static_cast<std::int64_t>(first)) * real_bytes_;
  const std::uint64_t bytes = count * real_bytes_;
  if (ready_.empty() || bytes < kReadFromBytes) {
    return;
  }
  if (std::optional<Bytes> window = read_mapped(view_->tensor.bytes.part(offset, bytes))) {
    window_ = *std::move(window);
    ready_ = window_.span;
    ready_first_ = -static_cast<std::int64_t>(first);
  }
}

BlockSide SideReader::load(std::uint64_t first, std::size_t count) {
  if (ready_.empty()) {
    const std::uint64_t elements = count / parts_;
    gathered_.resize(static_cast<std::size_t>(
        tensor::storage_bytes(view_->tensor.desc.dtype, kBlock).value_or(0)));
    tensor::gather(*view_, first / parts_, elements, gathered_.data());
    return convert(gathered_.data(), 0, count);
  }
  const auto at = static_cast<std::uint64_t>(ready_first_ + static_cast<std::int64_t>(first));
  BlockSide side = convert(ready_.data(), at, count);
  if (real_bytes_ != 0) {
    const std::uint64_t end = (at + count) * real_bytes_;
    announce(at * real_bytes_, end);
    side.next = ready_.data() + end;
    side.next_bytes = static_cast<std::size_t>(
        std::min<std::uint64_t>(ready_.size() - end, kBlock * real_bytes_));
  }
  return side;
}

void SideReader::fetch(std::uint64_t first, std::uint64_t count) const {
  const auto at = static_cast<std::uint64_t>(ready_first_ + static_cast<std::int64_t>(first));
  const std::uint64_t end = std::min<std::uint64_t>((at + count) * real_bytes_, ready_.size());
  for (std::uint64_t byte = at * real_bytes_; byte < end; byte += kCacheLine) {
    __builtin_prefetch(ready_.data() + byte);
  }
}

void SideReader::announce(std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t chunk = end / kChunk;
  if (begin / kChunk == chunk && announced_) {
    return;
  }
  announced_ = true;
  const std::uint64_t first = (chunk + 1) * kChunk;
  const std::uint64_t last = std::min<std::uint64_t>(first + kChunk, ready_.size());
  for (std::uint64_t page = first; page < last; page += kPage) {
    __builtin_prefetch(ready_.data() + page);
  }
}

BlockSide SideReader::convert(const std::byte* data, std::uint64_t first, std::size_t count) {
  BlockSide side;
  if (precision_.table != nullptr && !precision_.wide) {
    side = convert_to_float(data, first, count);
  } else {
    doubles_.resize(kBlock);
    tensor::decode_to_double(component_, data, first, count, doubles_.data());
    for (std::size_t i = 0; precision_.rounded_to_float32 && i < count; ++i) {
      doubles_[i] = static_cast<double>(static_cast<float>(doubles_[i]));
    }
    side.f64 = doubles_.data();
  }
  side.stored = real_bytes_ == 0 ? nullptr : data + first * real_bytes_;
  return side;
}

BlockSide SideReader::convert_to_float(const std::byte* data, std::uint64_t first,
                                       std::size_t count) {
  if (converted_ == nullptr) {
    converted_ = std::make_unique_for_overwrite<Converted>();
  }
  BlockSide side;
  side.f32 = converted_->floats.data();
  const std::byte* bytes = data + first * real_bytes_;
  if (component_ == DType::f32) {
    if (aligned(bytes, alignof(float))) {
      side.f32 = reinterpret_cast<const float*>(bytes);
    } else {
      std::memcpy(converted_->floats.data(), bytes, count * sizeof(float));
    }
  } else if (component_ == DType::f16 || component_ == DType::bf16) {
    side.bits16 = reinterpret_cast<const std::uint16_t*>(bytes);
    if (!aligned(bytes, alignof(std::uint16_t))) {
      std::memcpy(converted_->patterns.data(), bytes, count * sizeof(std::uint16_t));
      side.bits16 = converted_->patterns.data();
    }
    widen16(side, count);
  } else {
    tensor::decode_to_float(component_, data, first, count, converted_->floats.data());
  }
  return side;
}

void SideReader::widen16(BlockSide& side, std::size_t count) {
  const std::size_t whole = count / kGrain * kGrain;
  const auto widen =
      component_ == DType::f16 ? precision_.table->widen_f16 : precision_.table->widen_bf16;
  widen(side.bits16, whole, converted_->floats.data());
  tensor::decode_to_float(component_, reinterpret_cast<const std::byte*>(side.bits16), whole,
                          count - whole, converted_->floats.data() + whole);
}

}  // namespace opdrift::metrics
