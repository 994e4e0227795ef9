#include <algorithm>
#include <cmath>

#include "opdrift/replay/kinds/ascend/kinds.hpp"
#include "opdrift/replay/kinds/ascend/rewrite.hpp"
#include "opdrift/replay/kinds/kinds.hpp"

// Operators whose numbers Ascend IR keeps elsewhere than ONNX: two values of OneHot, the extents of
// Fill, the steps of Range, the batch axes of Gather.

namespace opdrift::replay {

// OneHot: x, depth, on, off. OneHotD: x, on, off. A position outside marks nothing.
Result<Outputs> one_hot_of_two(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  const bool by_attribute = call.op.type == "OneHotD";
  OPDRIFT_TRY(const auto depth,
              call.real_or_input({"depth"}, by_attribute ? ~std::size_t{0} : std::size_t{1}));
  OPDRIFT_TRY(const Array* on, call.need(by_attribute ? 1 : 2, "on_value"));
  OPDRIFT_TRY(const Array* off, call.need(by_attribute ? 2 : 3, "off_value"));
  if (!depth || on->size() != 1 || off->size() != 1) {
    return call.not_modelled("expected a depth and two values");
  }
  Array positions = *x;
  for (double& position : positions.values) {
    position = position < 0.0 ? *depth : position;
  }
  Rewritten plain(call, "OneHot");
  plain.give(std::move(positions))
      .give(scalar_array(*depth, tensor::DType::i64))
      .give(vector_array({off->values[0], on->values[0]}, on->dtype))
      .integer("axis", call.integer({"axis"}, -1));
  return one_hot(plain.call());
}

// Fill: dims, value. FillD: value.
Result<Outputs> fill_by_dims(const Call& call) {
  const bool by_attribute = call.op.type == "FillD";
  OPDRIFT_TRY(const auto dims,
              call.integers_or_input({"dims"}, by_attribute ? ~std::size_t{0} : std::size_t{0}));
  OPDRIFT_TRY(const Array* value, call.need(by_attribute ? 0 : 1, "value"));
  if (!dims || value->size() != 1) {
    return call.not_modelled("expected extents and one value");
  }
  tensor::Shape shape;
  for (const std::int64_t extent : *dims) {
    if (extent < 0) {
      return call.not_modelled("an extent is negative");
    }
    shape.push_back(static_cast<std::uint64_t>(extent));
  }
  Outputs outputs;
  OPDRIFT_TRY(Array y, call.make(shape, value->dtype));
  std::fill(y.values.begin(), y.values.end(), value->values.front());
  outputs.push_back(std::move(y));
  return outputs;
}

// The input of RangeD only helps the device to count.
Result<Outputs> range_by_attributes(const Call& call) {
  return range(Rewritten(call, "Range").keep_attributes().call());
}

// x (batch..., before..., axis, after...) by indices (batch..., taken...).
Result<Outputs> gather_in_batches(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  OPDRIFT_TRY(const Array* indices, call.need(1, "indices"));
  std::int64_t batch = call.integer({"batch_dims"}, 0);
  batch += batch < 0 ? static_cast<std::int64_t>(indices->rank()) : 0;
  OPDRIFT_TRY(const auto third, call.integers_or_input({"axis", "dim"}, 2));
  OPDRIFT_TRY(const std::size_t axis,
              normal_axis(third && !third->empty() ? third->front() : batch, x->rank()));
  const auto shared = static_cast<std::size_t>(std::clamp<std::int64_t>(batch, 0, kMaxRank));
  if (batch < 0 || shared > axis || shared > indices->rank() ||
      !std::equal(x->shape.begin(), x->shape.begin() + static_cast<std::ptrdiff_t>(shared),
                  indices->shape.begin())) {
    return call.not_modelled("batch axes do not fit");
  }
  if (shared == 0) {
    return gather(Rewritten(call, "Gather")
                      .take(0)
                      .take(1)
                      .integer("axis", static_cast<std::int64_t>(axis))
                      .call());
  }
  if (x->size() == 0 || indices->size() == 0) {
    return call.not_modelled("there is nothing in the batches");
  }
  const auto head = x->shape.begin() + static_cast<std::ptrdiff_t>(shared);
  const std::uint64_t batches = count_of({x->shape.begin(), head});
  Array part{{head, x->shape.end()}, {}, x->dtype};
  Array places{{indices->shape.begin() + static_cast<std::ptrdiff_t>(shared), indices->shape.end()},
               {},
               indices->dtype};
  const std::uint64_t size = count_of(part.shape);
  const std::uint64_t taken = count_of(places.shape);
  Array y;
  y.dtype = x->dtype;
  y.shape.assign(x->shape.begin(), head);
  for (std::uint64_t b = 0; b < batches; ++b) {
    const auto from = x->values.begin() + static_cast<std::ptrdiff_t>(b * size);
    const auto at = indices->values.begin() + static_cast<std::ptrdiff_t>(b * taken);
    part.values.assign(from, from + static_cast<std::ptrdiff_t>(size));
    places.values.assign(at, at + static_cast<std::ptrdiff_t>(taken));
    OPDRIFT_TRY(const Outputs one,
                gather(Rewritten(call, "Gather")
                           .give(part)
                           .give(places)
                           .integer("axis", static_cast<std::int64_t>(axis - shared))
                           .call()));
    if (b == 0) {
      y.shape.insert(y.shape.end(), one.front().shape.begin(), one.front().shape.end());
      OPDRIFT_CHECK_OK(check_shape(y.shape, call.limits));
    }
    y.values.insert(y.values.end(), one.front().values.begin(), one.front().values.end());
  }
  Outputs outputs;
  outputs.push_back(std::move(y));
  return outputs;
}

}  // namespace opdrift::replay
