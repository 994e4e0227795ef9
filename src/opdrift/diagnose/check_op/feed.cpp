#include "opdrift/diagnose/check_op/feed.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "opdrift/tensor/bulk_convert.hpp"
#include "opdrift/tensor/decode.hpp"
#include "opdrift/tensor/encode.hpp"

namespace opdrift::diagnose {

namespace {

using tensor::DType;
using tensor::DTypeKind;

constexpr std::uintptr_t kAlignment = 64;  // the library's kernels load vectors
constexpr std::uint64_t kBlock = 4096;     // elements converted at a time

Bytes dense_bytes(const tensor::View& view, std::uint64_t bytes) {
  const tensor::Tensor& stored = view.tensor;
  const std::uint64_t width = tensor::info(stored.desc.dtype).bits / 8;
  if (width > 0 && view.contiguous() && !stored.desc.big_endian) {
    const Bytes part = stored.bytes.part(static_cast<std::uint64_t>(view.offset) * width, bytes);
    if (reinterpret_cast<std::uintptr_t>(part.span.data()) % kAlignment == 0) {
      return part;
    }
  }
  std::vector<std::byte> dense(bytes);
  tensor::gather(view, 0, view.count(), dense.data());
  return own_bytes(std::move(dense));
}

bool convertible(DType from, DType to) {
  const auto whole = [](DType dtype) {
    const DTypeKind kind = tensor::info(dtype).kind;
    return kind == DTypeKind::signed_int || kind == DTypeKind::unsigned_int ||
           kind == DTypeKind::boolean;
  };
  return (tensor::is_floating(from) && tensor::is_floating(to)) || (whole(from) && whole(to));
}

Bytes converted(const Bytes& dense, DType from, DType to, std::uint64_t count,
                std::uint64_t bytes) {
  std::vector<std::byte> out(bytes);
  if (to == DType::f32 && (from == DType::f16 || from == DType::bf16)) {
    auto* wide = reinterpret_cast<float*>(out.data());
    from == DType::f16 ? tensor::f16_to_f32(dense.span.data(), count, wide)
                       : tensor::bf16_to_f32(dense.span.data(), count, wide);
    return own_bytes(std::move(out));
  }
  std::vector<double> block(std::min(count, kBlock));
  for (std::uint64_t first = 0; first < count; first += kBlock) {
    const std::uint64_t size = std::min(kBlock, count - first);
    tensor::decode_to_double(from, dense.span.data(), first, size, block.data());
    tensor::encode(to, block.data(), size, out.data(), first);
  }
  return own_bytes(std::move(out));
}

}  // namespace

Result<tensor::Tensor> as_fed(const tensor::View& view, DType wanted) {
  const DType found = view.tensor.desc.dtype;
  const std::uint64_t count = view.count();
  const auto stored = tensor::storage_bytes(found, count);
  const auto needed = tensor::storage_bytes(wanted, count);
  if (!stored || !needed) {
    return Error{ErrorCode::unsupported_dtype,
                 "type " + std::string(tensor::name_of(found)) + " has no elements to give"};
  }
  if (found != wanted && !convertible(found, wanted)) {
    return Error{ErrorCode::mismatch, "expected " + std::string(tensor::name_of(wanted)) +
                                          ", the dump holds " +
                                          std::string(tensor::name_of(found))};
  }
  tensor::Tensor fed;
  fed.desc.dtype = wanted;
  fed.desc.shape = view.shape();
  fed.bytes = dense_bytes(view, *stored);
  if (found != wanted) {
    fed.bytes = converted(fed.bytes, found, wanted, count, *needed);
  }
  return fed;
}

}  // namespace opdrift::diagnose
