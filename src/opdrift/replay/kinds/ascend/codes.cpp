#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

#include "opdrift/base/text.hpp"
#include "opdrift/replay/kinds/ascend/kinds.hpp"
#include "opdrift/replay/kinds/ascend/scales.hpp"
#include "opdrift/tensor/dtype.hpp"

// Codes of Ascend IR.
//   AscendQuant      saturate(round(x scale + offset))         scale twice in sqrt_mode
//   Quantize         saturate(round(x / scale) + zero point)
//   DynamicQuant     round(x / scale), scale = largest |x| of the row / 127
//   AscendDequant    x scale                                   AscendAntiQuant  (x + offset) scale
//   AscendRequant    saturate(round(x scale))

namespace opdrift::replay {

namespace {

struct Range {
  double low = -128.0;
  double high = 127.0;
  tensor::DType dtype = tensor::DType::i8;
};

/// How numbers become codes.
class Rounding {
 public:
  static Result<Rounding> create(const Call& call, const std::string& mode) {
    Rounding rounding;
    rounding.exact_ = call.exact_codes;
    rounding.mode_ = to_lower(mode);
    const bool known = rounding.mode_ == "round" || rounding.mode_ == "floor" ||
                       rounding.mode_ == "ceil" || rounding.mode_ == "trunc";
    return known ? Result<Rounding>(std::move(rounding))
                 : Result<Rounding>(call.not_modelled("round mode " + mode));
  }

  /// Before rounding: the number in the middle of those that get the code.
  double operator()(double value) const {
    const bool down = mode_ == "floor" || (mode_ == "trunc" && value >= 0.0);
    if (exact_) {
      return mode_ == "round" ? value : down ? value - 0.5 : value + 0.5;
    }
    return mode_ == "round" ? std::nearbyint(value) : down ? std::floor(value) : std::ceil(value);
  }

 private:
  bool exact_ = false;
  std::string mode_;
};

Result<Range> range_of(const Call& call) {
  const std::int64_t number = call.integer({"dst_type"}, 2);
  if (number == 2) {
    return Range{};
  }
  if (number == 29) {
    return Range{-8.0, 7.0, tensor::DType::i4};
  }
  return call.not_modelled("codes of type " + std::to_string(number));
}

Outputs single(Array array) {
  Outputs outputs;
  outputs.push_back(std::move(array));
  return outputs;
}

// The channel of a result of products: axis 1 of images, the last axis of matrices.
Result<std::int64_t> channel_axis(const Call& call, const Array& x, std::size_t scales) {
  const bool second = x.rank() >= 4 && x.shape[1] == scales;
  const bool last = x.rank() > 0 && x.shape.back() == scales;
  if (scales > 1 && second && last) {
    return call.not_modelled("the axis of the scales is not known");
  }
  return second && scales > 1 ? 1 : -1;
}

// x times its scale, which counts twice in sqrt_mode.
Result<Array> dequantised(const Call& call, const char* name) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  OPDRIFT_TRY(const Array* scale, call.need(1, name));
  OPDRIFT_TRY(std::vector<double> scales, unpacked_scales(call, *scale));
  OPDRIFT_TRY(const std::int64_t axis, channel_axis(call, *x, scales.size()));
  OPDRIFT_TRY(const AxisParameter own,
              AxisParameter::create(call, std::move(scales), x->shape, axis));
  const bool twice = call.integer({"sqrt_mode"}, 0) != 0;
  Array y = *x;
  y.dtype = tensor::DType::f32;
  for (std::size_t at = 0; at < y.size(); ++at) {
    y.values[at] *= twice ? own.at(at) * own.at(at) : own.at(at);
  }
  if (call.integer({"relu_flag"}, 0) != 0) {
    for (double& value : y.values) {
      value = value < 0.0 ? 0.0 : value;
    }
  }
  return y;
}

}  // namespace

Result<std::vector<double>> unpacked_scales(const Call& call, const Array& scales) {
  if (!is_integral(scales.dtype)) {
    return scales.values;
  }
  constexpr std::uint64_t kPlain = std::uint64_t{1} << 46;
  std::vector<double> unpacked;
  for (const double value : scales.values) {
    if (!(value >= 0.0) || !(value < 9007199254740992.0)) {
      return call.not_modelled("a scale is no packed number");
    }
    const auto bits = static_cast<std::uint64_t>(value);
    if (((bits & ~kPlain) >> 32) != 0) {
      return call.not_modelled("a scale with a shift or an offset");
    }
    unpacked.push_back(static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits))));
  }
  return unpacked;
}

Result<AxisParameter> AxisParameter::create(const Call& call, std::vector<double> values,
                                            const tensor::Shape& shape, std::int64_t axis) {
  AxisParameter parameter;
  parameter.values_ = std::move(values);
  if (parameter.values_.size() == 1) {
    return parameter;
  }
  OPDRIFT_TRY(const std::size_t index, normal_axis(axis, shape.size()));
  if (parameter.values_.size() != shape[index] || shape[index] == 0) {
    return call.not_modelled("expected one number, or " + std::to_string(shape[index]) +
                             ", found " + std::to_string(parameter.values_.size()));
  }
  parameter.inner_ = split_at(shape, index).inner;
  return parameter;
}

