#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "opdrift/replay/kinds/kinds.hpp"
#include "opdrift/replay/kinds/sources.hpp"
#include "opdrift/replay/walk.hpp"

// Movement that takes or adds parts of axes: Slice, Split, Pad, Trilu, ReverseSequence.

namespace opdrift::replay {

namespace {

Outputs single(Array array) {
  Outputs outputs;
  outputs.push_back(std::move(array));
  return outputs;
}

// The clamping of ONNX Slice, which is that of Python.
Cut clamp_cut(std::int64_t start, std::int64_t end, std::int64_t step, std::int64_t extent) {
  const auto clamp = [extent](std::int64_t at, std::int64_t low, std::int64_t high) {
    return std::clamp(at < 0 && at >= -extent ? at + extent : at < 0 ? low : at, low, high);
  };
  Cut cut;
  cut.step = step;
  const std::int64_t low = step > 0 ? 0 : -1;
  const std::int64_t high = step > 0 ? extent : extent - 1;
  cut.start = clamp(start, step > 0 ? 0 : std::min<std::int64_t>(0, high), high);
  if (step < 0 && start < -extent) {
    cut.start = -1;
  }
  const std::int64_t stop = end < -extent ? low : clamp(end, low, high);
  const std::int64_t distance = step > 0 ? stop - cut.start : cut.start - stop;
  if (distance > 0) {
    // step may be the smallest integer, whose magnitude needs the unsigned type.
    const std::uint64_t size = step > 0 ? static_cast<std::uint64_t>(step)
                                        : std::uint64_t{0} - static_cast<std::uint64_t>(step);
    cut.count = (static_cast<std::uint64_t>(distance) - 1) / size + 1;
  }
  return cut;
}

Result<Array> take(const Call& call, const Array& x, const std::vector<Cut>& cuts) {
  Strides strides = strides_of(x.shape);
  tensor::Shape shape;
  std::int64_t start = 0;
  for (std::size_t axis = 0; axis < x.rank(); ++axis) {
    shape.push_back(cuts[axis].count);
  }
  OPDRIFT_TRY(Array y, call.make(shape, x.dtype));
  if (y.size() == 0) {
    return y;
  }
  for (std::size_t axis = 0; axis < x.rank(); ++axis) {
    start += strides[axis] * cuts[axis].start;
    strides[axis] = cuts[axis].count == 1 ? 0 : strides[axis] * cuts[axis].step;
  }
  copy_strided(x.values.data(), start, shape, strides, y.values.data());
  return y;
}

std::vector<Cut> whole(const Array& x) {
  std::vector<Cut> cuts;
  for (const std::uint64_t extent : x.shape) {
    cuts.push_back({0, 1, extent});
  }
  return cuts;
}

}  // namespace

Result<std::vector<Cut>> slice_cuts(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "data"));
  OPDRIFT_TRY(const auto starts, call.integers_or_input({"starts", "begin", "offsets"}, 1));
  OPDRIFT_TRY(const auto ends, call.integers_or_input({"ends", "end"}, 2));
  OPDRIFT_TRY(const auto axes, call.integers_or_input({"axes"}, 3));
  OPDRIFT_TRY(const auto steps, call.integers_or_input({"steps", "strides"}, 4));
  if (!starts || !ends || starts->size() != ends->size() || starts->size() > x->rank() ||
      (axes && axes->size() != starts->size()) || (steps && steps->size() != starts->size())) {
    return call.not_modelled("starts, ends, axes and steps do not fit the input");
  }
  if (call.integer({"begin_mask"}, 0) != 0 || call.integer({"end_mask"}, 0) != 0 ||
      call.integer({"ellipsis_mask"}, 0) != 0 || call.integer({"new_axis_mask"}, 0) != 0 ||
      call.integer({"shrink_axis_mask"}, 0) != 0) {
    return call.not_modelled("masked slices");
  }
  std::vector<Cut> cuts = whole(*x);
  for (std::size_t i = 0; i < starts->size(); ++i) {
    OPDRIFT_TRY(const std::size_t axis,
                normal_axis(axes ? (*axes)[i] : static_cast<std::int64_t>(i), x->rank()));
    const std::int64_t step = steps ? (*steps)[i] : 1;
    if (step == 0) {
      return call.not_modelled("a step is zero");
    }
    cuts[axis] =
        clamp_cut((*starts)[i], (*ends)[i], step, static_cast<std::int64_t>(x->shape[axis]));
  }
  return cuts;
}

