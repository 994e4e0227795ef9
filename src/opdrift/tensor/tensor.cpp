#include "opdrift/tensor/tensor.hpp"

namespace opdrift::tensor {

Result<std::uint64_t> element_count(const Shape& shape) {
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 62;
  std::uint64_t count = 1;
  bool too_large = false;
  for (const std::uint64_t extent : shape) {
    if (extent == 0) {
      return std::uint64_t{0};
    }
    too_large = too_large || extent > kLimit / count;
    count = too_large ? 1 : count * extent;
  }
  if (too_large) {
    return Error{ErrorCode::bad_shape,
                 "expected a shape of at most 2^62 elements, found [" + to_string(shape) + "]"};
  }
  return count;
}

std::string to_string(const Shape& shape, std::string_view separator) {
  std::string text;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) {
      text += separator;
    }
    text += std::to_string(shape[i]);
  }
  return text;
}

}  // namespace opdrift::tensor
