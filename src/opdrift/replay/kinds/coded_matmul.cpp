#include <algorithm>
#include <cmath>

#include "opdrift/replay/kinds/kinds.hpp"

// Products of com.microsoft whose weights (and inputs) are codes, and whose result is not:
//   MatMulNBits            A (x) + bias, B packed: (N, blocks of K, bytes), low bits first
//   MatMulIntegerToFloat   (A - a0) (B - b0) a b + bias
//   DynamicQuantizeMatMul  the same after A got a scale and zero point of its own
// The codes are turned into what they stand for; the rest is a product like any other.

namespace opdrift::replay {

namespace {

/// Operands as numbers, and what is added.
struct Decoded {
  Array left;
  Array right;
  const Array* bias = nullptr;
};

// A parameter for all, or one per column.
Result<double> column_value(const Call& call, const Array* parameter, std::size_t column,
                            std::size_t columns, double fallback) {
  if (parameter == nullptr || parameter->size() == 0) {
    return fallback;
  }
  if (parameter->size() != 1 && parameter->size() != columns) {
    return call.not_modelled("expected one scale and zero point for all or per column");
  }
  return parameter->values[parameter->size() == 1 ? 0 : column];
}

Status decode(const Call& call, Array& x, const Array* scale, const Array* zero) {
  const std::size_t columns = x.rank() == 0 ? 1 : std::max<std::size_t>(x.shape.back(), 1);
  std::vector<double> scales(columns);
  std::vector<double> zeros(columns);
  for (std::size_t c = 0; c < columns; ++c) {
    OPDRIFT_TRY(scales[c], column_value(call, scale, c, columns, 1.0));
    OPDRIFT_TRY(zeros[c], column_value(call, zero, c, columns, 0.0));
  }
  for (std::size_t at = 0; at < x.size(); ++at) {
    x.values[at] = (x.values[at] - zeros[at % columns]) * scales[at % columns];
  }
  x.dtype = tensor::DType::f32;
  return Unit{};
}

// Code `index` of a row of packed bytes.
double code_at(const double* bytes, std::size_t index, unsigned bits) {
  const unsigned per_byte = 8U / bits;
  const auto byte = static_cast<unsigned>(bytes[index / per_byte]);
  const unsigned shift = static_cast<unsigned>(index % per_byte) * bits;
  return static_cast<double>((byte >> shift) & ((1U << bits) - 1U));
}

Result<Decoded> packed_operands(const Call& call) {
  OPDRIFT_TRY(const Array* a, call.need(0, "A"));
  OPDRIFT_TRY(const Array* b, call.need(1, "B"));
  OPDRIFT_TRY(const Array* scales, call.need(2, "scales"));
  const Array* zeros = call.input(3);
  const std::int64_t rows = call.integer({"K"}, 0);
  const std::int64_t columns = call.integer({"N"}, 0);
  const std::int64_t length = call.integer({"block_size"}, 0);
  const std::int64_t bits = call.integer({"bits"}, 4);
  constexpr std::int64_t kWidest = std::int64_t{1} << 24;
  if (b->dtype != tensor::DType::u8) {
    return call.not_modelled("weights that are no bytes");
  }
  if ((bits != 2 && bits != 4 && bits != 8) || rows < 1 || columns < 1 || rows > kWidest ||
      columns > kWidest || length < 16 || length > kWidest || call.input(4) != nullptr) {
    return call.not_modelled("a packing of " + std::to_string(bits) + " bits");
  }
  const auto k = static_cast<std::size_t>(rows);
  const auto n = static_cast<std::size_t>(columns);
  const auto block = static_cast<std::size_t>(length);
  const auto width = static_cast<unsigned>(bits);
  const std::size_t blocks = (k + block - 1) / block;
  const std::size_t bytes = blocks * block * width / 8;
  const std::size_t zero_bytes = (blocks * width + 7) / 8;
  const bool packed_zeros = zeros != nullptr && zeros->dtype == tensor::DType::u8;
  if (b->size() != n * bytes || scales->size() != n * blocks ||
      (zeros != nullptr && zeros->size() != n * (packed_zeros ? zero_bytes : blocks))) {
    return call.not_modelled("blocks do not cover the weights");
  }
  Decoded decoded;
  decoded.left = *a;
  decoded.bias = call.input(5);
  OPDRIFT_TRY(decoded.right, call.make({k, n}, tensor::DType::f32));
  const double middle = std::exp2(static_cast<double>(width) - 1.0);
  for (std::size_t column = 0; column < n; ++column) {
    const double* row = b->values.data() + column * bytes;
    for (std::size_t at = 0; at < k; ++at) {
      const std::size_t own = at / block;
      const double zero = zeros == nullptr ? middle
                          : packed_zeros
                              ? code_at(zeros->values.data() + column * zero_bytes, own, width)
                              : zeros->values[column * blocks + own];
      decoded.right.values[at * n + column] =
          (code_at(row, at, width) - zero) * scales->values[column * blocks + own];
    }
  }
  return decoded;
}

Result<Decoded> integer_operands(const Call& call) {
  OPDRIFT_TRY(const Array* a, call.need(0, "A"));
  OPDRIFT_TRY(const Array* b, call.need(1, "B"));
  Decoded decoded{*a, *b, call.input(6)};
  if (call.input(4) != nullptr && call.input(4)->size() > 1) {
    return call.not_modelled("zero points per row");
  }
  OPDRIFT_CHECK_OK(decode(call, decoded.left, nullptr, call.input(4)));
  OPDRIFT_CHECK_OK(decode(call, decoded.right, call.input(3), call.input(5)));
  const Array* scale = call.input(2);
  if (scale != nullptr && scale->size() != 1) {
    return call.not_modelled("scales per row");
  }
  for (double& value : decoded.left.values) {
    value *= scale == nullptr ? 1.0 : scale->values[0];
  }
  return decoded;
}

Result<Decoded> dynamic_operands(const Call& call) {
  OPDRIFT_TRY(const Array* a, call.need(0, "A"));
  OPDRIFT_TRY(const Array* b, call.need(1, "B"));
  const Array* const quantised[] = {a};
  OPDRIFT_TRY(Outputs codes, dynamic_quantise(Call{call.op, quantised, {}, call.limits}));
  Decoded decoded{std::move(codes[0]), *b, call.input(4)};
  OPDRIFT_CHECK_OK(decode(call, decoded.left, &codes[1], &codes[2]));
  OPDRIFT_CHECK_OK(decode(call, decoded.right, call.input(2), call.input(3)));
  return decoded;
}

Result<Outputs> product(const Call& call, Result<Decoded> operands) {
  OPDRIFT_TRY(const Decoded decoded, std::move(operands));
  graph::Operator plain;
  plain.type = "MatMul";
  plain.name = call.op.name;
  const Array* const inputs[] = {&decoded.left, &decoded.right, decoded.bias};
  return matmul(Call{plain, inputs, {}, call.limits});
}

Result<Terms> product_terms(const Call& call, Result<Decoded> operands, const Array& y) {
  OPDRIFT_TRY(const Decoded decoded, std::move(operands));
  graph::Operator plain;
  plain.type = "MatMul";
  plain.name = call.op.name;
  const Array* const inputs[] = {&decoded.left, &decoded.right, decoded.bias};
  return matmul_terms(Call{plain, inputs, {}, call.limits}, 0, y);
}

}  // namespace

Result<Outputs> matmul_packed(const Call& call) {
  return product(call, packed_operands(call));
}
Result<Terms> matmul_packed_terms(const Call& call, std::size_t /*index*/, const Array& y) {
  return product_terms(call, packed_operands(call), y);
}
Result<Outputs> matmul_integer_scaled(const Call& call) {
  return product(call, integer_operands(call));
}
Result<Terms> matmul_integer_scaled_terms(const Call& call, std::size_t /*index*/, const Array& y) {
  return product_terms(call, integer_operands(call), y);
}
Result<Outputs> dynamic_matmul(const Call& call) {
  return product(call, dynamic_operands(call));
}
Result<Terms> dynamic_matmul_terms(const Call& call, std::size_t /*index*/, const Array& y) {
  return product_terms(call, dynamic_operands(call), y);
}

}  // namespace opdrift::replay
