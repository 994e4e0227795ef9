#include <algorithm>
#include <cmath>

#include "opdrift/replay/kinds/kinds.hpp"
#include "opdrift/replay/number_format.hpp"

// Operators that make tensors from attributes and shapes, and Cast.

namespace opdrift::replay {

namespace {

Outputs single(Array array) {
  Outputs outputs;
  outputs.push_back(std::move(array));
  return outputs;
}

Result<Array> tensor_attribute(const Call& call, std::string_view name) {
  const auto found = call.op.attributes.find(std::string(name));
  if (found == call.op.attributes.end() || found->second.kind != graph::Attribute::Kind::tensor ||
      count_of(found->second.tensor_shape) != found->second.reals.size()) {
    return call.not_modelled("the tensor attribute is missing or incomplete");
  }
  return Array{found->second.tensor_shape, found->second.reals, found->second.tensor_dtype};
}

}  // namespace

Result<Outputs> constant(const Call& call) {
  if (call.has({"value_float"})) {
    return single(scalar_array(call.real({"value_float"}, 0.0)));
  }
  if (call.has({"value_int"})) {
    return single(scalar_array(call.real({"value_int"}, 0.0), tensor::DType::i64));
  }
  if (const auto values = call.reals({"value_floats"}); values) {
    return single(vector_array(*values));
  }
  if (const auto values = call.reals({"value_ints"}); values) {
    return single(vector_array(*values, tensor::DType::i64));
  }
  OPDRIFT_TRY(Array y, tensor_attribute(call, "value"));
  return single(std::move(y));
}

Result<Outputs> constant_of_shape(const Call& call) {
  OPDRIFT_TRY(const Array* input, call.need(0, "input"));
  OPDRIFT_TRY(const auto extents, integers_of(*input));
  tensor::Shape shape;
  for (const std::int64_t extent : extents) {
    if (extent < 0) {
      return call.not_modelled("an extent is negative");
    }
    shape.push_back(static_cast<std::uint64_t>(extent));
  }
  Array value = scalar_array(0.0);
  if (call.has({"value"})) {
    OPDRIFT_TRY(value, tensor_attribute(call, "value"));
  } else if (const Array* second = call.input(1); second != nullptr) {
    value = *second;  // Ascend Fill
  }
  if (value.size() != 1) {
    return call.not_modelled("expected a value of one element");
  }
  OPDRIFT_TRY(Array y, call.make(shape, value.dtype));
  std::fill(y.values.begin(), y.values.end(), value.values.front());
  return single(std::move(y));
}

Result<Outputs> range(const Call& call) {
  OPDRIFT_TRY(const auto start, call.real_or_input({"start"}, 0));
  OPDRIFT_TRY(const auto limit, call.real_or_input({"limit"}, 1));
  OPDRIFT_TRY(const auto delta, call.real_or_input({"delta"}, 2));
  if (!start || !limit || !delta || *delta == 0.0) {
    return call.not_modelled("start, limit or delta is missing");
  }
  const double steps = std::ceil((*limit - *start) / *delta);
  if (!(steps <= static_cast<double>(call.limits.max_elements))) {
    return call.not_modelled("the range is too long");
  }
  const auto count = static_cast<std::uint64_t>(std::max(steps, 0.0));
  const Array* first = call.input(0);
  OPDRIFT_TRY(Array y, call.make({count}, first != nullptr ? first->dtype : tensor::DType::f32));
  for (std::size_t i = 0; i < y.size(); ++i) {
    y.values[i] = *start + static_cast<double>(i) * *delta;
  }
  return single(std::move(y));
}

Result<Outputs> shape_of(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "data"));
  const auto rank = static_cast<std::int64_t>(x->rank());
  const auto bounded = [rank](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 && at >= -rank ? at + rank : at, 0, rank);
  };
  const std::int64_t first = bounded(call.integer({"start"}, 0));
  const std::int64_t last = bounded(call.integer({"end"}, rank));
  std::vector<double> extents;
  for (std::int64_t axis = first; axis < last; ++axis) {
    extents.push_back(static_cast<double>(x->shape[static_cast<std::size_t>(axis)]));
  }
  return single(vector_array(std::move(extents), tensor::DType::i64));
}

Result<Outputs> size_of(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "data"));
  return single(scalar_array(static_cast<double>(x->size()), tensor::DType::i64));
}

Result<Outputs> eye_like(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "input"));
  if (x->rank() != 2) {
    return call.not_modelled("expected a matrix");
  }
  const std::int64_t k = call.integer({"k"}, 0);
  OPDRIFT_TRY(Array y,
              call.make(x->shape, onnx_dtype(call.integer({"dtype"}, -1)).value_or(x->dtype)));
  const auto columns = static_cast<std::int64_t>(x->shape[1]);
  for (std::size_t at = 0; at < y.size(); ++at) {
    const auto place = static_cast<std::int64_t>(at);
    y.values[at] = place % columns - place / columns == k ? 1.0 : 0.0;
  }
  return single(std::move(y));
}

// Narrowing to a float type is left to the storage term of the budget: f does not round.
Result<Outputs> cast(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "input"));
  Array y = *x;
  std::optional<tensor::DType> to;
  if (call.op.type == "CastLike" && call.input(1) != nullptr) {
    to = call.input(1)->dtype;
  } else if (call.has({"dst_type"})) {
    to = tensor::dtype_by_ascend_number(
        static_cast<int>(std::clamp<std::int64_t>(call.integer({"dst_type"}, -1), -1, 1000)));
  } else if (const std::string name = call.text({"to", "dtype"}, ""); !name.empty()) {
    to = tensor::dtype_by_name(name);
  } else {
    to = onnx_dtype(call.integer({"to"}, -1));
  }
  if (!to || !(tensor::is_floating(*to) || is_integral(*to))) {
    return call.not_modelled("the target type is not known");
  }
  y.dtype = *to;
  if (*to == tensor::DType::boolean) {
    for (double& value : y.values) {
      value = value != 0.0 ? 1.0 : 0.0;
    }
  } else if (is_integral(*to)) {
    // Values beyond the type are undefined in ONNX; they are cut off here.
    for (double& value : y.values) {
      value = std::isnan(value) ? 0.0 : round_to(std::trunc(value), *to);
    }
  }
  return single(std::move(y));
}

}  // namespace opdrift::replay
