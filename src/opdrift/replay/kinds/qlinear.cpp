#include <algorithm>

#include "opdrift/replay/convolution.hpp"
#include "opdrift/replay/kinds/coding.hpp"
#include "opdrift/replay/kinds/kinds.hpp"
#include "opdrift/replay/matmul.hpp"

// Kinds between codes: decode, do what the ordinary kind does, encode again.

namespace opdrift::replay {

namespace {

bool channel_is_last(const Call& call) {
  return call.integer({"channels_last"}, 0) != 0;
}

// The codes of a result whose scale and zero point are inputs.
Result<Outputs> coded(const Call& call, const Array& y, std::size_t scale_index) {
  OPDRIFT_TRY(const Coding code, coding(call, y, scale_index, 1));
  OPDRIFT_TRY(Array codes, encoded(call, y, code, code_dtype(call, scale_index + 1)));
  return one_output(std::move(codes));
}

// What the codes of an input stand for.
Result<Array> real_input(const Call& call, std::size_t index) {
  OPDRIFT_TRY(const Array* x, call.need(index, "an operand"));
  OPDRIFT_TRY(const Coding code, coding(call, *x, index + 1, 1));
  return decoded(*x, code);
}

}  // namespace

Result<Outputs> qlinear_conv(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  OPDRIFT_TRY(const Array* w, call.need(3, "w"));
  OPDRIFT_TRY(const Coding x_code, coding(call, *x, 1, 1));
  OPDRIFT_TRY(const Coding w_code, coding(call, *w, 4, 0));
  const bool last = channel_is_last(call);
  const Array real_x = last ? channels_first(decoded(*x, x_code)) : decoded(*x, x_code);
  const Array real_w = decoded(*w, w_code);
  OPDRIFT_TRY(const Convolution conv, plan_convolution(call, real_x, real_w, false));
  OPDRIFT_TRY(Array y, run_convolution(call, conv, real_x, real_w));
  if (const Array* bias = call.input(8); bias != nullptr) {
    // Bias codes have the product of both scales and no zero point.
    if (bias->size() != conv.shape[1]) {
      return call.not_modelled("expected one bias per output channel");
    }
    const std::size_t kernel = w->size() / conv.shape[1];
    for (std::size_t at = 0; at < y.size(); ++at) {
      const std::size_t channel = channel_of(conv, at);
      y.values[at] +=
          bias->values[channel] * x_code.scale.at(0) * w_code.scale.at(channel * kernel);
    }
  }
  return coded(call, last ? channels_last(y) : y, 6);
}

Result<Outputs> qlinear_matmul(const Call& call) {
  OPDRIFT_TRY(const Array* a, call.need(0, "a"));
  OPDRIFT_TRY(const Array* b, call.need(3, "b"));
  OPDRIFT_TRY(const Coding a_code, coding(call, *a, 1, -2));
  OPDRIFT_TRY(const Coding b_code, coding(call, *b, 4, -1));
  const Array real_a = decoded(*a, a_code);
  const Array real_b = decoded(*b, b_code);
  OPDRIFT_TRY(const Product product, plan_matmul(call, real_a, real_b, false, false));
  OPDRIFT_TRY(const Array y, run_product(call, product));
  return coded(call, y, 6);
}

namespace {

Result<Array> apply(const Call& call, EvaluateFunction* function,
                    std::vector<const Array*> inputs) {
  OPDRIFT_TRY(Outputs outputs, function(Call{call.op, inputs, {}, call.limits}));
  return std::move(outputs.front());
}

Result<Outputs> qlinear_binary(const Call& call, EvaluateFunction* combine) {
  OPDRIFT_TRY(const Array a, real_input(call, 0));
  OPDRIFT_TRY(const Array b, real_input(call, 3));
  OPDRIFT_TRY(const Array y, apply(call, combine, {&a, &b}));
  return coded(call, y, 6);
}

Result<Outputs> qlinear_unary(const Call& call, EvaluateFunction* function) {
  OPDRIFT_TRY(const Array x, real_input(call, 0));
  OPDRIFT_TRY(const Array y, apply(call, function, {&x}));
  return coded(call, y, 3);
}

// Kinds over channels and space, which may be told that channels come last.
Result<Outputs> qlinear_spatial(const Call& call, EvaluateFunction* function) {
  OPDRIFT_TRY(Array x, real_input(call, 0));
  const bool last = channel_is_last(call);
  x = last ? channels_first(x) : std::move(x);
  OPDRIFT_TRY(const Array y, apply(call, function, {&x}));
  return coded(call, last ? channels_last(y) : y, 3);
}

}  // namespace

Result<Outputs> qlinear_add(const Call& call) {
  return qlinear_binary(call, add);
}
Result<Outputs> qlinear_mul(const Call& call) {
  return qlinear_binary(call, multiply_elements);
}
Result<Outputs> qlinear_sigmoid(const Call& call) {
  return qlinear_unary(call, sigmoid);
}
Result<Outputs> qlinear_leaky_relu(const Call& call) {
  return qlinear_unary(call, leaky_relu);
}
Result<Outputs> qlinear_reduce_mean(const Call& call) {
  return qlinear_unary(call, reduce_mean);
}
Result<Outputs> qlinear_global_average_pool(const Call& call) {
  return qlinear_spatial(call, global_average_pool);
}
Result<Outputs> qlinear_average_pool(const Call& call) {
  return qlinear_spatial(call, average_pool);
}

// The attribute tells the operator set whose Softmax is meant; that of the domain says nothing.
Result<Outputs> qlinear_softmax(const Call& call) {
  OPDRIFT_TRY(const Array x, real_input(call, 0));
  graph::Operator plain = call.op;
  plain.type = "Softmax";
  plain.opset = static_cast<int>(std::clamp<std::int64_t>(call.integer({"opset"}, 13), 1, 100));
  const std::vector<const Array*> inputs = {&x};
  OPDRIFT_TRY(const Outputs results, softmax(Call{plain, inputs, {}, call.limits}));
  return coded(call, results.front(), 3);
}

// Scale and zero point of the result, then three inputs for every part.
Result<Outputs> qlinear_concat(const Call& call) {
  Outputs parts;
  for (std::size_t index = 2; index + 1 < call.inputs.size(); index += 3) {
    OPDRIFT_TRY(Array part, real_input(call, index));
    parts.push_back(std::move(part));
  }
  std::vector<const Array*> inputs;
  for (const Array& part : parts) {
    inputs.push_back(&part);
  }
  OPDRIFT_TRY(const Array y, apply(call, concat, std::move(inputs)));
  return coded(call, y, 0);
}

Result<Outputs> qlinear_where(const Call& call) {
  OPDRIFT_TRY(const Array* condition, call.need(0, "condition"));
  OPDRIFT_TRY(const Array x, real_input(call, 1));
  OPDRIFT_TRY(const Array y, real_input(call, 4));
  OPDRIFT_TRY(const Array chosen, apply(call, where, {condition, &x, &y}));
  return coded(call, chosen, 7);
}

}  // namespace opdrift::replay
