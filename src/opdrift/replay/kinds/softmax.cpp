#include <algorithm>
#include <cmath>

#include "opdrift/replay/kinds/kinds.hpp"

// Softmax family: y = exp(x - max) / sum exp(x - max) along an axis.

namespace opdrift::replay {

namespace {

/// Lines of `extent` elements `inner` apart.
struct Lines {
  const Array* x = nullptr;
  AxisSplit split;
};

// Below opset 13 everything from the axis on is one line and the default axis is 1.
Result<Lines> lines_of(const Call& call) {
  Lines lines;
  OPDRIFT_TRY(lines.x, call.need(0, "input"));
  const std::string& type = call.op.type;
  const bool onnx = type == "Softmax" || type == "LogSoftmax" || type == "Hardmax";
  const bool flat = onnx && call.opset() < 13 && !call.has({"axes", "dim"});
  const std::int64_t given = call.integer({"axis", "axes", "dim"}, flat ? 1 : -1);
  if (lines.x->rank() == 0) {
    return lines;
  }
  OPDRIFT_TRY(const std::size_t axis, normal_axis(given, lines.x->rank()));
  lines.split = split_at(lines.x->shape, axis);
  if (flat) {
    lines.split.extent *= lines.split.inner;
    lines.split.inner = 1;
  }
  return lines;
}

// Calls visit(start, step, count) for every line.
template <typename Visit>
void for_each_line(const Lines& lines, Visit visit) {
  const AxisSplit& split = lines.split;
  for (std::size_t outer = 0; outer < split.outer; ++outer) {
    for (std::size_t inner = 0; inner < split.inner && split.extent > 0; ++inner) {
      visit(outer * split.extent * split.inner + inner, split.inner, split.extent);
    }
  }
}

double top_of(const Array& x, std::size_t start, std::size_t step, std::size_t count) {
  double top = x.values[start];
  for (std::size_t i = 1; i < count; ++i) {
    const double value = x.values[start + i * step];
    top = value > top || std::isnan(value) ? value : top;
  }
  return top;
}

Result<Outputs> run(const Call& call, bool logarithm) {
  OPDRIFT_TRY(const Lines lines, lines_of(call));
  Array y = *lines.x;
  for_each_line(lines, [&](std::size_t start, std::size_t step, std::size_t count) {
    const double top = top_of(*lines.x, start, step, count);
    double sum = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
      const double shifted = lines.x->values[start + i * step] - top;
      y.values[start + i * step] = logarithm ? shifted : std::exp(shifted);
      sum += std::exp(shifted);
    }
    for (std::size_t i = 0; i < count; ++i) {
      double& value = y.values[start + i * step];
      value = logarithm ? value - std::log(sum) : value / sum;
    }
  });
  Outputs outputs;
  outputs.push_back(std::move(y));
  return outputs;
}

// The argument of exp rounds at its own size, the sum of n terms once per term.
Result<Terms> terms_of(const Call& call, const Array& y, bool logarithm) {
  OPDRIFT_TRY(const Lines lines, lines_of(call));
  Terms terms;
  terms.n = static_cast<double>(std::max<std::size_t>(lines.split.extent, 1));
  if (y.size() != lines.x->size()) {
    return terms;
  }
  terms.extra.assign(y.size(), 0.0);
  for_each_line(lines, [&](std::size_t start, std::size_t step, std::size_t count) {
    const double top = top_of(*lines.x, start, step, count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = start + i * step;
      // An element that is exactly zero owes nothing to an argument of minus infinity.
      const double shifted = y.values[at] == 0.0 ? 0.0 : lines.x->values[at] - top;
      const double scale = logarithm ? 1.0 : y.values[at] * y.values[at];
      terms.extra[at] = scale * (shifted * shifted + 0.09 * terms.n);
    }
  });
  return terms;
}

}  // namespace

Result<Outputs> softmax(const Call& call) {
  return run(call, false);
}
Result<Outputs> log_softmax(const Call& call) {
  return run(call, true);
}
Result<Terms> softmax_terms(const Call& call, std::size_t /*index*/, const Array& y) {
  return terms_of(call, y, false);
}
Result<Terms> log_softmax_terms(const Call& call, std::size_t /*index*/, const Array& y) {
  return terms_of(call, y, true);
}

Result<Outputs> hardmax(const Call& call) {
  OPDRIFT_TRY(const Lines lines, lines_of(call));
  Array y = *lines.x;
  for_each_line(lines, [&](std::size_t start, std::size_t step, std::size_t count) {
    std::size_t best = start;
    for (std::size_t i = 0; i < count; ++i) {
      best = lines.x->values[start + i * step] > lines.x->values[best] ? start + i * step : best;
      y.values[start + i * step] = 0.0;
    }
    y.values[best] = 1.0;
  });
  Outputs outputs;
  outputs.push_back(std::move(y));
  return outputs;
}

}  // namespace opdrift::replay
