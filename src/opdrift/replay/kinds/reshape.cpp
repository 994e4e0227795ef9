#include <algorithm>
#include <numeric>

#include "opdrift/replay/kinds/kinds.hpp"
#include "opdrift/replay/walk.hpp"

// Movement that keeps the order of elements, and movement that permutes or repeats axes.

namespace opdrift::replay {

namespace {

Outputs single(Array array) {
  Outputs outputs;
  outputs.push_back(std::move(array));
  return outputs;
}

Result<Outputs> with_shape(const Call& call, const Array& x, tensor::Shape shape) {
  if (count_of(shape) != x.size() || shape.size() > kMaxRank) {
    return call.not_modelled("expected a shape of " + std::to_string(x.size()) +
                             " elements, found " + tensor::to_string(shape));
  }
  Array y = x;
  y.shape = std::move(shape);
  return single(std::move(y));
}

Result<tensor::Shape> resolve_reshape(const Call& call, const Array& x,
                                      const std::vector<std::int64_t>& wanted, bool keep_zero) {
  tensor::Shape shape;
  std::uint64_t known = 1;
  std::size_t free_axis = wanted.size();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    std::uint64_t extent = 1;
    if (wanted[i] == -1 && free_axis == wanted.size()) {
      free_axis = i;
    } else if (wanted[i] == 0 && !keep_zero) {
      if (i >= x.rank()) {
        return call.not_modelled("the shape copies axis " + std::to_string(i) +
                                 ", which the input lacks");
      }
      extent = x.shape[i];
    } else if (wanted[i] >= 0) {
      extent = static_cast<std::uint64_t>(wanted[i]);
    } else {
      return call.not_modelled("the shape has a negative extent");
    }
    known = saturating_product(known, extent);
    shape.push_back(extent);
  }
  if (free_axis < wanted.size()) {
    shape[free_axis] = known == 0 ? 0 : x.size() / known;
  }
  return shape;
}

}  // namespace

Result<Outputs> reshape(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "data"));
  OPDRIFT_TRY(const auto wanted, call.integers_or_input({"shape"}, 1));
  if (!wanted) {
    return call.not_modelled("the shape is not known");
  }
  const bool keep_zero = call.integer({"allowzero"}, 0) != 0;
  OPDRIFT_TRY(tensor::Shape shape, resolve_reshape(call, *x, *wanted, keep_zero));
  return with_shape(call, *x, std::move(shape));
}

Result<Outputs> flatten(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "input"));
  const std::int64_t axis = call.integer({"axis"}, 1);
  const auto rank = static_cast<std::int64_t>(x->rank());
  if (axis < -rank || axis > rank) {
    return call.not_modelled("axis " + std::to_string(axis) + " does not exist");
  }
  const auto edge = x->shape.begin() + (axis < 0 ? axis + rank : axis);
  const tensor::Shape head(x->shape.begin(), edge);
  const tensor::Shape tail(edge, x->shape.end());
  return with_shape(call, *x, {count_of(head), count_of(tail)});
}

Result<Outputs> squeeze(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "data"));
  OPDRIFT_TRY(const auto axes, call.integers_or_input({"axes", "axis", "dim"}, 1));
  tensor::Shape shape;
  if (!axes || axes->empty()) {
    std::copy_if(x->shape.begin(), x->shape.end(), std::back_inserter(shape),
                 [](std::uint64_t extent) { return extent != 1; });
    return with_shape(call, *x, std::move(shape));
  }
  OPDRIFT_TRY(const auto dropped, normal_axes(*axes, x->rank()));
  for (std::size_t axis = 0; axis < x->rank(); ++axis) {
    if (!std::binary_search(dropped.begin(), dropped.end(), axis)) {
      shape.push_back(x->shape[axis]);
    }
  }
  return with_shape(call, *x, std::move(shape));
}

Result<Outputs> unsqueeze(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "data"));
  OPDRIFT_TRY(const auto axes, call.integers_or_input({"axes", "axis", "dim"}, 1));
  if (!axes) {
    return call.not_modelled("the axes are not known");
  }
  OPDRIFT_TRY(const auto added, normal_axes(*axes, x->rank() + axes->size()));
  tensor::Shape shape;
  auto extent = x->shape.begin();
  for (std::size_t axis = 0; axis < x->rank() + added.size(); ++axis) {
    const bool fresh = std::binary_search(added.begin(), added.end(), axis);
    shape.push_back(fresh ? 1 : *extent++);
  }
  return with_shape(call, *x, std::move(shape));
}

Result<Outputs> transpose(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "data"));
  OPDRIFT_TRY(const auto wanted, call.integers_or_input({"perm", "dims", "order"}, 1));
  std::vector<std::int64_t> order;
  if (wanted && !wanted->empty()) {
    order = *wanted;
  } else {
    order.resize(x->rank());
    std::iota(order.rbegin(), order.rend(), 0);
  }
  OPDRIFT_TRY(const auto sorted, normal_axes(order, x->rank()));
  if (sorted.size() != x->rank()) {
    return call.not_modelled("the permutation has " + std::to_string(sorted.size()) + " of " +
                             std::to_string(x->rank()) + " axes");
  }
  std::vector<std::size_t> permutation;
  for (const std::int64_t axis : order) {
    OPDRIFT_TRY(const std::size_t index, normal_axis(axis, x->rank()));
    permutation.push_back(index);
  }
  return single(transposed(*x, permutation));
}

