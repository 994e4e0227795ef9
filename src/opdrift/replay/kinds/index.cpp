#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "opdrift/replay/kinds/kinds.hpp"

// Operators that give out positions, and the values found there.

namespace opdrift::replay {

namespace {

Outputs single(Array array) {
  Outputs outputs;
  outputs.push_back(std::move(array));
  return outputs;
}

Result<Outputs> best_index(const Call& call, bool largest) {
  OPDRIFT_TRY(const Array* x, call.need(0, "data"));
  OPDRIFT_TRY(const auto given, call.integers_or_input({"axis", "dimension", "dim"}, 1));
  OPDRIFT_TRY(const std::size_t axis,
              normal_axis(given && !given->empty() ? given->front() : 0, x->rank()));
  const bool ascend = call.has({"dimension"}) || call.op.type.rfind("ArgMaxV2", 0) == 0;
  const bool keep = call.integer({"keepdims", "keepdim"}, ascend ? 0 : 1) != 0;
  const bool last = call.integer({"select_last_index"}, 0) != 0;
  const AxisSplit split = split_at(x->shape, axis);
  tensor::Shape shape = x->shape;
  if (keep) {
    shape[axis] = 1;
  } else {
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  if (split.extent == 0) {
    return call.not_modelled("the axis is empty");
  }
  OPDRIFT_TRY(Array y, call.make(shape, tensor::DType::i64));
  for (std::size_t line = 0; line < y.size(); ++line) {
    const std::size_t start = line / split.inner * split.extent * split.inner + line % split.inner;
    std::size_t best = 0;
    for (std::size_t i = 1; i < split.extent; ++i) {
      const double value = x->values[start + i * split.inner];
      const double held = x->values[start + best * split.inner];
      const bool better = largest ? value > held : value < held;
      best = better || (last && value == held) ? i : best;
    }
    y.values[line] = static_cast<double>(best);
  }
  return single(std::move(y));
}

// Orders the positions of one line, best first, equal values by position.
void order_line(const Array& x, std::size_t start, std::size_t step, bool largest,
                std::size_t wanted, std::vector<std::size_t>& order) {
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto better = [&](std::size_t one, std::size_t other) {
    const double a = x.values[start + one * step];
    const double b = x.values[start + other * step];
    // NaN counts as the largest, so that the order stays strict and weak.
    if (std::isnan(a) != std::isnan(b)) {
      return std::isnan(a) == largest;
    }
    return a == b || std::isnan(a) ? one < other : largest ? a > b : a < b;
  };
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(wanted), order.end(),
                    better);
}

Result<Outputs> best_of_lines(const Call& call, const Array& x, std::size_t axis, bool largest,
                              std::size_t wanted) {
  const AxisSplit split = split_at(x.shape, axis);
  tensor::Shape shape = x.shape;
  shape[axis] = wanted;
  OPDRIFT_TRY(Array values, call.make(shape, x.dtype));
  OPDRIFT_TRY(Array indices, call.make(shape, tensor::DType::i64));
  std::vector<std::size_t> order(split.extent);
  for (std::size_t line = 0; line < split.outer * split.inner; ++line) {
    const std::size_t outer = line / split.inner;
    const std::size_t inner = line % split.inner;
    order_line(x, outer * split.extent * split.inner + inner, split.inner, largest, wanted, order);
    for (std::size_t i = 0; i < wanted; ++i) {
      const std::size_t to = (outer * wanted + i) * split.inner + inner;
      values.values[to] = x.values[(outer * split.extent + order[i]) * split.inner + inner];
      indices.values[to] = static_cast<double>(order[i]);
    }
  }
  Outputs outputs = single(std::move(values));
  outputs.push_back(std::move(indices));
  return outputs;
}

}  // namespace

Result<std::vector<double>> selected_values(const Call& call, bool best, const Array& positions) {
  OPDRIFT_TRY(const Array* x, call.need(0, "data"));
  OPDRIFT_TRY(const auto given, best ? call.integers_or_input({"axis", "dimension", "dim"}, 1)
                                     : call.integers_or_input({"axis", "dim"}, ~std::size_t{0}));
  const std::int64_t fallback = best ? 0 : -1;
  OPDRIFT_TRY(const std::size_t axis,
              normal_axis(given && !given->empty() ? given->front() : fallback, x->rank()));
  const AxisSplit split = split_at(x->shape, axis);
  const std::size_t lines = split.outer * split.inner;
  if (lines == 0 || positions.size() % lines != 0) {
    return call.not_modelled("the positions do not fit the axis");
  }
  const std::size_t wanted = positions.size() / lines;
  std::vector<double> values(positions.size(), std::nan(""));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double along = positions.values[i];
    if (along >= 0.0 && along < static_cast<double>(split.extent)) {
      const std::size_t outer = i / split.inner / wanted;
      values[i] = x->values[(outer * split.extent + static_cast<std::size_t>(along)) * split.inner +
                            i % split.inner];
    }
  }
  return values;
}

Result<Outputs> arg_max(const Call& call) {
  return best_index(call, true);
}
Result<Outputs> arg_min(const Call& call) {
  return best_index(call, false);
}

Result<Outputs> top_k(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "X"));
  // The second input of Ascend's TopKD only helps the device to count.
  OPDRIFT_TRY(const auto k,
              call.real_or_input({"k"}, call.op.type == "TopKD" ? ~std::size_t{0} : 1));
  OPDRIFT_TRY(const std::size_t axis, normal_axis(call.integer({"axis", "dim"}, -1), x->rank()));
  if (!k || !(*k >= 0.0) || !(*k <= static_cast<double>(x->shape[axis]))) {
    return call.not_modelled("k is missing or larger than the axis");
  }
  return best_of_lines(call, *x, axis, call.integer({"largest"}, 1) != 0,
                       static_cast<std::size_t>(*k));
}

