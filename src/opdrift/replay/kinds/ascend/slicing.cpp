#include <algorithm>
#include <cstdint>
#include <limits>

#include "opdrift/base/text.hpp"
#include "opdrift/replay/kinds/ascend/kinds.hpp"
#include "opdrift/replay/kinds/ascend/rewrite.hpp"
#include "opdrift/replay/kinds/kinds.hpp"

// Slices with masks, and borders listed as pairs. Bit i of a mask is about entry i of begin, end
// and strides:
//   begin_mask, end_mask  the entry does not bind     ellipsis_mask   as many whole axes as fit
//   new_axis_mask         a new axis of one           shrink_axis_mask  one element, axis dropped

namespace opdrift::replay {

namespace {

using Integers = std::vector<std::int64_t>;

constexpr std::int64_t kFirst = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();

struct Masks {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t ellipsis = 0;
  std::int64_t fresh = 0;
  std::int64_t shrink = 0;
};

struct Entries {
  Integers begin;
  Integers end;
  Integers strides;
  Integers axes;
  Masks masks;
};

bool bit(std::int64_t mask, std::size_t index) {
  return index < 63 && ((mask >> index) & 1) != 0;
}

// StridedSlice: x, begin, end, strides. V2 and V3: x, begin, end, axes, strides. D: attributes.
Result<Entries> entries_of(const Call& call) {
  const bool plain = call.op.type == "StridedSlice";
  OPDRIFT_TRY(const auto begin, call.integers_or_input({"begin"}, 1));
  OPDRIFT_TRY(const auto end, call.integers_or_input({"end"}, 2));
  OPDRIFT_TRY(const auto axes, call.integers_or_input({"axes"}, plain ? ~std::size_t{0} : 3));
  OPDRIFT_TRY(const auto strides, call.integers_or_input({"strides"}, plain ? 3 : 4));
  Entries entries;
  if (!begin || !end) {
    return call.not_modelled("begin or end is not known");
  }
  entries.begin = *begin;
  entries.end = *end;
  entries.strides = strides && !strides->empty() ? *strides : Integers(begin->size(), 1);
  entries.axes = axes.value_or(Integers{});
  entries.masks = {call.integer({"begin_mask"}, 0), call.integer({"end_mask"}, 0),
                   call.integer({"ellipsis_mask"}, 0), call.integer({"new_axis_mask"}, 0),
                   call.integer({"shrink_axis_mask"}, 0)};
  const std::size_t count = entries.begin.size();
  const bool listed = !entries.axes.empty();
  if (entries.end.size() != count || entries.strides.size() != count || count > kMaxRank ||
      (listed && entries.axes.size() != count) ||
      (listed && (entries.masks.ellipsis | entries.masks.fresh) != 0)) {
    return call.not_modelled("begin, end, axes and strides do not fit each other");
  }
  return entries;
}

/// Ranges along axes of the input, and what becomes of the axes of the result.
struct Ranges {
  Integers starts;
  Integers ends;
  Integers steps;
  Integers axes;
  std::vector<std::size_t> dropped;
  std::vector<std::size_t> added;  ///< before this axis of the input, in order
};

Result<Ranges> ranges_of(const Call& call, const Entries& entries, std::size_t rank) {
  Ranges ranges;
  std::size_t plain = 0;
  for (std::size_t i = 0; i < entries.begin.size(); ++i) {
    plain += bit(entries.masks.ellipsis, i) || bit(entries.masks.fresh, i) ? 0U : 1U;
  }
  if (plain > rank) {
    return call.not_modelled("more entries than axes");
  }
  std::size_t next = 0;
  for (std::size_t i = 0; i < entries.begin.size(); ++i) {
    if (bit(entries.masks.ellipsis, i)) {
      next += rank - plain;
      continue;
    }
    if (bit(entries.masks.fresh, i)) {
      ranges.added.push_back(next);
      continue;
    }
    OPDRIFT_TRY(
        const std::size_t axis,
        normal_axis(entries.axes.empty() ? static_cast<std::int64_t>(next++) : entries.axes[i],
                    rank));
    const std::int64_t step = bit(entries.masks.shrink, i) ? 1 : entries.strides[i];
    std::int64_t start = entries.begin[i];
    std::int64_t end = entries.end[i];
    if (bit(entries.masks.shrink, i)) {
      end = start == -1 ? kLast : start == kLast ? kLast : start + 1;
      ranges.dropped.push_back(axis);
    } else {
      start = bit(entries.masks.begin, i) ? (step > 0 ? 0 : kLast) : start;
      end = bit(entries.masks.end, i) ? (step > 0 ? kLast : kFirst) : end;
    }
    ranges.starts.push_back(start);
    ranges.ends.push_back(end);
    ranges.steps.push_back(step);
    ranges.axes.push_back(static_cast<std::int64_t>(axis));
  }
  return ranges;
}

}  // namespace

Result<Outputs> strided_slice(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  OPDRIFT_TRY(const Entries entries, entries_of(call));
  OPDRIFT_TRY(const Ranges ranges, ranges_of(call, entries, x->rank()));
  Rewritten plain(call, "Slice");
  plain.take(0)
      .integers("starts", ranges.starts)
      .integers("ends", ranges.ends)
      .integers("axes", ranges.axes)
      .integers("steps", ranges.steps);
  OPDRIFT_TRY(Outputs outputs, slice(plain.call()));
  Array& y = outputs.front();
  tensor::Shape shape;
  for (std::size_t axis = 0; axis <= x->rank(); ++axis) {
    shape.insert(
        shape.end(),
        static_cast<std::size_t>(std::count(ranges.added.begin(), ranges.added.end(), axis)), 1);
    if (axis == x->rank()) {
      break;
    }
    const bool dropped =
        std::find(ranges.dropped.begin(), ranges.dropped.end(), axis) != ranges.dropped.end();
    if (dropped && y.shape[axis] != 1) {
      return call.not_modelled("an element lies outside its axis");
    }
    if (!dropped) {
      shape.push_back(y.shape[axis]);
    }
  }
  y.shape = std::move(shape);
  return outputs;
}

// Pad, PadV2 and MirrorPad list (before, after) per axis; PadV3 does so unless it says otherwise.
Result<Outputs> ascend_pad(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  OPDRIFT_TRY(const auto listed, call.integers_or_input({"paddings"}, 1));
  const std::size_t rank = x->rank();
  if (!listed || listed->size() != 2 * rank) {
    return call.not_modelled("expected two pads per axis");
  }
  Integers pads = *listed;
  if (call.integer({"paddings_contiguous"}, 1) != 0) {
    for (std::size_t axis = 0; axis < rank; ++axis) {
      pads[axis] = (*listed)[2 * axis];
      pads[rank + axis] = (*listed)[2 * axis + 1];
    }
  }
  OPDRIFT_TRY(const auto filler, call.real_or_input({"constant_values"}, 2));
  Rewritten plain(call, "Pad");
  plain.take(0)
      .integers("pads", std::move(pads))
      .text("mode", to_lower(call.text({"mode"}, "constant")))
      .real("value", filler.value_or(0.0));
  return pad(plain.call());
}

}  // namespace opdrift::replay
