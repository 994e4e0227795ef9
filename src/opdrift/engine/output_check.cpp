#include "opdrift/engine/output_check.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include "opdrift/tensor/decode.hpp"

namespace opdrift::engine {

namespace {

/// max |one - two|; NaN when an element is NaN, and for tensors that cannot be subtracted.
double max_difference(const tensor::Tensor& one, const tensor::Tensor& two) {
  if (one.desc.dtype != two.desc.dtype || one.desc.shape != two.desc.shape ||
      !tensor::info(one.desc.dtype).decodable) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const std::uint64_t count = tensor::element_count(one.desc.shape).value_or(0U);
  double largest = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const double difference =
        std::abs(tensor::decode_one(one.desc.dtype, one.bytes.span.data(), i) -
                 tensor::decode_one(two.desc.dtype, two.bytes.span.data(), i));
    if (std::isnan(difference)) {
      return difference;
    }
    largest = std::fmax(largest, difference);
  }
  return largest;
}

}  // namespace

OutputCheck check_output(const std::string& name, const RunValue& plain, const RunValue& shown) {
  OutputCheck check;
  check.tensor = name;
  if (!plain.tensor || !shown.tensor) {
    check.equal = plain.tensor.has_value() == shown.tensor.has_value();
    return check;
  }
  const ByteSpan one = plain.tensor->bytes.span;
  const ByteSpan two = shown.tensor->bytes.span;
  check.equal = plain.tensor->desc.shape == shown.tensor->desc.shape && one.size() == two.size() &&
                (one.empty() || std::memcmp(one.data(), two.data(), one.size()) == 0);
  check.max_abs_difference = check.equal ? 0 : max_difference(*plain.tensor, *shown.tensor);
  return check;
}

}  // namespace opdrift::engine
