#include <algorithm>
#include <cmath>
#include <numeric>

#include "opdrift/replay/kinds/kinds.hpp"
#include "opdrift/replay/walk.hpp"

// Reductions over axes: y = finish(sum over the reduced elements of step(x), count).

namespace opdrift::replay {

namespace {

/// The reduced axes moved to the end: x as (kept, reduced), and the shape of the result.
struct Arranged {
  Array rows;
  std::size_t kept = 1;
  std::size_t reduced = 1;
  tensor::Shape shape;
  bool unchanged = false;  ///< noop_with_empty_axes: nothing is reduced
};

// Opsets differ in whether axes are an attribute (up to 12 or 17) or an input; both are read.
Result<std::vector<std::size_t>> reduced_axes(const Call& call, const Array& x, bool& unchanged) {
  OPDRIFT_TRY(const auto listed, call.integers_or_input({"axes", "axis", "dim"}, 1));
  if (!listed || listed->empty()) {
    unchanged = call.integer({"noop_with_empty_axes"}, 0) != 0;
    std::vector<std::size_t> all(unchanged ? 0 : x.rank());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
  }
  return normal_axes(*listed, x.rank());
}

Result<Arranged> arrange(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "data"));
  Arranged arranged;
  OPDRIFT_TRY(const auto axes, reduced_axes(call, *x, arranged.unchanged));
  const bool ascend_or_aten = call.has({"keep_dims", "keepdim"});
  const bool keep = call.integer({"keepdims", "keep_dims", "keepdim"}, ascend_or_aten ? 0 : 1) != 0;
  std::vector<std::size_t> order;
  for (std::size_t axis = 0; axis < x->rank(); ++axis) {
    if (!std::binary_search(axes.begin(), axes.end(), axis)) {
      order.push_back(axis);
      arranged.shape.push_back(x->shape[axis]);
      arranged.kept *= x->shape[axis];
    } else {
      arranged.reduced *= x->shape[axis];
      if (keep) {
        arranged.shape.push_back(1);
      }
    }
  }
  order.insert(order.end(), axes.begin(), axes.end());
  arranged.rows = transposed(*x, order);
  return arranged;
}

template <typename Reduce>
Result<Outputs> reduce_rows(const Call& call, Reduce reduce) {
  OPDRIFT_TRY(const Arranged arranged, arrange(call));
  OPDRIFT_TRY(Array y, call.make(arranged.shape, arranged.rows.dtype));
  for (std::size_t row = 0; row < arranged.kept && row < y.size(); ++row) {
    const double* first = arranged.rows.values.data() + row * arranged.reduced;
    y.values[row] = reduce(first, arranged.reduced);
  }
  Outputs outputs;
  outputs.push_back(std::move(y));
  return outputs;
}

template <typename Step>
double sum_over(const double* x, std::size_t count, Step step) {
  double sum = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    sum += step(x[i]);
  }
  return sum;
}

double plain_sum(const double* x, std::size_t count) {
  return sum_over(x, count, [](double v) { return v; });
}

double square_sum(const double* x, std::size_t count) {
  return sum_over(x, count, [](double v) { return v * v; });
}

double log_sum_exp(const double* x, std::size_t count) {
  const double top = count == 0 ? 0.0 : *std::max_element(x, x + count);
  const double base = std::isfinite(top) ? top : 0.0;
  return base + std::log(sum_over(x, count, [base](double v) { return std::exp(v - base); }));
}

double extreme(const double* x, std::size_t count, bool largest) {
  double best = largest ? -HUGE_VAL : HUGE_VAL;
  for (std::size_t i = 0; i < count; ++i) {
    if (std::isnan(x[i])) {
      return x[i];
    }
    best = largest ? std::max(best, x[i]) : std::min(best, x[i]);
  }
  return best;
}

}  // namespace

Result<Outputs> reduce_sum(const Call& call) {
  return reduce_rows(call, plain_sum);
}
Result<Outputs> reduce_mean(const Call& call) {
  return reduce_rows(call, [](const double* x, std::size_t count) {
    return plain_sum(x, count) / static_cast<double>(count);
  });
}
Result<Outputs> reduce_max(const Call& call) {
  return reduce_rows(call,
                     [](const double* x, std::size_t count) { return extreme(x, count, true); });
}
Result<Outputs> reduce_min(const Call& call) {
  return reduce_rows(call,
                     [](const double* x, std::size_t count) { return extreme(x, count, false); });
}
Result<Outputs> reduce_product(const Call& call) {
  return reduce_rows(call, [](const double* x, std::size_t count) {
    return std::accumulate(x, x + count, 1.0, [](double a, double b) { return a * b; });
  });
}

