#include <algorithm>
#include <cmath>
#include <cstdint>

#include "opdrift/replay/kinds/kinds.hpp"
#include "opdrift/replay/walk.hpp"

// Movement by index: Gather, GatherElements, GatherND, the three Scatters, OneHot, Compress.

namespace opdrift::replay {

namespace {

Outputs single(Array array) {
  Outputs outputs;
  outputs.push_back(std::move(array));
  return outputs;
}

Result<std::size_t> place(const Call& call, double index, std::uint64_t extent) {
  // Whole first: a tiny negative number plus the extent would round up to the extent.
  index = std::trunc(index);
  const double wide = static_cast<double>(extent);
  if (!(index >= -wide) || !(index < wide)) {
    return call.not_modelled("index " + std::to_string(index) + " lies outside an axis of " +
                             std::to_string(extent));
  }
  return static_cast<std::size_t>(index < 0.0 ? index + wide : index);
}

Result<std::vector<std::size_t>> places(const Call& call, const Array& indices,
                                        std::uint64_t extent) {
  std::vector<std::size_t> found;
  found.reserve(indices.size());
  for (const double index : indices.values) {
    OPDRIFT_TRY(const std::size_t at, place(call, index, extent));
    found.push_back(at);
  }
  return found;
}

}  // namespace

Result<Outputs> gather(const Call& call) {
  const bool swapped = call.op.type == "embedding" || call.op.type == "Embedding";
  OPDRIFT_TRY(const Array* x, call.need(0, "data"));
  OPDRIFT_TRY(const Array* indices, call.need(1, "indices"));
  OPDRIFT_TRY(const auto third, call.integers_or_input({"axis", "dim"}, 2));
  const std::int64_t given = third && !third->empty() && !swapped ? third->front() : 0;
  OPDRIFT_TRY(const std::size_t axis, normal_axis(given, x->rank()));
  OPDRIFT_TRY(const auto from, places(call, *indices, x->shape[axis]));
  tensor::Shape shape(x->shape.begin(), x->shape.begin() + static_cast<std::ptrdiff_t>(axis));
  shape.insert(shape.end(), indices->shape.begin(), indices->shape.end());
  shape.insert(shape.end(), x->shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1,
               x->shape.end());
  OPDRIFT_TRY(Array y, call.make(shape, x->dtype));
  const AxisSplit split = split_at(x->shape, axis);
  double* out = y.values.data();
  for (std::size_t outer = 0; outer < split.outer; ++outer) {
    for (const std::size_t at : from) {
      out = std::copy_n(x->values.data() + (outer * split.extent + at) * split.inner, split.inner,
                        out);
    }
  }
  return single(std::move(y));
}

namespace {

// Distances along every axis but `axis` for an index array laid over `data`.
Result<Strides> beside_axis(const Call& call, const Array& data, const Array& indices,
                            std::size_t axis) {
  if (indices.rank() != data.rank()) {
    return call.not_modelled("indices and data differ in rank");
  }
  Strides strides = strides_of(data.shape);
  for (std::size_t i = 0; i < data.rank(); ++i) {
    if (i != axis && indices.shape[i] > data.shape[i]) {
      return call.not_modelled("indices are larger than the data");
    }
  }
  strides[axis] = 0;
  return strides;
}

double scatter_reduce(const std::string& how, double old, double update) {
  if (how == "add" || how == "sum") {
    return old + update;
  }
  if (how == "mul" || how == "prod") {
    return old * update;
  }
  if (how == "max" || how == "amax") {
    return std::max(old, update);
  }
  if (how == "min" || how == "amin") {
    return std::min(old, update);
  }
  return update;
}

Status check_reduction(const Call& call, const std::string& how) {
  for (const char* known : {"none", "add", "sum", "mul", "prod", "max", "amax", "min", "amin"}) {
    if (how == known) {
      return Unit{};
    }
  }
  return call.not_modelled("reduction " + how);
}

}  // namespace

Result<Outputs> gather_elements(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "data"));
  OPDRIFT_TRY(const Array* indices, call.need(1, "indices"));
  OPDRIFT_TRY(const std::size_t axis, normal_axis(call.integer({"axis", "dim"}, 0), x->rank()));
  OPDRIFT_TRY(const Strides strides, beside_axis(call, *x, *indices, axis));
  OPDRIFT_TRY(const auto from, places(call, *indices, x->shape[axis]));
  OPDRIFT_TRY(Array y, call.make(indices->shape, x->dtype));
  const auto step = static_cast<std::size_t>(strides_of(x->shape)[axis]);
  std::size_t out = 0;
  walk<1>(indices->shape, {strides}, [&](const Row<1>& row) {
    std::int64_t base = row.at[0];
    for (std::size_t i = 0; i < row.length; ++i, ++out, base += row.step[0]) {
      y.values[out] = x->values[static_cast<std::size_t>(base) + from[out] * step];
    }
  });
  return single(std::move(y));
}

