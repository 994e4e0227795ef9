#include <algorithm>
#include <cmath>

#include "opdrift/replay/kinds/ascend/kinds.hpp"
#include "opdrift/replay/kinds/ascend/rewrite.hpp"
#include "opdrift/replay/kinds/kinds.hpp"

// Elementwise operators of Ascend IR: numbers that are attributes, and parameters that belong to an
// axis.
//   Adds, Muls   x + value, x * value          Axpy        x_1 + alpha x_2
//   Power        (shift + scale x) ^ power     Scale, Bias x s + b along the axes from `axis` on
//   Addcmul      x + value x_1 x_2             Addcdiv     x + value x_1 / x_2

namespace opdrift::replay {

namespace {

template <typename Function>
Result<Outputs> map(const Call& call, Function function) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  Outputs outputs(1, *x);
  std::transform(x->values.begin(), x->values.end(), outputs.front().values.begin(), function);
  return outputs;
}

Result<double> value_of(const Call& call) {
  const auto value = call.reals({"value"});
  if (!value || value->size() != 1) {
    return call.not_modelled("the number is not known");
  }
  return value->front();
}

}  // namespace

Result<Outputs> add_scalar(const Call& call) {
  OPDRIFT_TRY(const double value, value_of(call));
  return map(call, [value](double x) { return x + value; });
}

Result<Outputs> multiply_by_scalar(const Call& call) {
  OPDRIFT_TRY(const double value, value_of(call));
  return map(call, [value](double x) { return x * value; });
}

Result<Outputs> power_of_line(const Call& call) {
  const double power = call.real({"power"}, 1.0);
  const double scale = call.real({"scale"}, 1.0);
  const double shift = call.real({"shift"}, 0.0);
  return map(call, [=](double x) {
    const double line = shift + scale * x;
    return power == 1.0 ? line : power == 2.0 ? line * line : std::pow(line, power);
  });
}

Result<Outputs> is_finite(const Call& call) {
  OPDRIFT_TRY(Outputs outputs, map(call, [](double x) { return std::isfinite(x) ? 1.0 : 0.0; }));
  outputs.front().dtype = tensor::DType::boolean;
  return outputs;
}

// Axpy has alpha as an attribute, AxpyV2 as an input.
Result<Outputs> scaled_add(const Call& call) {
  OPDRIFT_TRY(const auto alpha, call.real_or_input({"alpha"}, 2));
  if (!alpha) {
    return call.not_modelled("alpha is not known");
  }
  Rewritten plain(call, "Add");
  plain.take(0).take(1).real("alpha", *alpha);
  return add(plain.call());
}

Result<Outputs> masked_fill(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  OPDRIFT_TRY(const Array* value, call.need(2, "value"));
  if (value->size() != 1) {
    return call.not_modelled("expected one number to fill with");
  }
  Rewritten plain(call, "Where");
  plain.take(1).give(scalar_array(value->values[0], x->dtype)).take(0);
  return where(plain.call());
}

namespace {

// Axes of one behind a parameter that covers axes of x from `axis` on.
Result<tensor::Shape> aligned_shape(const Call& call, const Array& x, const Array& parameter,
                                    std::size_t axis) {
  tensor::Shape shape = parameter.shape;
  if (axis + shape.size() > x.rank()) {
    return call.not_modelled("the parameter reaches beyond the axes");
  }
  shape.resize(x.rank() - axis, 1);
  return shape;
}

// One number per channel, whether it is written with axes of one around it or not.
Result<tensor::Shape> channel_shape(const Call& call, const Array& x, const Array& parameter) {
  const bool last = x.rank() < 3 || call.text({"data_format"}, "NCHW") == "NHWC";
  const std::size_t axis = x.rank() == 0 ? 0 : last ? x.rank() - 1 : 1;
  if (x.rank() == 0 || count_of(parameter.shape) != x.shape[axis]) {
    return call.not_modelled("expected one number per channel");
  }
  tensor::Shape shape(x.rank() - axis, 1);
  shape[0] = x.shape[axis];
  return shape;
}

// Caffe's parameters cover `num_axes` axes from `axis` on (-1: all of them); as blobs they are
// written with axes of one, as inputs they bring their own shape.
Result<tensor::Shape> blob_shape(const Call& call, const Array& x, const Array& parameter,
                                 const char* from_blob) {
  OPDRIFT_TRY(const std::size_t axis, normal_axis(call.integer({"axis"}, 1), x.rank()));
  const std::int64_t covered = call.integer({"num_axes"}, 1);
  if (call.integer({from_blob}, 1) == 0) {
    return aligned_shape(call, x, parameter, axis);
  }
  const std::size_t end = covered < 0 ? x.rank() : axis + static_cast<std::size_t>(covered);
  if (end > x.rank() || covered > static_cast<std::int64_t>(kMaxRank)) {
    return call.not_modelled("the parameter reaches beyond the axes");
  }
  tensor::Shape shape(x.rank() - axis, 1);
  std::copy(x.shape.begin() + static_cast<std::ptrdiff_t>(axis),
            x.shape.begin() + static_cast<std::ptrdiff_t>(end), shape.begin());
  if (count_of(shape) != count_of(parameter.shape)) {
    return call.not_modelled("the parameter does not fit its axes");
  }
  return shape;
}

Result<Outputs> broadcast_no_wider(const Call& call, EvaluateFunction* function,
                                   const Rewritten& plain) {
  OPDRIFT_TRY(Outputs outputs, function(plain.call()));
  if (outputs.front().shape != call.input(0)->shape) {
    return call.not_modelled("the parameter is larger than the input");
  }
  return outputs;
}

}  // namespace