// n roundings of 0.42 u each, on both sides.
Result<Terms> reduce_product_terms(const Call& call, std::size_t /*index*/, const Array& y) {
  OPDRIFT_TRY(const Arranged arranged, arrange(call));
  Terms terms;
  for (const double value : y.values) {
    terms.extra.push_back(0.36 * static_cast<double>(arranged.reduced) * value * value);
  }
  return terms;
}
Result<Outputs> reduce_l1(const Call& call) {
  return reduce_rows(call, [](const double* x, std::size_t count) {
    return sum_over(x, count, [](double v) { return std::abs(v); });
  });
}
Result<Outputs> reduce_l2(const Call& call) {
  return reduce_rows(
      call, [](const double* x, std::size_t count) { return std::sqrt(square_sum(x, count)); });
}
Result<Outputs> reduce_sum_square(const Call& call) {
  return reduce_rows(call, square_sum);
}
Result<Outputs> reduce_log_sum(const Call& call) {
  return reduce_rows(
      call, [](const double* x, std::size_t count) { return std::log(plain_sum(x, count)); });
}
Result<Outputs> reduce_log_sum_exp(const Call& call) {
  return reduce_rows(call, log_sum_exp);
}
Result<Outputs> reduce_all(const Call& call) {
  return reduce_rows(call, [](const double* x, std::size_t count) {
    return std::all_of(x, x + count, [](double v) { return v != 0.0; }) ? 1.0 : 0.0;
  });
}
Result<Outputs> reduce_any(const Call& call) {
  return reduce_rows(call, [](const double* x, std::size_t count) {
    return std::any_of(x, x + count, [](double v) { return v != 0.0; }) ? 1.0 : 0.0;
  });
}

namespace {

enum class Scale : std::uint8_t { one, count, result };

// a^2 = sum of the squares of what is added, in the unit of the result.
Result<Terms> reduction_terms(const Call& call, const Array& y, bool square_first, Scale scale) {
  OPDRIFT_TRY(const Arranged arranged, arrange(call));
  Terms terms;
  terms.n = static_cast<double>(std::max<std::size_t>(arranged.reduced, 1));
  terms.a2.assign(y.size(), 0.0);
  for (std::size_t row = 0; row < arranged.kept && row < y.size(); ++row) {
    const double* x = arranged.rows.values.data() + row * arranged.reduced;
    double a2 = sum_over(x, arranged.reduced,
                         [square_first](double v) { return square_first ? v * v * v * v : v * v; });
    if (scale == Scale::count) {
      a2 /= terms.n * terms.n;
    } else if (scale == Scale::result) {
      const double top = std::abs(y.values[row]);
      a2 /= top > 0.0 ? 4.0 * top * top : 1.0;  // d sqrt(s) = ds / (2 sqrt(s))
    }
    terms.a2[row] = a2;
  }
  return terms;
}

}  // namespace

Result<Terms> reduce_sum_terms(const Call& call, std::size_t /*index*/, const Array& y) {
  return reduction_terms(call, y, false, Scale::one);
}
Result<Terms> reduce_mean_terms(const Call& call, std::size_t /*index*/, const Array& y) {
  return reduction_terms(call, y, false, Scale::count);
}
Result<Terms> reduce_sum_square_terms(const Call& call, std::size_t /*index*/, const Array& y) {
  return reduction_terms(call, y, true, Scale::one);
}
Result<Terms> reduce_l2_terms(const Call& call, std::size_t /*index*/, const Array& y) {
  return reduction_terms(call, y, true, Scale::result);
}

Result<Outputs> cumulative_sum(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  OPDRIFT_TRY(const auto given, call.integers_or_input({"axis", "dim"}, 1));
  OPDRIFT_TRY(const std::size_t axis,
              normal_axis(given && !given->empty() ? given->front() : 0, x->rank()));
  const bool exclusive = call.integer({"exclusive"}, 0) != 0;
  const bool reverse = call.integer({"reverse"}, 0) != 0;
  const AxisSplit split = split_at(x->shape, axis);
  Array y = *x;
  for (std::size_t line = 0; line < split.outer * split.inner; ++line) {
    const std::size_t base = line / split.inner * split.extent * split.inner + line % split.inner;
    double sum = 0.0;
    for (std::size_t i = 0; i < split.extent; ++i) {
      const std::size_t at = base + (reverse ? split.extent - 1 - i : i) * split.inner;
      y.values[at] = exclusive ? sum : sum + x->values[at];
      sum += x->values[at];
    }
  }
  Outputs outputs;
  outputs.push_back(std::move(y));
  return outputs;
}

Result<Terms> cumulative_sum_terms(const Call& call, std::size_t /*index*/, const Array& /*y*/) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  const Array squares = squared(*x);
  std::vector<const Array*> inputs(call.inputs.begin(), call.inputs.end());
  inputs[0] = &squares;
  OPDRIFT_TRY(Outputs sums, cumulative_sum(Call{call.op, inputs, {}, call.limits}));
  Terms terms;
  terms.a2 = std::move(sums.front().values);
  OPDRIFT_TRY(const auto given, call.integers_or_input({"axis", "dim"}, 1));
  OPDRIFT_TRY(const std::size_t axis,
              normal_axis(given && !given->empty() ? given->front() : 0, x->rank()));
  terms.n = static_cast<double>(std::max<std::uint64_t>(x->shape[axis], 1));
  return terms;
}

}  // namespace opdrift::replay