// Scale and offset are attributes of AscendQuant and inputs of AscendQuantV2.
Result<Outputs> ascend_quantise(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  OPDRIFT_TRY(const Range range, range_of(call));
  OPDRIFT_TRY(const Rounding rounding, Rounding::create(call, call.text({"round_mode"}, "round")));
  const bool by_input = call.op.type == "AscendQuantV2";
  std::vector<double> scales = {call.real({"scale"}, 1.0)};
  std::vector<double> offsets = {by_input ? 0.0 : call.real({"offset"}, 0.0)};
  if (by_input) {
    OPDRIFT_TRY(const Array* scale, call.need(1, "scale"));
    scales = scale->values;
    offsets = call.input(2) != nullptr ? call.input(2)->values : offsets;
  }
  const std::int64_t axis = call.integer({"axis"}, -1);
  OPDRIFT_TRY(const AxisParameter scale,
              AxisParameter::create(call, std::move(scales), x->shape, axis));
  OPDRIFT_TRY(const AxisParameter offset,
              AxisParameter::create(call, std::move(offsets), x->shape, axis));
  const bool twice = call.integer({"sqrt_mode"}, 0) != 0;
  Array y = *x;
  y.dtype = range.dtype;
  for (std::size_t at = 0; at < y.size(); ++at) {
    const double own = twice ? scale.at(at) * scale.at(at) : scale.at(at);
    y.values[at] = std::clamp(rounding(x->values[at] * own + offset.at(at)), range.low, range.high);
  }
  return single(std::move(y));
}

Result<Outputs> quantise_per_axis(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  OPDRIFT_TRY(const Array* scales, call.need(1, "scales"));
  OPDRIFT_TRY(const Array* zeros, call.need(2, "zero_points"));
  const std::string dtype = call.text({"dtype"}, "");
  Range range;
  if (dtype == "torch.quint8") {
    range = {0.0, 255.0, tensor::DType::u8};
  } else if (dtype == "torch.qint32") {
    range = {-2147483648.0, 2147483647.0, tensor::DType::i32};
  } else if (dtype != "torch.qint8") {
    return call.not_modelled("codes of type " + dtype);
  }
  const std::int64_t axis = call.integer({"axis"}, 1);
  OPDRIFT_TRY(const AxisParameter scale,
              AxisParameter::create(call, scales->values, x->shape, axis));
  OPDRIFT_TRY(const AxisParameter zero, AxisParameter::create(call, zeros->values, x->shape, axis));
  OPDRIFT_TRY(const Rounding rounding, Rounding::create(call, "round"));
  Array y = *x;
  y.dtype = range.dtype;
  for (std::size_t at = 0; at < y.size(); ++at) {
    const double code = rounding(x->values[at] / scale.at(at));
    y.values[at] = std::clamp(code + zero.at(at), range.low, range.high);
  }
  return single(std::move(y));
}

Result<Outputs> row_quantise(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  if (call.input(2) != nullptr || call.integer({"dst_type"}, 2) != 2 || x->rank() < 1 ||
      x->shape.back() == 0) {
    return call.not_modelled("groups of rows, or codes of another type");
  }
  const std::size_t width = x->shape.back();
  std::vector<double> factors(1, 1.0);
  if (const Array* smooth = call.input(1); smooth != nullptr) {
    factors = smooth->values;
  }
  OPDRIFT_TRY(const AxisParameter factor,
              AxisParameter::create(call, std::move(factors), x->shape, -1));
  OPDRIFT_TRY(const Rounding rounding, Rounding::create(call, "round"));
  Array y = *x;
  y.dtype = tensor::DType::i8;
  Array scale{{x->shape.begin(), x->shape.end() - 1}, {}, tensor::DType::f32};
  for (std::size_t first = 0; first < x->size(); first += width) {
    double top = 0.0;
    for (std::size_t at = first; at < first + width; ++at) {
      top = std::max(top, std::abs(x->values[at] * factor.at(at)));
    }
    scale.values.push_back(top / 127.0);
    for (std::size_t at = first; at < first + width; ++at) {
      const double share = top > 0.0 ? x->values[at] * factor.at(at) * 127.0 / top : 0.0;
      y.values[at] = std::clamp(rounding(share), -128.0, 127.0);
    }
  }
  Outputs outputs = single(std::move(y));
  outputs.push_back(std::move(scale));
  return outputs;
}

Result<Outputs> ascend_dequantise(const Call& call) {
  OPDRIFT_TRY(Array y, dequantised(call, "deq_scale"));
  return single(std::move(y));
}

Result<Outputs> ascend_requantise(const Call& call) {
  OPDRIFT_TRY(const Rounding rounding, Rounding::create(call, "round"));
  OPDRIFT_TRY(Array y, dequantised(call, "req_scale"));
  y.dtype = tensor::DType::i8;
  for (double& value : y.values) {
    value = std::clamp(rounding(value), -128.0, 127.0);
  }
  return single(std::move(y));
}

Result<Outputs> ascend_antiquantise(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  const double scale = call.real({"scale"}, 1.0);
  const double offset = call.real({"offset"}, 0.0);
  const bool twice = call.integer({"sqrt_mode"}, 0) != 0;
  Array y = *x;
  y.dtype = tensor::DType::f32;
  for (double& value : y.values) {
    value = (value + offset) * (twice ? scale * scale : scale);
  }
  return single(std::move(y));
}

}  // namespace opdrift::replay
