#include <algorithm>
#include <cmath>

#include "opdrift/replay/convolution.hpp"
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

/// The codes a type can hold.
struct CodeRange {
  double low = 0.0;
  double high = 255.0;
};

Result<CodeRange> range_of(const Call& call, tensor::DType dtype) {
  const tensor::DTypeInfo& info = tensor::info(dtype);
  const double span = std::exp2(static_cast<double>(info.bits));
  if (info.kind == tensor::DTypeKind::unsigned_int) {
    return CodeRange{0.0, span - 1.0};
  }
  if (info.kind == tensor::DTypeKind::signed_int) {
    return CodeRange{-span / 2.0, span / 2.0 - 1.0};
  }
  return call.not_modelled("codes of type " + std::string(info.name));
}

double to_code(const Call& call, double value, const CodeRange& range, double zero) {
  const double code = call.exact_codes ? value : std::nearbyint(value);
  return std::clamp(code + zero, range.low, range.high);
}

// Engines divide in single precision, and what is a tie there must be one here.
double quotient(double value, double scale) {
  return static_cast<double>(static_cast<float>(value) / static_cast<float>(scale));
}

/// One parameter per element of a tensor: one for all, one per entry of an axis, or one per block.
class Parameter {
 public:
  static Result<Parameter> create(const Call& call, const Array* array, const Array& x,
                                  std::int64_t axis, std::int64_t block, double fallback) {
    Parameter parameter;
    parameter.fallback_ = fallback;
    if (array == nullptr || array->size() == 0) {
      return parameter;
    }
    parameter.array_ = array;
    if (array->size() == 1) {
      return parameter;
    }
    OPDRIFT_TRY(const std::size_t index, normal_axis(axis, x.rank()));
    const AxisSplit split = split_at(x.shape, index);
    if (block <= 0 && array->size() == split.extent) {
      parameter.inner_ = split.inner;
      parameter.extent_ = split.extent;
      return parameter;
    }
    if (block < 1 || array->rank() != x.rank()) {
      return call.not_modelled("scales do not fit the axis");
    }
    parameter.block_ = static_cast<std::size_t>(block);
    parameter.inner_ = split.inner;
    parameter.extent_ = split.extent;
    parameter.blocks_ = array->shape[index];
    if (parameter.blocks_ * split.outer * split.inner != array->size() ||
        parameter.blocks_ * parameter.block_ < split.extent) {
      return call.not_modelled("scales do not fit the blocks");
    }
    return parameter;
  }

  double at(std::size_t position) const {
    if (array_ == nullptr) {
      return fallback_;
    }
    if (array_->size() == 1) {
      return array_->values.front();
    }
    const std::size_t along = position / inner_ % extent_;
    if (blocks_ == 0) {
      return array_->values[along];
    }
    const std::size_t outer = position / inner_ / extent_;
    return array_->values[(outer * blocks_ + along / block_) * inner_ + position % inner_];
  }

 private:
  const Array* array_ = nullptr;
  double fallback_ = 0.0;
  std::size_t inner_ = 1;
  std::size_t extent_ = 1;
  std::size_t block_ = 1;
  std::size_t blocks_ = 0;
};

/// Scale and zero point of one tensor.
struct Coding {
  Parameter scale;
  Parameter zero;
};

Result<Coding> coding(const Call& call, const Array& x, std::size_t scale_index,
                      std::int64_t axis) {
  OPDRIFT_TRY(const Array* scale, call.need(scale_index, "scale"));
  const std::int64_t block = call.integer({"block_size"}, 0);
  Coding result;
  OPDRIFT_TRY(result.scale, Parameter::create(call, scale, x, axis, block, 1.0));
  OPDRIFT_TRY(result.zero,
              Parameter::create(call, call.input(scale_index + 1), x, axis, block, 0.0));
  return result;
}

Array decoded(const Array& x, const Coding& coding) {
  Array y = x;
  y.dtype = tensor::DType::f32;
  for (std::size_t at = 0; at < y.size(); ++at) {
    y.values[at] = (y.values[at] - coding.zero.at(at)) * coding.scale.at(at);
  }
  return y;
}