Result<Outputs> concat(const Call& call) {
  OPDRIFT_TRY(const Array* first, call.need(0, "inputs"));
  OPDRIFT_TRY(const std::size_t axis,
              normal_axis(call.integer({"axis", "concat_dim", "dim"}, call.opset() < 4 ? 1 : 0),
                          first->rank()));
  tensor::Shape shape = first->shape;
  shape[axis] = 0;
  std::vector<const Array*> parts;
  for (const Array* part : call.inputs) {
    if (part == nullptr) {
      continue;
    }
    tensor::Shape frame = part->shape;
    if (frame.size() != shape.size()) {
      return call.not_modelled("inputs differ in rank");
    }
    frame[axis] = shape[axis];
    if (frame != shape) {
      return call.not_modelled("inputs differ beside the axis of concatenation");
    }
    shape[axis] += part->shape[axis];
    parts.push_back(part);
  }
  OPDRIFT_TRY(Array y, call.make(shape, first->dtype));
  const AxisSplit split = split_at(shape, axis);
  double* out = y.values.data();
  for (std::size_t outer = 0; outer < split.outer; ++outer) {
    for (const Array* part : parts) {
      const std::size_t run = part->shape[axis] * split.inner;
      out = std::copy_n(part->values.data() + outer * run, run, out);
    }
  }
  return single(std::move(y));
}

Result<Outputs> expand(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "input"));
  OPDRIFT_TRY(const auto wanted, call.integers_or_input({"shape", "size", "sizes"}, 1));
  if (!wanted) {
    return call.not_modelled("the shape is not known");
  }
  tensor::Shape asked;
  for (std::size_t i = 0; i < wanted->size(); ++i) {
    // -1 keeps the extent (ATen); ONNX has no negative extents.
    if ((*wanted)[i] < -1) {
      return call.not_modelled("the shape has a negative extent");
    }
    asked.push_back((*wanted)[i] == -1 ? 1 : static_cast<std::uint64_t>((*wanted)[i]));
  }
  OPDRIFT_TRY(const tensor::Shape shape, broadcast_shape(x->shape, asked));
  OPDRIFT_TRY(Array y, call.make(shape, x->dtype));
  copy_strided(x->values.data(), 0, shape, broadcast_strides(x->shape, shape), y.values.data());
  return single(std::move(y));
}

Result<Outputs> tile(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "input"));
  OPDRIFT_TRY(const auto repeats, call.integers_or_input({"multiples", "repeats", "dims"}, 1));
  if (!repeats || repeats->size() < x->rank() || repeats->size() > kMaxRank / 2) {
    return call.not_modelled("expected one repeat per axis");
  }
  // Every axis becomes a pair: how often, and the axis itself.
  const Strides own = strides_of(x->shape);
  const std::size_t missing = repeats->size() - x->rank();
  tensor::Shape paired;
  tensor::Shape shape;
  Strides strides;
  for (std::size_t i = 0; i < repeats->size(); ++i) {
    if ((*repeats)[i] < 0) {
      return call.not_modelled("a repeat is negative");
    }
    const std::uint64_t extent = i < missing ? 1 : x->shape[i - missing];
    const auto times = static_cast<std::uint64_t>((*repeats)[i]);
    paired.insert(paired.end(), {times, extent});
    strides.insert(strides.end(), {0, i < missing ? 0 : own[i - missing]});
    shape.push_back(saturating_product(times, extent));
  }
  OPDRIFT_TRY(Array y, call.make(shape, x->dtype));
  copy_strided(x->values.data(), 0, paired, strides, y.values.data());
  return single(std::move(y));
}

namespace {

struct Blocks {
  std::uint64_t n = 0;
  std::uint64_t c = 0;
  std::uint64_t h = 0;
  std::uint64_t w = 0;
  std::uint64_t block = 0;
};

Result<Blocks> blocks_of(const Call& call, const Array& x) {
  const std::int64_t block = call.integer({"blocksize", "block_size", "upscale_factor"}, 0);
  if (x.rank() != 4 || block < 1 || block > (1 << 20)) {
    return call.not_modelled("expected four axes and a block size");
  }
  if (call.text({"data_format"}, "NCHW") == "NHWC") {
    return call.not_modelled("channels last");
  }
  return Blocks{x.shape[0], x.shape[1], x.shape[2], x.shape[3], static_cast<std::uint64_t>(block)};
}

}  // namespace

Result<Outputs> depth_to_space(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "input"));
  OPDRIFT_TRY(const Blocks s, blocks_of(call, *x));
  const std::uint64_t depth = s.c / (s.block * s.block);
  if (depth * s.block * s.block != s.c) {
    return call.not_modelled("channels do not divide into blocks");
  }
  const bool crd = call.text({"mode"}, call.op.type == "PixelShuffle" ? "CRD" : "DCR") == "CRD";
  Array six = *x;
  if (crd) {
    six.shape = {s.n, depth, s.block, s.block, s.h, s.w};
    six = transposed(six, {0, 1, 4, 2, 5, 3});
  } else {
    six.shape = {s.n, s.block, s.block, depth, s.h, s.w};
    six = transposed(six, {0, 3, 4, 1, 5, 2});
  }
  six.shape = {s.n, depth, s.h * s.block, s.w * s.block};
  return single(std::move(six));
}

Result<Outputs> space_to_depth(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "input"));
  OPDRIFT_TRY(const Blocks s, blocks_of(call, *x));
  if (s.h % s.block != 0 || s.w % s.block != 0) {
    return call.not_modelled("height and width do not divide into blocks");
  }
  Array six = *x;
  six.shape = {s.n, s.c, s.h / s.block, s.block, s.w / s.block, s.block};
  six = transposed(six, {0, 3, 5, 1, 2, 4});
  six.shape = {s.n, s.c * s.block * s.block, s.h / s.block, s.w / s.block};
  return single(std::move(six));
}

}  // namespace opdrift::replay
