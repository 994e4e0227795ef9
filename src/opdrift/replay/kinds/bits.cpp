#include <cmath>
#include <cstdint>

#include "opdrift/replay/kinds/kinds.hpp"
#include "opdrift/replay/walk.hpp"

// Bits of integers that depend on the width of their type. Integers up to 2^53 are exact; what a
// wider one becomes is no number, and so is not believed.

namespace opdrift::replay {

namespace {

constexpr double kExact = 9007199254740992.0;  // 2^53

Result<Outputs> single(Array array) {
  Outputs outputs;
  outputs.push_back(std::move(array));
  return outputs;
}

double exact_or_nan(double value) {
  return std::abs(value) <= kExact ? value : std::nan("");
}

}  // namespace

Result<Outputs> bitwise_not(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "X"));
  const tensor::DTypeInfo& info = tensor::info(x->dtype);
  Array y = *x;
  const bool is_signed = info.kind == tensor::DTypeKind::signed_int;
  if (!is_signed && info.kind != tensor::DTypeKind::unsigned_int) {
    return call.not_modelled("bits of type " + std::string(info.name));
  }
  const double top = is_signed ? -1.0 : std::exp2(static_cast<double>(info.bits)) - 1.0;
  for (double& value : y.values) {
    value = exact_or_nan(top - value);
  }
  return single(std::move(y));
}

// What leaves the type on the left is lost.
Result<Outputs> bit_shift(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "X"));
  OPDRIFT_TRY(const Array* by, call.need(1, "Y"));
  const std::string direction = call.text({"direction"}, "");
  if (direction != "LEFT" && direction != "RIGHT") {
    return call.not_modelled("a direction '" + direction + "'");
  }
  const double range = std::exp2(static_cast<double>(tensor::info(x->dtype).bits));
  OPDRIFT_TRY(const tensor::Shape shape, broadcast_shape(x->shape, by->shape));
  OPDRIFT_TRY(Array y, call.make(shape, x->dtype));
  double* out = y.values.data();
  walk<2>(
      shape, {broadcast_strides(x->shape, shape), broadcast_strides(by->shape, shape)},
      [&](const Row<2>& row) {
        for (std::size_t i = 0; i < row.length; ++i) {
          const auto step = static_cast<std::int64_t>(i);
          const double value = x->values[static_cast<std::size_t>(row.at[0] + step * row.step[0])];
          const double count = by->values[static_cast<std::size_t>(row.at[1] + step * row.step[1])];
          const double moved = direction == "LEFT" ? std::fmod(value * std::exp2(count), range)
                                                   : std::floor(value * std::exp2(-count));
          *out++ = value <= kExact ? exact_or_nan(moved) : std::nan("");
        }
      });
  return single(std::move(y));
}

}  // namespace opdrift::replay