Result<Outputs> sort(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  OPDRIFT_TRY(const std::size_t axis, normal_axis(call.integer({"axis", "dim"}, -1), x->rank()));
  return best_of_lines(call, *x, axis, call.integer({"descending"}, 0) != 0, x->shape[axis]);
}

Result<Outputs> non_zero(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "X"));
  std::vector<std::size_t> found;
  for (std::size_t at = 0; at < x->size(); ++at) {
    if (x->values[at] != 0.0) {
      found.push_back(at);
    }
  }
  const std::size_t rank = std::max<std::size_t>(x->rank(), 1);
  OPDRIFT_TRY(Array y, call.make({rank, found.size()}, tensor::DType::i64));
  for (std::size_t axis = 0; axis < x->rank(); ++axis) {
    const AxisSplit split = split_at(x->shape, axis);
    for (std::size_t i = 0; i < found.size(); ++i) {
      y.values[axis * found.size() + i] =
          static_cast<double>(found[i] / split.inner % split.extent);
    }
  }
  return single(std::move(y));
}

namespace {

struct Box {
  double top = 0.0;
  double left = 0.0;
  double bottom = 0.0;
  double right = 0.0;
};

Box box_at(const double* b, bool centred) {
  if (centred) {
    return {b[1] - b[3] / 2.0, b[0] - b[2] / 2.0, b[1] + b[3] / 2.0, b[0] + b[2] / 2.0};
  }
  return {std::min(b[0], b[2]), std::min(b[1], b[3]), std::max(b[0], b[2]), std::max(b[1], b[3])};
}

double overlap(const Box& one, const Box& other) {
  const double height = std::min(one.bottom, other.bottom) - std::max(one.top, other.top);
  const double width = std::min(one.right, other.right) - std::max(one.left, other.left);
  if (!(height > 0.0) || !(width > 0.0)) {
    return 0.0;
  }
  const double both = (one.bottom - one.top) * (one.right - one.left) +
                      (other.bottom - other.top) * (other.right - other.left) - height * width;
  return height * width / both;
}

struct Suppression {
  std::size_t most = 0;
  double iou = 0.0;
  double score = -HUGE_VAL;
  bool centred = false;
};

Result<Suppression> suppression_of(const Call& call) {
  Suppression options;
  OPDRIFT_TRY(const auto most, call.real_or_input({"max_output_boxes_per_class"}, 2));
  OPDRIFT_TRY(const auto iou, call.real_or_input({"iou_threshold"}, 3));
  OPDRIFT_TRY(const auto score, call.real_or_input({"score_threshold"}, 4));
  options.most = most && *most > 0.0 ? static_cast<std::size_t>(std::min(*most, 1e9)) : 0;
  options.iou = iou.value_or(0.0);
  options.score = score.value_or(-HUGE_VAL);
  options.centred = call.integer({"center_point_box"}, 0) != 0;
  return options;
}

std::vector<std::size_t> suppress(const double* boxes, const double* scores, std::size_t count,
                                  const Suppression& options) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < count; ++i) {
    if (scores[i] > options.score) {
      order.push_back(i);
    }
  }
  std::stable_sort(order.begin(), order.end(), [scores](std::size_t one, std::size_t other) {
    return scores[one] > scores[other];
  });
  std::vector<std::size_t> kept;
  for (const std::size_t candidate : order) {
    if (kept.size() >= options.most) {
      break;
    }
    const Box box = box_at(boxes + 4 * candidate, options.centred);
    const bool free = std::none_of(kept.begin(), kept.end(), [&](std::size_t other) {
      return overlap(box, box_at(boxes + 4 * other, options.centred)) > options.iou;
    });
    if (free) {
      kept.push_back(candidate);
    }
  }
  return kept;
}

}  // namespace

Result<Outputs> non_max_suppression(const Call& call) {
  OPDRIFT_TRY(const Array* boxes, call.need(0, "boxes"));
  OPDRIFT_TRY(const Array* scores, call.need(1, "scores"));
  OPDRIFT_TRY(const Suppression options, suppression_of(call));
  if (boxes->rank() != 3 || scores->rank() != 3 || boxes->shape[2] != 4 ||
      boxes->shape[0] != scores->shape[0] || boxes->shape[1] != scores->shape[2]) {
    return call.not_modelled("boxes and scores do not fit each other");
  }
  const std::size_t count = boxes->shape[1];
  const std::size_t classes = scores->shape[1];
  OPDRIFT_CHECK_OK(call.check_work(scores->size(), std::min(count, options.most)));
  Array y;
  y.dtype = tensor::DType::i64;
  for (std::size_t part = 0; count > 0 && part < boxes->shape[0] * classes; ++part) {
    const auto kept = suppress(boxes->values.data() + part / classes * count * 4,
                               scores->values.data() + part * count, count, options);
    const std::size_t batch = part / classes;
    for (const std::size_t box : kept) {
      y.values.insert(y.values.end(),
                      {static_cast<double>(batch), static_cast<double>(part % classes),
                       static_cast<double>(box)});
    }
  }
  y.shape = {y.values.size() / 3, 3};
  return single(std::move(y));
}

}  // namespace opdrift::replay