Result<Outputs> slice(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "data"));
  OPDRIFT_TRY(const std::vector<Cut> cuts, slice_cuts(call));
  OPDRIFT_TRY(Array y, take(call, *x, cuts));
  return single(std::move(y));
}

// Ascend SliceD: offsets and sizes instead of ends.
Result<Outputs> slice_by_size(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  OPDRIFT_TRY(const auto offsets, call.integers_or_input({"offsets"}, 1));
  OPDRIFT_TRY(const auto sizes, call.integers_or_input({"size"}, 2));
  if (!offsets || !sizes || offsets->size() != x->rank() || sizes->size() != x->rank()) {
    return call.not_modelled("offsets and sizes do not fit the input");
  }
  std::vector<Cut> cuts = whole(*x);
  for (std::size_t axis = 0; axis < x->rank(); ++axis) {
    const auto extent = static_cast<std::int64_t>(x->shape[axis]);
    const std::int64_t start = (*offsets)[axis];
    if (start < 0 || start > extent || (*sizes)[axis] < -1 || (*sizes)[axis] > extent - start) {
      return call.not_modelled("a part lies outside the input");
    }
    const std::int64_t size = (*sizes)[axis] == -1 ? extent - start : (*sizes)[axis];
    cuts[axis] = {start, 1, static_cast<std::uint64_t>(size)};
  }
  OPDRIFT_TRY(Array y, take(call, *x, cuts));
  return single(std::move(y));
}

namespace {

// Opset 1 to 12: attribute; 13: input; 18: num_outputs with a shorter last part.
Result<Integers> part_sizes(const Call& call, std::int64_t extent) {
  OPDRIFT_TRY(const auto listed, call.integers_or_input({"split", "size_splits"}, 1));
  if (listed && !listed->empty()) {
    return *listed;
  }
  const auto named = static_cast<std::int64_t>(call.op.outputs.size());
  const std::int64_t parts = call.integer({"num_outputs", "num_split", "chunks"}, named);
  if (parts < 1 || parts > 1 << 20) {
    return call.not_modelled("the number of parts is not known");
  }
  const std::int64_t size = (extent + parts - 1) / parts;
  Integers sizes;
  for (std::int64_t at = 0; at < parts; ++at) {
    sizes.push_back(std::clamp<std::int64_t>(extent - at * size, 0, size));
  }
  return sizes;
}

}  // namespace

Result<Outputs> split(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "input"));
  OPDRIFT_TRY(const std::size_t axis,
              normal_axis(call.integer({"axis", "split_dim", "dim"}, 0), x->rank()));
  const auto extent = static_cast<std::int64_t>(x->shape[axis]);
  OPDRIFT_TRY(const Integers sizes, part_sizes(call, extent));
  Outputs outputs;
  std::int64_t start = 0;
  for (const std::int64_t size : sizes) {
    if (size < 0 || size > extent - start) {
      return call.not_modelled("parts do not fit an axis of " + std::to_string(extent));
    }
    std::vector<Cut> cuts = whole(*x);
    cuts[axis] = {start, 1, static_cast<std::uint64_t>(size)};
    OPDRIFT_TRY(Array part, take(call, *x, cuts));
    outputs.push_back(std::move(part));
    start += size;
  }
  if (start != extent) {
    return call.not_modelled("parts cover " + std::to_string(start) + " of " +
                             std::to_string(extent));
  }
  return outputs;
}

namespace {}  // namespace

