#include "opdrift/diagnose/check_op/feed.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "opdrift/base/mapped_read.hpp"
#include "opdrift/tensor/bulk_convert.hpp"
#include "opdrift/tensor/decode.hpp"
#include "opdrift/tensor/encode.hpp"

namespace opdrift::diagnose {

namespace {

using tensor::DType;
using tensor::DTypeKind;

constexpr std::uintptr_t kAlignment = 64;  // the library's kernels load vectors
constexpr std::uint64_t kBlock = 4096;     // elements converted at a time

/// The bytes of the view as they are stored, when they are dense there.
std::optional<Bytes> stored_bytes(const tensor::View& view, std::uint64_t bytes) {
  const tensor::Tensor& stored = view.tensor;
  const std::uint64_t width = tensor::info(stored.desc.dtype).bits / 8;
  if (width == 0 || !view.contiguous() || stored.desc.big_endian) {
    return std::nullopt;
  }
  return stored.bytes.part(static_cast<std::uint64_t>(view.offset) * width, bytes);
}

bool convertible(DType from, DType to) {
  const auto whole = [](DType dtype) {
    const DTypeKind kind = tensor::info(dtype).kind;
    return kind == DTypeKind::signed_int || kind == DTypeKind::unsigned_int ||
           kind == DTypeKind::boolean;
  };
  return (tensor::is_floating(from) && tensor::is_floating(to)) || (whole(from) && whole(to));
}

void convert(const std::byte* dense, DType from, DType to, std::uint64_t count, std::byte* out) {
  if (to == DType::f32 && (from == DType::f16 || from == DType::bf16)) {
    auto* wide = reinterpret_cast<float*>(out);
    from == DType::f16 ? tensor::f16_to_f32(dense, count, wide)
                       : tensor::bf16_to_f32(dense, count, wide);
    return;
  }
  std::vector<double> block(std::min(count, kBlock));
  for (std::uint64_t first = 0; first < count; first += kBlock) {
    const std::uint64_t size = std::min(kBlock, count - first);
    tensor::decode_to_double(from, dense, first, size, block.data());
    tensor::encode(to, block.data(), size, out, first);
  }
}

}  // namespace

Result<tensor::TensorDesc> fed_desc(const tensor::View& view, DType wanted) {
  const DType found = view.tensor.desc.dtype;
  const std::uint64_t count = view.count();
  if (!tensor::storage_bytes(found, count) || !tensor::storage_bytes(wanted, count)) {
    return Error{ErrorCode::unsupported_dtype,
                 "type " + std::string(tensor::name_of(found)) + " has no elements to give"};
  }
  if (found != wanted && !convertible(found, wanted)) {
    return Error{ErrorCode::mismatch, "expected " + std::string(tensor::name_of(wanted)) +
                                          ", the dump holds " +
                                          std::string(tensor::name_of(found))};
  }
  tensor::TensorDesc desc;
  desc.dtype = wanted;
  desc.shape = view.shape();
  return desc;
}

void feed(const tensor::View& view, DType wanted, std::span<std::byte> out) {
  const DType found = view.tensor.desc.dtype;
  const std::uint64_t count = view.count();
  const std::uint64_t bytes = tensor::storage_bytes(found, count).value_or(0);
  const std::optional<Bytes> stored = stored_bytes(view, bytes);
  if (found == wanted) {
    stored ? copy_bytes(stored->span, out.data()) : tensor::gather(view, 0, count, out.data());
    return;
  }
  if (stored) {
    const std::optional<Bytes> read = read_mapped(*stored);
    convert((read ? *read : *stored).span.data(), found, wanted, count, out.data());
    return;
  }
  std::vector<std::byte> dense(bytes);
  tensor::gather(view, 0, count, dense.data());
  convert(dense.data(), found, wanted, count, out.data());
}

Result<tensor::Tensor> as_fed(const tensor::View& view, DType wanted) {
  tensor::Tensor fed;
  OPDRIFT_TRY(fed.desc, fed_desc(view, wanted));
  const std::uint64_t bytes = tensor::storage_bytes(wanted, view.count()).value_or(0);
  if (view.tensor.desc.dtype == wanted) {
    const std::optional<Bytes> stored = stored_bytes(view, bytes);
    if (stored && reinterpret_cast<std::uintptr_t>(stored->span.data()) % kAlignment == 0) {
      fed.bytes = *stored;
      return fed;
    }
  }
  std::vector<std::byte> dense(bytes);
  feed(view, wanted, dense);
  fed.bytes = own_bytes(std::move(dense));
  return fed;
}

}  // namespace opdrift::diagnose
