#include <algorithm>
#include <numeric>

#include "opdrift/replay/kinds/kinds.hpp"
#include "opdrift/replay/kinds/sources.hpp"
#include "opdrift/replay/walk.hpp"

// Boxes copied into boxes.
//   CenterCropPad   the middle of the input in the middle of the output, 0 around it
//   TensorScatter   an update written into a cache, from a place per batch on

namespace opdrift::replay {

namespace {

/// Along one axis: where reading and writing begin, and how many elements are copied.
struct Part {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint64_t count = 0;
};

// What is cut off or added is halved; the odd element is behind.
Part centred(std::uint64_t extent, std::uint64_t wanted) {
  if (extent > wanted) {
    return {(extent - wanted) / 2, 0, wanted};
  }
  return {0, (wanted - extent) / 2, extent};
}

Result<tensor::Shape> wanted_shape(const Call& call, const Array& x) {
  OPDRIFT_TRY(const Array* given, call.need(1, "shape"));
  OPDRIFT_TRY(const Integers extents, integers_of(*given));
  Integers all(x.rank());
  std::iota(all.begin(), all.end(), std::int64_t{0});
  const Integers axes = call.integers({"axes"}).value_or(all);
  if (axes.size() != extents.size()) {
    return call.not_modelled("expected one extent per axis");
  }
  tensor::Shape shape = x.shape;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    OPDRIFT_TRY(const std::size_t axis, normal_axis(axes[i], x.rank()));
    if (extents[i] < 0) {
      return call.not_modelled("an extent is out of range");
    }
    shape[axis] = static_cast<std::uint64_t>(extents[i]);
  }
  return shape;
}

}  // namespace

Result<Outputs> center_crop_pad(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "input_data"));
  OPDRIFT_TRY(const tensor::Shape shape, wanted_shape(call, *x));
  OPDRIFT_TRY(Array y, call.make(shape, x->dtype));
  const Strides from = strides_of(x->shape);
  const Strides to = strides_of(shape);
  tensor::Shape box;
  std::int64_t first = 0;
  std::int64_t start = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const Part part = centred(x->shape[axis], shape[axis]);
    first += static_cast<std::int64_t>(part.from) * from[axis];
    start += static_cast<std::int64_t>(part.to) * to[axis];
    box.push_back(part.count);
  }
  walk<2>(box, {from, to}, [&](const Row<2>& row) {
    for (std::size_t i = 0; i < row.length; ++i) {
      const auto step = static_cast<std::int64_t>(i);
      y.values[static_cast<std::size_t>(start + row.at[1] + step * row.step[1])] =
          x->values[static_cast<std::size_t>(first + row.at[0] + step * row.step[0])];
    }
  });
  return one_output(std::move(y));
}

Result<Outputs> tensor_scatter(const Call& call) {
  OPDRIFT_TRY(const Array* cache, call.need(0, "past_cache"));
  OPDRIFT_TRY(const Array* update, call.need(1, "update"));
  const Array* starts = call.input(2);
  OPDRIFT_TRY(const std::size_t axis, normal_axis(call.integer({"axis"}, -2), cache->rank()));
  tensor::Shape expected = cache->shape;
  if (axis == 0 || update->rank() != cache->rank() || update->shape[axis] > cache->shape[axis]) {
    return call.not_modelled("the update does not fit the cache");
  }
  expected[axis] = update->shape[axis];
  if (update->shape != expected || (starts != nullptr && starts->size() != cache->shape[0])) {
    return call.not_modelled("the update does not fit the cache");
  }
  const bool circular = call.text({"mode"}, "linear") == "circular";
  const AxisSplit split = split_at(cache->shape, axis);
  const std::size_t rows = update->shape[axis];
  Array y = *cache;
  for (std::size_t outer = 0; outer < split.outer && update->size() > 0; ++outer) {
    const std::size_t batch = outer / (split.outer / cache->shape[0]);
    const double start = starts == nullptr ? 0.0 : starts->values[batch];
    if (!(start >= 0.0) || !(start <= 9e15) ||
        (!circular && start + static_cast<double>(rows) > static_cast<double>(split.extent))) {
      return call.not_modelled("a write index is out of range");
    }
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t place = (static_cast<std::size_t>(start) + row) % split.extent;
      std::copy_n(update->values.data() + (outer * rows + row) * split.inner, split.inner,
                  y.values.data() + (outer * split.extent + place) * split.inner);
    }
  }
  return one_output(std::move(y));
}

}  // namespace opdrift::replay
