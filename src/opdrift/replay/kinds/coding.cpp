#include "opdrift/replay/kinds/coding.hpp"

#include <algorithm>
#include <cmath>

#include "opdrift/replay/number_format.hpp"

namespace opdrift::replay {

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

double quotient(double value, double scale) {
  return static_cast<double>(static_cast<float>(value) / static_cast<float>(scale));
}

Result<Parameter> Parameter::create(const Call& call, const Array* array, const Array& x,
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

double Parameter::at(std::size_t position) const {
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

tensor::DType code_dtype(const Call& call, std::size_t zero_index) {
  if (const Array* zero = call.input(zero_index); zero != nullptr) {
    return zero->dtype;
  }
  return onnx_dtype(call.integer({"output_dtype"}, 2)).value_or(tensor::DType::u8);
}

}  // namespace opdrift::replay