Result<Outputs> scatter_elements(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "data"));
  OPDRIFT_TRY(const Array* indices, call.need(1, "indices"));
  OPDRIFT_TRY(const Array* updates, call.need(2, "updates"));
  OPDRIFT_TRY(const std::size_t axis, normal_axis(call.integer({"axis", "dim"}, 0), x->rank()));
  OPDRIFT_TRY(const Strides strides, beside_axis(call, *x, *indices, axis));
  const std::string how = call.text({"reduction", "reduce"}, "none");
  OPDRIFT_CHECK_OK(check_reduction(call, how));
  OPDRIFT_TRY(const auto to, places(call, *indices, x->shape[axis]));
  if (updates->shape != indices->shape) {
    return call.not_modelled("updates and indices differ in shape");
  }
  Array y = *x;
  const auto step = static_cast<std::size_t>(strides_of(x->shape)[axis]);
  std::size_t in = 0;
  walk<1>(indices->shape, {strides}, [&](const Row<1>& row) {
    std::int64_t base = row.at[0];
    for (std::size_t i = 0; i < row.length; ++i, ++in, base += row.step[0]) {
      double& slot = y.values[static_cast<std::size_t>(base) + to[in] * step];
      slot = scatter_reduce(how, slot, updates->values[in]);
    }
  });
  return single(std::move(y));
}

namespace {

/// Index tuples as the start of a block of elements each.
struct TupleBlocks {
  std::vector<std::size_t> starts;
  std::size_t block = 1;
};

Result<TupleBlocks> tuple_blocks(const Call& call, const Array& data, const Array& indices,
                                 std::size_t batch_axes) {
  if (indices.rank() == 0 || indices.shape.back() == 0 || batch_axes >= indices.rank() ||
      batch_axes > data.rank() || indices.shape.back() > data.rank() - batch_axes) {
    return call.not_modelled("index tuples do not fit the data");
  }
  for (std::size_t i = 0; i < batch_axes; ++i) {
    if (indices.shape[i] != data.shape[i]) {
      return call.not_modelled("batch axes differ");
    }
  }
  const std::size_t width = indices.shape.back();
  const auto head = static_cast<std::ptrdiff_t>(batch_axes + width);
  TupleBlocks blocks;
  blocks.block = count_of({data.shape.begin() + head, data.shape.end()});
  const tensor::Shape outer(indices.shape.begin(), indices.shape.end() - 1);
  const std::size_t tuples = count_of(outer);
  const std::size_t batches =
      count_of({data.shape.begin(), data.shape.begin() + static_cast<std::ptrdiff_t>(batch_axes)});
  const std::size_t per_batch = batches == 0 ? 0 : tuples / batches;
  const Strides own = strides_of(data.shape);
  const std::size_t batch_size = batches == 0 ? 0 : data.size() / batches;
  for (std::size_t t = 0; t < tuples && per_batch > 0; ++t) {
    std::size_t start = t / per_batch * batch_size;
    for (std::size_t k = 0; k < width; ++k) {
      OPDRIFT_TRY(const std::size_t at,
                  place(call, indices.values[t * width + k], data.shape[batch_axes + k]));
      start += at * static_cast<std::size_t>(own[batch_axes + k]);
    }
    blocks.starts.push_back(start);
  }
  return blocks;
}

}  // namespace