std::int64_t padded_index(std::int64_t at, std::int64_t extent, PadMode mode) {
  if (at >= 0 && at < extent) {
    return at;
  }
  switch (mode) {
    case PadMode::constant: return kFill;
    case PadMode::edge: return extent == 0 ? kFill : std::clamp<std::int64_t>(at, 0, extent - 1);
    case PadMode::wrap: return extent == 0 ? kFill : ((at % extent) + extent) % extent;
    case PadMode::symmetric: {
      const std::int64_t place =
          extent == 0 ? kFill : ((at % (2 * extent)) + 2 * extent) % (2 * extent);
      return place < extent ? place : 2 * extent - 1 - place;
    }
    case PadMode::reflect: break;
  }
  if (extent < 2) {
    return extent == 1 ? 0 : kFill;
  }
  const std::int64_t period = 2 * (extent - 1);
  const std::int64_t place = ((at % period) + period) % period;
  return place < extent ? place : period - place;
}

namespace {

Result<PadMode> pad_mode(const Call& call) {
  const std::string mode = call.text({"mode"}, "constant");
  if (mode == "constant") {
    return PadMode::constant;
  }
  if (mode == "reflect") {
    return PadMode::reflect;
  }
  if (mode == "symmetric") {
    return PadMode::symmetric;
  }
  if (mode == "edge" || mode == "replicate") {
    return PadMode::edge;
  }
  if (mode == "wrap" || mode == "circular") {
    return PadMode::wrap;
  }
  return call.not_modelled("mode " + mode);
}

// Pads as (before per axis, after per axis) for all axes of the input. Ascend PadD lists pairs.
Result<Integers> pad_widths(const Call& call, std::size_t rank) {
  OPDRIFT_TRY(const auto pads, call.integers_or_input({"pads", "paddings"}, 1));
  OPDRIFT_TRY(const auto axes, call.integers_or_input({"axes"}, 3));
  const std::size_t listed = axes ? axes->size() : rank;
  if (!pads || pads->size() != 2 * listed) {
    return call.not_modelled("expected two pads per axis");
  }
  const bool pairs = call.has({"paddings"});
  Integers widths(2 * rank, 0);
  for (std::size_t i = 0; i < listed; ++i) {
    OPDRIFT_TRY(const std::size_t axis,
                normal_axis(axes ? (*axes)[i] : static_cast<std::int64_t>(i), rank));
    widths[axis] = (*pads)[pairs ? 2 * i : i];
    widths[rank + axis] = (*pads)[pairs ? 2 * i + 1 : listed + i];
  }
  return widths;
}

// One source distance (or kFill) per output index and axis.
std::vector<Integers> source_offsets(const Array& x, const tensor::Shape& shape,
                                     const Integers& widths, PadMode mode) {
  const Strides own = strides_of(x.shape);
  std::vector<Integers> offsets(x.rank());
  for (std::size_t axis = 0; axis < x.rank(); ++axis) {
    for (std::uint64_t i = 0; i < shape[axis]; ++i) {
      const std::int64_t from = padded_index(static_cast<std::int64_t>(i) - widths[axis],
                                             static_cast<std::int64_t>(x.shape[axis]), mode);
      offsets[axis].push_back(from == kFill ? kFill : from * own[axis]);
    }
  }
  return offsets;
}

void fill_padded(const Array& x, const std::vector<Integers>& offsets, double filler, Array& y) {
  if (y.size() == 0) {
    return;
  }
  if (y.rank() == 0) {
    y.values = x.values;
    return;
  }
  const Integers& inner = offsets.back();
  tensor::Shape outer(y.shape.begin(), y.shape.end() - 1);
  std::vector<std::uint64_t> index(outer.size(), 0);
  double* out = y.values.data();
  for (std::size_t row = 0; row < y.size() / inner.size(); ++row) {
    std::int64_t base = 0;
    for (std::size_t axis = 0; axis < outer.size() && base != kFill; ++axis) {
      const std::int64_t part = offsets[axis][index[axis]];
      base = part == kFill ? kFill : base + part;
    }
    for (const std::int64_t part : inner) {
      const bool filled = base == kFill || part == kFill;
      *out++ = filled ? filler : x.values[static_cast<std::size_t>(base + part)];
    }
    for (std::size_t axis = outer.size(); axis-- > 0;) {
      if (++index[axis] < outer[axis]) {
        break;
      }
      index[axis] = 0;
    }
  }
}

}  // namespace

