#include <algorithm>
#include <cmath>

#include "opdrift/replay/convolution.hpp"
#include "opdrift/replay/kinds/coding.hpp"
#include "opdrift/replay/kinds/kinds.hpp"
#include "opdrift/replay/matmul.hpp"
#include "opdrift/replay/number_format.hpp"

// Codes and what they stand for: value = (code - zero point) * scale,
// code = saturate(round to even(value / scale) + zero point).

namespace opdrift::replay {

namespace {

Outputs single(Array array) {
  Outputs outputs;
  outputs.push_back(std::move(array));
  return outputs;
}

// x minus its zero point, which is one number or one per entry of `axis`.
Result<Array> shifted(const Call& call, const Array& x, const Array* zero, std::int64_t axis) {
  OPDRIFT_TRY(const Parameter parameter, Parameter::create(call, zero, x, axis, 0, 0.0));
  Array y = x;
  for (std::size_t at = 0; at < y.size(); ++at) {
    y.values[at] -= parameter.at(at);
  }
  return y;
}

}  // namespace

Result<Outputs> quantise_linear(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  OPDRIFT_TRY(const Coding code, coding(call, *x, 1, call.integer({"axis"}, 1)));
  OPDRIFT_TRY(Array y, encoded(call, *x, code, code_dtype(call, 2)));
  return single(std::move(y));
}

Result<Outputs> dequantise_linear(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  OPDRIFT_TRY(const Coding code, coding(call, *x, 1, call.integer({"axis"}, 1)));
  return single(decoded(*x, code));
}

Result<Outputs> dynamic_quantise(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  double low = 0.0;
  double high = 0.0;
  for (const double value : x->values) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  // The scale is given out in single precision and divides as such; ties depend on it.
  const double scale = high > low ? round_to((high - low) / 255.0, tensor::DType::f32) : 1.0;
  const double zero = std::clamp(std::nearbyint(-low / scale), 0.0, 255.0);
  Array y = *x;
  y.dtype = tensor::DType::u8;
  for (double& value : y.values) {
    value = to_code(call, quotient(value, scale), CodeRange{}, zero);
  }
  Outputs outputs = single(std::move(y));
  outputs.push_back(scalar_array(scale));
  outputs.push_back(scalar_array(zero, tensor::DType::u8));
  return outputs;
}

Result<Outputs> conv_integer(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  OPDRIFT_TRY(const Array* w, call.need(1, "w"));
  OPDRIFT_TRY(const Array real_x, shifted(call, *x, call.input(2), 1));
  OPDRIFT_TRY(const Array real_w, shifted(call, *w, call.input(3), 0));
  OPDRIFT_TRY(const Convolution conv, plan_convolution(call, real_x, real_w, false));
  OPDRIFT_TRY(Array y, run_convolution(call, conv, real_x, real_w));
  y.dtype = tensor::DType::i32;
  return single(std::move(y));
}

Result<Outputs> matmul_integer(const Call& call) {
  OPDRIFT_TRY(const Array* a, call.need(0, "A"));
  OPDRIFT_TRY(const Array* b, call.need(1, "B"));
  OPDRIFT_TRY(const Array real_a, shifted(call, *a, call.input(2), -2));
  OPDRIFT_TRY(const Array real_b, shifted(call, *b, call.input(3), -1));
  OPDRIFT_TRY(const Product product, plan_matmul(call, real_a, real_b, false, false));
  OPDRIFT_TRY(Array y, run_product(call, product));
  y.dtype = tensor::DType::i32;
  return single(std::move(y));
}

}  // namespace opdrift::replay