Result<Outputs> gather_nd(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "data"));
  OPDRIFT_TRY(const Array* indices, call.need(1, "indices"));
  const std::int64_t batch = call.integer({"batch_dims"}, 0);
  if (batch < 0 || batch > static_cast<std::int64_t>(kMaxRank)) {
    return call.not_modelled("batch_dims is out of range");
  }
  const auto batch_axes = static_cast<std::size_t>(batch);
  OPDRIFT_TRY(const TupleBlocks blocks, tuple_blocks(call, *x, *indices, batch_axes));
  tensor::Shape shape(indices->shape.begin(), indices->shape.end() - 1);
  shape.insert(shape.end(),
               x->shape.begin() + static_cast<std::ptrdiff_t>(batch_axes + indices->shape.back()),
               x->shape.end());
  OPDRIFT_TRY(Array y, call.make(shape, x->dtype));
  double* out = y.values.data();
  for (const std::size_t start : blocks.starts) {
    out = std::copy_n(x->values.data() + start, blocks.block, out);
  }
  return single(std::move(y));
}

Result<Outputs> scatter_nd(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "data"));
  OPDRIFT_TRY(const Array* indices, call.need(1, "indices"));
  OPDRIFT_TRY(const Array* updates, call.need(2, "updates"));
  const std::string how = call.text({"reduction"}, "none");
  OPDRIFT_CHECK_OK(check_reduction(call, how));
  OPDRIFT_TRY(const TupleBlocks blocks, tuple_blocks(call, *x, *indices, 0));
  if (updates->size() != blocks.starts.size() * blocks.block) {
    return call.not_modelled("updates do not fit the indices");
  }
  Array y = *x;
  const double* update = updates->values.data();
  for (const std::size_t start : blocks.starts) {
    for (std::size_t i = 0; i < blocks.block; ++i) {
      double& slot = y.values[start + i];
      slot = scatter_reduce(how, slot, *update++);
    }
  }
  return single(std::move(y));
}

Result<Outputs> one_hot(const Call& call) {
  OPDRIFT_TRY(const Array* indices, call.need(0, "indices"));
  OPDRIFT_TRY(const Array* depth, call.need(1, "depth"));
  OPDRIFT_TRY(const Array* values, call.need(2, "values"));
  OPDRIFT_TRY(const std::size_t axis, normal_axis(call.integer({"axis"}, -1), indices->rank() + 1));
  if (depth->size() != 1 || values->size() != 2 || !(depth->values[0] >= 0.0) ||
      !(depth->values[0] < 1e15)) {
    return call.not_modelled("expected a depth and two values");
  }
  tensor::Shape shape = indices->shape;
  const auto extent = static_cast<std::uint64_t>(depth->values[0]);
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), extent);
  OPDRIFT_TRY(Array y, call.make(shape, values->dtype));
  std::fill(y.values.begin(), y.values.end(), values->values[0]);
  const AxisSplit split = split_at(shape, axis);
  for (std::size_t i = 0; i < indices->size(); ++i) {
    const double index = indices->values[i];
    const double wrapped = index < 0.0 ? index + depth->values[0] : index;
    if (wrapped >= 0.0 && wrapped < depth->values[0]) {
      const auto at = static_cast<std::size_t>(wrapped);
      const std::size_t outer = i / split.inner;
      y.values[(outer * split.extent + at) * split.inner + i % split.inner] = values->values[1];
    }
  }
  return single(std::move(y));
}

Result<Outputs> compress(const Call& call) {
  OPDRIFT_TRY(const Array* given, call.need(0, "input"));
  OPDRIFT_TRY(const Array* condition, call.need(1, "condition"));
  Array x = *given;
  if (!call.has({"axis"})) {
    x.shape = {x.size()};
  }
  OPDRIFT_TRY(const std::size_t axis, normal_axis(call.integer({"axis"}, 0), x.rank()));
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < condition->size() && i < x.shape[axis]; ++i) {
    if (condition->values[i] != 0.0) {
      kept.push_back(i);
    }
  }
  const AxisSplit split = split_at(x.shape, axis);
  tensor::Shape shape = x.shape;
  shape[axis] = kept.size();
  OPDRIFT_TRY(Array y, call.make(shape, x.dtype));
  double* out = y.values.data();
  for (std::size_t outer = 0; outer < split.outer; ++outer) {
    for (const std::size_t at : kept) {
      out = std::copy_n(x.values.data() + (outer * split.extent + at) * split.inner, split.inner,
                        out);
    }
  }
  return single(std::move(y));
}

}  // namespace opdrift::replay
