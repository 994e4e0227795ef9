#include <algorithm>
#include <numeric>

#include "opdrift/replay/kinds/ascend/kinds.hpp"
#include "opdrift/replay/kinds/ascend/rewrite.hpp"
#include "opdrift/replay/kinds/kinds.hpp"

// Movement whose axis is an input, or a new one:
//   Pack     x_i -> axis i of a new axis       Unpack   its inverse
//   ConcatV2 x..., axis                        Concat   axis, x...
//   Split    axis, x                           SplitV   x, sizes, axis

namespace opdrift::replay {

namespace {

using Integers = std::vector<std::int64_t>;

Outputs single(Array array) {
  Outputs outputs;
  outputs.push_back(std::move(array));
  return outputs;
}

Result<std::int64_t> number_at(const Call& call, std::size_t index, const char* name) {
  OPDRIFT_TRY(const Array* array, call.need(index, name));
  OPDRIFT_TRY(const Integers list, integers_of(*array));
  if (list.size() != 1) {
    return call.not_modelled(std::string("expected one number as ") + name);
  }
  return list.front();
}

}  // namespace

Result<Outputs> pack(const Call& call) {
  OPDRIFT_TRY(const Array* first, call.need(0, "x0"));
  OPDRIFT_TRY(const std::size_t axis, normal_axis(call.integer({"axis"}, 0), first->rank() + 1));
  Rewritten joined(call, "Concat");
  joined.integer("axis", static_cast<std::int64_t>(axis));
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    OPDRIFT_TRY(const Array* part, call.need(i, "x"));
    if (part->shape != first->shape) {
      return call.not_modelled("inputs differ in shape");
    }
    tensor::Shape shape = part->shape;
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), 1);
    joined.reshape(i, std::move(shape));
  }
  return concat(joined.call());
}

Result<Outputs> unpack(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  OPDRIFT_TRY(const std::size_t axis, normal_axis(call.integer({"axis"}, 0), x->rank()));
  const auto extent = static_cast<std::int64_t>(x->shape[axis]);
  if (call.integer({"num"}, extent) != extent || extent < 1 || extent > 1 << 20) {
    return call.not_modelled("the number of parts is not the extent of the axis");
  }
  Rewritten parts(call, "Split");
  parts.take(0).integer("axis", static_cast<std::int64_t>(axis)).integer("num_outputs", extent);
  OPDRIFT_TRY(Outputs outputs, split(parts.call()));
  for (Array& part : outputs) {
    part.shape.erase(part.shape.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  return outputs;
}

Result<Outputs> concat_by_input(const Call& call) {
  if (call.inputs.size() < 2) {
    return call.not_modelled("inputs are missing");
  }
  const bool axis_first = call.op.type == "Concat";
  const std::size_t last = call.inputs.size() - 1;
  OPDRIFT_TRY(const std::int64_t axis, number_at(call, axis_first ? 0 : last, "concat_dim"));
  Rewritten joined(call, "Concat");
  joined.integer("axis", axis);
  for (std::size_t i = 0; i < last; ++i) {
    joined.take(axis_first ? i + 1 : i);
  }
  return concat(joined.call());
}

Result<Outputs> split_by_input(const Call& call) {
  const bool by_sizes = call.op.type == "SplitV";
  OPDRIFT_TRY(const std::int64_t axis, number_at(call, by_sizes ? 2 : 0, "split_dim"));
  Rewritten parts(call, "Split");
  parts.take(by_sizes ? 0 : 1).integer("axis", axis);
  if (!by_sizes) {
    const auto named = static_cast<std::int64_t>(call.op.outputs.size());
    parts.integer("num_outputs", call.integer({"num_split"}, named));
    return split(parts.call());
  }
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  OPDRIFT_TRY(const Array* given, call.need(1, "size_splits"));
  OPDRIFT_TRY(Integers sizes, integers_of(*given));
  // One of them may be -1: what is left.
  const auto rest = std::find(sizes.begin(), sizes.end(), -1);
  if (rest != sizes.end()) {
    OPDRIFT_TRY(const std::size_t index, normal_axis(axis, x->rank()));
    *rest = 0;
    *rest = static_cast<std::int64_t>(x->shape[index]);
    for (auto size = sizes.begin(); size != sizes.end(); ++size) {
      if (size != rest && (*size < 0 || *size > *rest)) {
        return call.not_modelled("sizes do not fit the axis");
      }
      *rest -= size == rest ? 0 : *size;
    }
  }
  parts.integers("split", std::move(sizes));
  return split(parts.call());
}

// Axes `axis` to `end_axis`, both included, become one.
Result<Outputs> flatten_range(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  Array y = *x;
  if (x->rank() == 0) {
    y.shape = {1};
    return single(std::move(y));
  }
  OPDRIFT_TRY(const std::size_t first, normal_axis(call.integer({"axis"}, 1), x->rank()));
  OPDRIFT_TRY(const std::size_t last, normal_axis(call.integer({"end_axis"}, -1), x->rank()));
  if (last < first) {
    return call.not_modelled("the range of axes is empty");
  }
  const auto from = x->shape.begin() + static_cast<std::ptrdiff_t>(first);
  const auto to = x->shape.begin() + static_cast<std::ptrdiff_t>(last) + 1;
  y.shape.assign(x->shape.begin(), from);
  y.shape.push_back(count_of({from, to}));
  y.shape.insert(y.shape.end(), to, x->shape.end());
  return single(std::move(y));
}

Result<Outputs> reverse_axes(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  OPDRIFT_TRY(const auto listed, call.integers_or_input({"axis"}, 1));
  if (!listed) {
    return call.not_modelled("the axes are not known");
  }
  OPDRIFT_TRY(const auto axes, normal_axes(*listed, x->rank()));
  Array y = *x;
  for (const std::size_t axis : axes) {
    const AxisSplit split = split_at(y.shape, axis);
    const auto inner = static_cast<std::ptrdiff_t>(split.inner);
    for (std::size_t outer = 0; outer < split.outer; ++outer) {
      const auto base =
          y.values.begin() + static_cast<std::ptrdiff_t>(outer * split.extent * split.inner);
      for (std::size_t i = 0; i < split.extent / 2; ++i) {
        const auto one = base + static_cast<std::ptrdiff_t>(i) * inner;
        const auto other = base + static_cast<std::ptrdiff_t>(split.extent - 1 - i) * inner;
        std::swap_ranges(one, one + inner, other);
      }
    }
  }
  return single(std::move(y));
}

// Channels as (group, within) become (within, group).
Result<Outputs> shuffle_channels(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  const std::int64_t group = call.integer({"group"}, 1);
  if (x->rank() < 2 || group < 1 || x->shape[1] % static_cast<std::uint64_t>(group) != 0) {
    return call.not_modelled("groups do not divide the channels");
  }
  const auto groups = static_cast<std::uint64_t>(group);
  Array parts = *x;
  parts.shape = {x->shape[0], groups, x->shape[1] / groups, split_at(x->shape, 1).inner};
  Array y = transposed(parts, {0, 2, 1, 3});
  y.shape = x->shape;
  return single(std::move(y));
}

Result<Outputs> rank_of(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  return single(scalar_array(static_cast<double>(x->rank()), tensor::DType::i32));
}

}  // namespace opdrift::replay