Result<Outputs> add_bias_of_channel(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  OPDRIFT_TRY(const Array* bias, call.need(1, "bias"));
  OPDRIFT_TRY(tensor::Shape shape, channel_shape(call, *x, *bias));
  return add(Rewritten(call, "Add").take(0).reshape(1, std::move(shape)).call());
}

Result<Outputs> channel_bias(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  OPDRIFT_TRY(const Array* bias, call.need(1, "bias"));
  OPDRIFT_TRY(tensor::Shape shape, blob_shape(call, *x, *bias, "bias_from_blob"));
  Rewritten plain(call, "Add");
  plain.take(0).reshape(1, std::move(shape));
  return broadcast_no_wider(call, add, plain);
}

namespace {

/// x s, and b where there is one, both broadcast to x.
struct Scaled {
  Array product;
  std::optional<Array> bias;
};

Result<Scaled> scaled_of(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  OPDRIFT_TRY(const Array* scale, call.need(1, "scale"));
  OPDRIFT_TRY(tensor::Shape shape, blob_shape(call, *x, *scale, "scale_from_blob"));
  Rewritten plain(call, "Mul");
  plain.take(0).reshape(1, shape);
  OPDRIFT_TRY(Outputs products, broadcast_no_wider(call, multiply_elements, plain));
  Scaled scaled{std::move(products.front()), std::nullopt};
  if (const Array* bias = call.input(2); bias != nullptr) {
    if (count_of(bias->shape) != count_of(shape)) {
      return call.not_modelled("the bias does not fit the scale");
    }
    scaled.bias = *bias;
    scaled.bias->shape = std::move(shape);
  }
  return scaled;
}

}  // namespace

Result<Outputs> channel_scale(const Call& call) {
  OPDRIFT_TRY(Scaled scaled, scaled_of(call));
  if (!scaled.bias) {
    Outputs outputs;
    outputs.push_back(std::move(scaled.product));
    return outputs;
  }
  Rewritten sum(call, "Add");
  sum.give(std::move(scaled.product)).give(std::move(*scaled.bias));
  return add(sum.call());
}

// Product and bias round at their own size before they meet.
Result<Terms> channel_scale_terms(const Call& call, std::size_t /*index*/, const Array& y) {
  OPDRIFT_TRY(const Scaled scaled, scaled_of(call));
  Terms terms;
  if (!scaled.bias || scaled.product.size() != y.size()) {
    return terms;
  }
  for (std::size_t at = 0; at < y.size(); ++at) {
    const double product = scaled.product.values[at];
    const double bias = y.values[at] - product;
    terms.extra.push_back(product * product + bias * bias);
  }
  return terms;
}

namespace {

// x + value * function(x_1, x_2)
Result<Outputs> add_scaled(const Call& call, EvaluateFunction* function) {
  OPDRIFT_TRY(const auto value, call.real_or_input({"value"}, 3));
  Rewritten pair(call, "Mul");
  pair.take(1).take(2);
  OPDRIFT_TRY(Outputs made, function(pair.call()));
  Rewritten sum(call, "Add");
  sum.take(0).give(std::move(made.front())).real("alpha", value.value_or(1.0));
  return add(sum.call());
}

}  // namespace

Result<Outputs> add_scaled_product(const Call& call) {
  return add_scaled(call, multiply_elements);
}
Result<Outputs> add_scaled_quotient(const Call& call) {
  return add_scaled(call, divide);
}

// What is added rounds at its own size.
Result<Terms> add_scaled_terms(const Call& call, std::size_t /*index*/, const Array& y) {
  OPDRIFT_TRY(const Array* x, call.need(0, "input_data"));
  Rewritten back(call, "Sub");
  back.give(y).take(0);
  OPDRIFT_TRY(const Outputs more, subtract(back.call()));
  Terms terms;
  if (more.front().size() == y.size() && x->rank() <= y.rank()) {
    terms.extra = squared(more.front()).values;
  }
  return terms;
}

}  // namespace opdrift::replay
