#include "opdrift/verdict/judge/block_reader.hpp"

#include <algorithm>
#include <string>

#include "opdrift/tensor/decode.hpp"

namespace opdrift::verdict::judging {

std::span<const double> BlockReader::read(std::uint64_t first, std::size_t count) {
  bytes_.resize(std::max(bytes_.size(), count * 8));
  values_.resize(std::max(values_.size(), count));
  tensor::gather(view_, first, count, bytes_.data());
  tensor::decode_to_double(view_.tensor.desc.dtype, bytes_.data(), 0, count, values_.data());
  return std::span<const double>(values_).first(count);
}

Status check_numbers(const tensor::View& view) {
  const tensor::DTypeInfo& info = tensor::info(view.tensor.desc.dtype);
  if (!info.decodable || info.kind == tensor::DTypeKind::complex) {
    return Error{ErrorCode::unsupported_dtype, "expected numbers, found " + std::string(info.name)};
  }
  return Unit{};
}

}  // namespace opdrift::verdict::judging