Result<Array> encoded(const Call& call, const Array& x, const Coding& coding, tensor::DType dtype) {
  Array y = x;
  y.dtype = dtype;
  const bool floating = tensor::is_floating(dtype);
  CodeRange range;
  if (!floating) {
    OPDRIFT_TRY(range, range_of(call, dtype));
  }
  for (std::size_t at = 0; at < y.size(); ++at) {
    const double value = quotient(x.values[at], coding.scale.at(at));
    y.values[at] = floating ? round_to(value, dtype, Overflow::saturate)
                            : to_code(call, value, range, coding.zero.at(at));
  }
  return y;
}

// The type of codes is that of the zero point; without one uint8, or what an attribute says.
tensor::DType code_dtype(const Call& call, std::size_t zero_index) {
  if (const Array* zero = call.input(zero_index); zero != nullptr) {
    return zero->dtype;
  }
  return onnx_dtype(call.integer({"output_dtype"}, 2)).value_or(tensor::DType::u8);
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

// Ascend: y = saturate(round(x * scale + offset)), signed bytes.
Result<Outputs> ascend_quantise(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  const double scale = call.real({"scale"}, 1.0);
  const double offset = call.real({"offset"}, 0.0);
  Array y = *x;
  y.dtype = tensor::DType::i8;
  for (double& value : y.values) {
    value = to_code(call, value * scale + offset, {-128.0, 127.0}, 0.0);
  }
  return single(std::move(y));
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

Result<Outputs> qlinear_conv(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  OPDRIFT_TRY(const Array* w, call.need(3, "w"));
  OPDRIFT_TRY(const Coding x_code, coding(call, *x, 1, 1));
  OPDRIFT_TRY(const Coding w_code, coding(call, *w, 4, 0));
  const Array real_x = decoded(*x, x_code);
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
  OPDRIFT_TRY(const Coding y_code, coding(call, y, 6, 1));
  OPDRIFT_TRY(Array codes, encoded(call, y, y_code, code_dtype(call, 7)));
  return single(std::move(codes));
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
  OPDRIFT_TRY(const Coding y_code, coding(call, y, 6, -1));
  OPDRIFT_TRY(Array codes, encoded(call, y, y_code, code_dtype(call, 7)));
  return single(std::move(codes));
}

namespace {

// Decode both sides, combine through an ordinary kind, encode again.
Result<Outputs> qlinear_binary(const Call& call, EvaluateFunction* combine) {
  OPDRIFT_TRY(const Array* a, call.need(0, "A"));
  OPDRIFT_TRY(const Array* b, call.need(3, "B"));
  OPDRIFT_TRY(const Coding a_code, coding(call, *a, 1, 1));
  OPDRIFT_TRY(const Coding b_code, coding(call, *b, 4, 1));
  const Array real_a = decoded(*a, a_code);
  const Array real_b = decoded(*b, b_code);
  const std::vector<const Array*> inputs = {&real_a, &real_b};
  OPDRIFT_TRY(const Outputs sums, combine(Call{call.op, inputs, {}, call.limits}));
  OPDRIFT_TRY(const Coding y_code, coding(call, sums.front(), 6, 1));
  OPDRIFT_TRY(Array codes, encoded(call, sums.front(), y_code, code_dtype(call, 7)));
  return single(std::move(codes));
}

Result<Outputs> qlinear_unary(const Call& call, EvaluateFunction* function) {
  OPDRIFT_TRY(const Array* x, call.need(0, "X"));
  OPDRIFT_TRY(const Coding x_code, coding(call, *x, 1, 1));
  const Array real_x = decoded(*x, x_code);
  const std::vector<const Array*> inputs = {&real_x};
  OPDRIFT_TRY(const Outputs results, function(Call{call.op, inputs, {}, call.limits}));
  OPDRIFT_TRY(const Coding y_code, coding(call, results.front(), 3, 1));
  OPDRIFT_TRY(Array codes, encoded(call, results.front(), y_code, code_dtype(call, 4)));
  return single(std::move(codes));
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
Result<Outputs> qlinear_global_average_pool(const Call& call) {
  return qlinear_unary(call, global_average_pool);
}

}  // namespace opdrift::replay