Result<Padding> padding_of(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "data"));
  Padding padding;
  OPDRIFT_TRY(padding.mode, pad_mode(call));
  OPDRIFT_TRY(padding.widths, pad_widths(call, x->rank()));
  OPDRIFT_TRY(const auto filler, call.real_or_input({"value", "constant_values"}, 2));
  padding.filler = filler.value_or(0.0);
  for (std::size_t axis = 0; axis < x->rank(); ++axis) {
    constexpr std::int64_t kWidest = std::int64_t{1} << 40;
    const std::int64_t before = padding.widths[axis];
    const std::int64_t after = padding.widths[x->rank() + axis];
    if (std::max(before, after) > kWidest || std::min(before, after) < -kWidest) {
      return call.not_modelled("a pad is out of range");
    }
    const std::int64_t extent = static_cast<std::int64_t>(x->shape[axis]) + before + after;
    if (extent < 0) {
      return call.not_modelled("pads remove more than there is");
    }
    padding.shape.push_back(static_cast<std::uint64_t>(extent));
  }
  return padding;
}

Result<Outputs> pad(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "data"));
  OPDRIFT_TRY(const Padding padding, padding_of(call));
  OPDRIFT_TRY(Array y, call.make(padding.shape, x->dtype));
  fill_padded(*x, source_offsets(*x, padding.shape, padding.widths, padding.mode), padding.filler,
              y);
  return single(std::move(y));
}

Result<Outputs> trilu(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "input"));
  OPDRIFT_TRY(const auto given, call.integers_or_input({"diagonal", "k"}, 1));
  if (x->rank() < 2) {
    return call.not_modelled("expected a matrix");
  }
  const std::string& type = call.op.type;
  const bool named_upper = type == "triu" || type == "Triu";
  const bool named_lower = type == "tril" || type == "Tril";
  const bool upper = named_upper || (!named_lower && call.integer({"upper"}, 1) != 0);
  const std::int64_t k = given && !given->empty() ? given->front() : 0;
  Array y = *x;
  const auto rows = static_cast<std::int64_t>(x->shape[x->rank() - 2]);
  const auto columns = static_cast<std::int64_t>(x->shape[x->rank() - 1]);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::int64_t column = static_cast<std::int64_t>(i) % columns;
    const std::int64_t row = static_cast<std::int64_t>(i) / columns % rows;
    // A k near the ends of its type must not wrap, so it is compared, never added.
    if (upper ? column - row < k : column - row > k) {
      y.values[i] = 0.0;
    }
  }
  return single(std::move(y));
}

Result<Outputs> reverse_sequence(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "input"));
  OPDRIFT_TRY(const Array* lengths, call.need(1, "sequence_lens"));
  OPDRIFT_TRY(const std::size_t time, normal_axis(call.integer({"time_axis"}, 0), x->rank()));
  OPDRIFT_TRY(const std::size_t batch, normal_axis(call.integer({"batch_axis"}, 1), x->rank()));
  if (x->rank() < 2 || time == batch || time > 1 || batch > 1 ||
      lengths->size() != x->shape[batch]) {
    return call.not_modelled("expected time and batch as the first two axes");
  }
  Array y = *x;
  const AxisSplit inner = split_at(x->shape, 1);
  const Strides own = strides_of(x->shape);
  for (std::size_t b = 0; b < x->shape[batch]; ++b) {
    const double length = lengths->values[b];
    if (!(length >= 0.0) || !(length <= static_cast<double>(x->shape[time]))) {
      return call.not_modelled("a sequence is longer than its axis");
    }
    const auto count = static_cast<std::size_t>(length);
    const std::size_t base = b * static_cast<std::size_t>(own[batch]);
    const auto step = static_cast<std::size_t>(own[time]);
    for (std::size_t t = 0; t < count; ++t) {
      std::copy_n(x->values.data() + base + (count - 1 - t) * step, inner.inner,
                  y.values.data() + base + t * step);
    }
  }
  return single(std::move(y));
}

}  // namespace opdrift::replay
