#include <algorithm>
#include <cmath>

#include "opdrift/replay/kinds/kinds.hpp"

// Scalar functions of one element. Parameters an operator carries are read once per call.

namespace opdrift::replay {

namespace {

constexpr double kSqrtHalf = 0.70710678118654752440;
constexpr double kSqrtTwoOverPi = 0.79788456080286535588;

template <typename Function>
Result<Outputs> map(const Call& call, Function function) {
  OPDRIFT_TRY(const Array* x, call.need(0, "X"));
  Array y = *x;
  for (double& value : y.values) {
    value = function(value);
  }
  Outputs outputs;
  outputs.push_back(std::move(y));
  return outputs;
}

template <typename Predicate>
Result<Outputs> test_each(const Call& call, Predicate predicate) {
  OPDRIFT_TRY(Outputs outputs, map(call, [&](double x) { return predicate(x) ? 1.0 : 0.0; }));
  outputs.front().dtype = tensor::DType::boolean;
  return outputs;
}

double alpha_of(const Call& call, double fallback) {
  return call.real({"alpha", "negative_slope"}, fallback);
}

}  // namespace

double sigmoid_of(double x) {
  return 1.0 / (1.0 + std::exp(-x));
}

double softplus_of(double x) {
  return x > 0.0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

double gelu_of(double x) {
  return 0.5 * x * std::erfc(-x * kSqrtHalf);
}

double gelu_tanh_of(double x) {
  return 0.5 * x * (1.0 + std::tanh(kSqrtTwoOverPi * (x + 0.044715 * x * x * x)));
}

Result<Outputs> identity(const Call& call) {
  return map(call, [](double x) { return x; });
}
Result<Outputs> absolute(const Call& call) {
  return map(call, [](double x) { return std::abs(x); });
}
Result<Outputs> negate(const Call& call) {
  return map(call, [](double x) { return -x; });
}
// NaN passes through, as it does in every engine: the comparison is false for it.
Result<Outputs> relu(const Call& call) {
  return map(call, [](double x) { return x < 0.0 ? 0.0 : x; });
}
Result<Outputs> relu6(const Call& call) {
  return map(call, [](double x) { return x < 0.0 ? 0.0 : x > 6.0 ? 6.0 : x; });
}
Result<Outputs> leaky_relu(const Call& call) {
  const double alpha = alpha_of(call, 0.01);
  return map(call, [alpha](double x) { return x < 0.0 ? alpha * x : x; });
}
Result<Outputs> thresholded_relu(const Call& call) {
  const double alpha = alpha_of(call, 1.0);
  return map(call, [alpha](double x) { return x > alpha ? x : 0.0; });
}
Result<Outputs> elu(const Call& call) {
  const double alpha = alpha_of(call, 1.0);
  return map(call, [alpha](double x) { return x < 0.0 ? alpha * std::expm1(x) : x; });
}
Result<Outputs> celu(const Call& call) {
  const double alpha = alpha_of(call, 1.0);
  return map(call, [alpha](double x) { return x < 0.0 ? alpha * std::expm1(x / alpha) : x; });
}
Result<Outputs> selu(const Call& call) {
  const double alpha = call.real({"alpha"}, 1.67326319217681884765625);
  const double gamma = call.real({"gamma", "scale"}, 1.05070102214813232421875);
  return map(call,
             [alpha, gamma](double x) { return gamma * (x <= 0.0 ? alpha * std::expm1(x) : x); });
}
Result<Outputs> sigmoid(const Call& call) {
  return map(call, sigmoid_of);
}
Result<Outputs> log_sigmoid(const Call& call) {
  return map(call, [](double x) { return -softplus_of(-x); });
}
Result<Outputs> hard_sigmoid(const Call& call) {
  const double alpha = call.real({"alpha"}, 0.2);
  const double beta = call.real({"beta"}, 0.5);
  return map(call, [alpha, beta](double x) { return std::clamp(alpha * x + beta, 0.0, 1.0); });
}
Result<Outputs> hard_sigmoid_sixth(const Call& call) {
  return map(call, [](double x) { return std::clamp(x / 6.0 + 0.5, 0.0, 1.0); });
}
Result<Outputs> hard_swish(const Call& call) {
  return map(call, [](double x) { return x * std::clamp(x / 6.0 + 0.5, 0.0, 1.0); });
}
Result<Outputs> tanh(const Call& call) {
  return map(call, [](double x) { return std::tanh(x); });
}
Result<Outputs> softplus(const Call& call) {
  const double beta = call.real({"beta"}, 1.0);
  return map(call, [beta](double x) { return softplus_of(beta * x) / beta; });
}
Result<Outputs> softsign(const Call& call) {
  return map(call, [](double x) { return x / (1.0 + std::abs(x)); });
}
Result<Outputs> shrink(const Call& call) {
  const double lambd = call.real({"lambd"}, 0.5);
  // Ascend's SoftShrink moves by the very threshold.
  const double bias = call.real({"bias"}, call.op.type == "SoftShrink" ? lambd : 0.0);
  return map(call, [lambd, bias](double x) {
    return x < -lambd ? x + bias : x > lambd ? x - bias : 0.0;
  });
}
Result<Outputs> mish(const Call& call) {
  return map(call, [](double x) { return x * std::tanh(softplus_of(x)); });
}
Result<Outputs> swish(const Call& call) {
  const double alpha = call.real({"alpha", "scale", "beta"}, 1.0);
  return map(call, [alpha](double x) { return x * sigmoid_of(alpha * x); });
}
Result<Outputs> quick_gelu(const Call& call) {
  const double alpha = call.real({"alpha"}, 1.702);
  return map(call, [alpha](double x) { return x * sigmoid_of(alpha * x); });
}
Result<Outputs> gelu(const Call& call) {
  if (call.text({"approximate"}, "none") == "tanh") {
    return gelu_tanh(call);
  }
  return map(call, gelu_of);
}
Result<Outputs> gelu_tanh(const Call& call) {
  return map(call, gelu_tanh_of);
}
Result<Outputs> erf(const Call& call) {
  return map(call, [](double x) { return std::erf(x); });
}
Result<Outputs> exponential(const Call& call) {
  return map(call, [](double x) { return std::exp(x); });
}
Result<Outputs> exponential_minus_one(const Call& call) {
  return map(call, [](double x) { return std::expm1(x); });
}
Result<Outputs> logarithm(const Call& call) {
  return map(call, [](double x) { return std::log(x); });
}
Result<Outputs> logarithm_of_one_plus(const Call& call) {
  return map(call, [](double x) { return std::log1p(x); });
}
Result<Outputs> square_root(const Call& call) {
  return map(call, [](double x) { return std::sqrt(x); });
}
Result<Outputs> reciprocal_square_root(const Call& call) {
  return map(call, [](double x) { return 1.0 / std::sqrt(x); });
}
Result<Outputs> square(const Call& call) {
  return map(call, [](double x) { return x * x; });
}
Result<Outputs> reciprocal(const Call& call) {
  return map(call, [](double x) { return 1.0 / x; });
}
Result<Outputs> ceiling(const Call& call) {
  return map(call, [](double x) { return std::ceil(x); });
}
Result<Outputs> floor(const Call& call) {
  return map(call, [](double x) { return std::floor(x); });
}
// The default rounding mode is to nearest, ties to even, which is what ONNX and Ascend ask for.
Result<Outputs> round(const Call& call) {
  return map(call, [](double x) { return std::nearbyint(x); });
}
Result<Outputs> sign(const Call& call) {
  return map(call, [](double x) { return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x; });
}
Result<Outputs> sine(const Call& call) {
  return map(call, [](double x) { return std::sin(x); });
}
Result<Outputs> cosine(const Call& call) {
  return map(call, [](double x) { return std::cos(x); });
}
Result<Outputs> tangent(const Call& call) {
  return map(call, [](double x) { return std::tan(x); });
}
Result<Outputs> arc_sine(const Call& call) {
  return map(call, [](double x) { return std::asin(x); });
}
Result<Outputs> arc_cosine(const Call& call) {
  return map(call, [](double x) { return std::acos(x); });
}
Result<Outputs> arc_tangent(const Call& call) {
  return map(call, [](double x) { return std::atan(x); });
}
Result<Outputs> hyperbolic_sine(const Call& call) {
  return map(call, [](double x) { return std::sinh(x); });
}
Result<Outputs> hyperbolic_cosine(const Call& call) {
  return map(call, [](double x) { return std::cosh(x); });
}
Result<Outputs> area_sine(const Call& call) {
  return map(call, [](double x) { return std::asinh(x); });
}
Result<Outputs> area_cosine(const Call& call) {
  return map(call, [](double x) { return std::acosh(x); });
}
Result<Outputs> area_tangent(const Call& call) {
  return map(call, [](double x) { return std::atanh(x); });
}
Result<Outputs> logical_not(const Call& call) {
  return test_each(call, [](double x) { return x == 0.0; });
}
Result<Outputs> is_nan(const Call& call) {
  return test_each(call, [](double x) { return std::isnan(x); });
}
Result<Outputs> is_inf(const Call& call) {
  const bool negative = call.integer({"detect_negative"}, 1) != 0;
  const bool positive = call.integer({"detect_positive"}, 1) != 0;
  return test_each(call, [negative, positive](double x) {
    return std::isinf(x) && (x < 0.0 ? negative : positive);
  });
}

// Opset 6: attributes; 11: inputs; Ascend ClipByValue: inputs. An absent bound does not bind.
Result<Outputs> clip(const Call& call) {
  OPDRIFT_TRY(const auto low, call.real_or_input({"min", "min_value"}, 1));
  OPDRIFT_TRY(const auto high, call.real_or_input({"max", "max_value"}, 2));
  return map(call, [low, high](double x) {
    const double raised = low && x < *low ? *low : x;
    return high && raised > *high ? *high : raised;
  });
}

// The bounded part takes one absolute rounding more: alpha x + beta rounds at the size of beta.
Result<Terms> hard_sigmoid_terms(const Call& call, std::size_t /*index*/, const Array& y) {
  const double beta = call.real({"beta"}, 0.5);
  Terms terms;
  terms.extra.assign(y.size(), beta * beta);
  return terms;
}

// Inference copies, the mask keeps everything.
Result<Outputs> dropout(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "X"));
  OPDRIFT_TRY(const auto ratio, call.real_or_input({"ratio", "p"}, 1));
  const Array* training = call.input(2);
  if (training != nullptr && training->size() == 1 && training->values.front() != 0.0 &&
      ratio.value_or(0.5) != 0.0) {
    return call.not_modelled("training mode draws random numbers");
  }
  Outputs outputs(2, *x);
  outputs[1].values.assign(x->size(), 1.0);
  outputs[1].dtype = tensor::DType::boolean;
  return outputs;
}

}  // namespace opdrift::replay
