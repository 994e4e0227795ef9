#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "opdrift/replay/kinds/kinds.hpp"
#include "opdrift/replay/kinds/sources.hpp"
#include "opdrift/replay/window.hpp"

// Pooling over spatial windows. Padding never wins a maximum and counts in a mean only on request.

namespace opdrift::replay {

namespace {

/// Output positions whose taps are found once and used for every channel.
constexpr std::size_t kChunk = 256;

bool includes_pad(const Call& call) {
  if (call.has({"exclusive"})) {
    return call.integer({"exclusive"}, 1) == 0;
  }
  return call.integer({"count_include_pad"}, call.has({"kernel_size"}) ? 1 : 0) != 0;
}

}  // namespace

Result<Pool> plan_pool(const Call& call) {
  Pool pool;
  OPDRIFT_TRY(pool.x, call.need(0, "X"));
  const std::string layout = call.text({"data_format"}, "NCHW");
  if (layout == "NHWC" || layout == "NDHWC" || call.integer({"divisor_override"}, 0) != 0) {
    return call.not_modelled("channels last or a divisor of its own");
  }
  const std::size_t axes = pool.x->rank() < 3 ? 0 : pool.x->rank() - 2;
  const bool global = axes > 0 && call.integer({"global_pooling"}, 0) != 0;  // Ascend
  Integers kernel =
      call.integers({"kernel_shape", "ksize", "kernel_size", "window"}).value_or(Integers{});
  if (kernel.size() == axes + 2) {
    kernel = Integers(kernel.end() - static_cast<std::ptrdiff_t>(axes), kernel.end());
  }
  if (kernel.size() == 1) {
    kernel.assign(axes, kernel.front());
  }
  if (global) {
    kernel.assign(pool.x->shape.begin() + 2, pool.x->shape.end());
  }
  if (axes == 0 || kernel.size() != axes) {
    return call.not_modelled("the kernel does not fit the input");
  }
  OPDRIFT_TRY(pool.window, read_window(call, pool.x->shape, kernel));
  if (global) {
    pool.window.before.assign(axes, 0);
    pool.window.after.assign(axes, 0);
    pool.window.dilation.assign(axes, 1);
    pool.window.stride = kernel;
  }
  if (!call.has({"strides", "stride"}) && call.has({"kernel_size"})) {
    pool.window.stride = kernel;  // ATen's default
  }
  OPDRIFT_CHECK_OK(place_window(call, pool.window, call.integer({"ceil_mode"}, 0) != 0));
  pool.shape = {pool.x->shape[0], pool.x->shape[1]};
  std::uint64_t taps = 1;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    pool.shape.push_back(static_cast<std::uint64_t>(pool.window.output[axis]));
    taps = saturating_product(taps, static_cast<std::uint64_t>(pool.window.kernel[axis]));
  }
  OPDRIFT_CHECK_OK(call.check_work(count_of(pool.shape), taps));
  pool.include_pad = includes_pad(call);
  return pool;
}

double pool_divisor(const Pool& pool, const std::vector<Tap>& taps, std::size_t output) {
  if (!pool.include_pad) {
    return static_cast<double>(taps.size());
  }
  const Window& window = pool.window;
  double count = 1.0;
  for (std::size_t axis = window.axes(); axis-- > 0;) {
    const auto extent = static_cast<std::size_t>(window.output[axis]);
    const std::int64_t start =
        static_cast<std::int64_t>(output % extent) * window.stride[axis] - window.before[axis];
    output /= extent;
    const std::int64_t room = window.input[axis] + window.after[axis] - start;
    const std::int64_t fitting = (room + window.dilation[axis] - 1) / window.dilation[axis];
    count *= static_cast<double>(std::clamp<std::int64_t>(fitting, 0, window.kernel[axis]));
  }
  return count;
}

namespace {

// Calls reduce(plane, taps, output position) for every plane and position.
template <typename Reduce>
Result<Array> reduce_windows(const Call& call, const Pool& pool, Reduce reduce) {
  OPDRIFT_TRY(Array y, call.make(pool.shape, pool.x->dtype));
  const std::size_t outputs = pool.window.output_count();
  const std::size_t inputs = pool.window.input_count();
  const std::size_t planes = outputs == 0 ? 0 : y.size() / outputs;
  std::vector<std::vector<Tap>> taps(std::min(kChunk, outputs));
  for (std::size_t first = 0; first < outputs && planes > 0; first += kChunk) {
    const std::size_t count = std::min(kChunk, outputs - first);
    for (std::size_t i = 0; i < count; ++i) {
      taps_at(pool.window, first + i, taps[i]);
    }
    for (std::size_t plane = 0; plane < planes; ++plane) {
      const double* x = pool.x->values.data() + plane * inputs;
      for (std::size_t i = 0; i < count; ++i) {
        y.values[plane * outputs + first + i] = reduce(x, taps[i], first + i);
      }
    }
  }
  return y;
}

Outputs single(Array array) {
  Outputs outputs;
  outputs.push_back(std::move(array));
  return outputs;
}

}  // namespace

Result<Outputs> max_pool(const Call& call) {
  OPDRIFT_TRY(const Pool pool, plan_pool(call));
  const bool by_column = call.integer({"storage_order"}, 0) != 0;
  if (by_column && call.op.outputs.size() > 1) {
    return call.not_modelled("column-major indices");
  }
  const auto best_tap = [](const double* x, const std::vector<Tap>& taps) {
    std::size_t best = taps.empty() ? 0 : taps.front().input;
    for (const Tap& tap : taps) {
      if (x[tap.input] > x[best] || (std::isnan(x[tap.input]) && !std::isnan(x[best]))) {
        best = tap.input;
      }
    }
    return best;
  };
  OPDRIFT_TRY(
      Array y,
      reduce_windows(call, pool, [&](const double* x, const std::vector<Tap>& taps, std::size_t) {
        return taps.empty() ? -HUGE_VAL : x[best_tap(x, taps)];
      }));
  if (call.op.outputs.size() == 1) {
    return single(std::move(y));
  }
  const double* all = pool.x->values.data();
  OPDRIFT_TRY(
      Array indices,
      reduce_windows(call, pool, [&](const double* x, const std::vector<Tap>& taps, std::size_t) {
        return static_cast<double>(x - all + static_cast<std::ptrdiff_t>(best_tap(x, taps)));
      }));
  indices.dtype = tensor::DType::i64;
  Outputs outputs = single(std::move(y));
  outputs.push_back(std::move(indices));
  return outputs;
}

Result<Outputs> average_pool(const Call& call) {
  OPDRIFT_TRY(const Pool pool, plan_pool(call));
  OPDRIFT_TRY(
      Array y,
      reduce_windows(call, pool, [&](const double* x, const std::vector<Tap>& taps, std::size_t o) {
        double sum = 0.0;
        for (const Tap& tap : taps) {
          sum += x[tap.input];
        }
        return sum / pool_divisor(pool, taps, o);
      }));
  return single(std::move(y));
}

Result<Terms> average_pool_terms(const Call& call, std::size_t /*index*/, const Array& /*y*/) {
  OPDRIFT_TRY(const Pool pool, plan_pool(call));
  OPDRIFT_TRY(
      Array a2,
      reduce_windows(call, pool, [&](const double* x, const std::vector<Tap>& taps, std::size_t o) {
        double sum = 0.0;
        for (const Tap& tap : taps) {
          sum += x[tap.input] * x[tap.input];
        }
        const double n = pool_divisor(pool, taps, o);
        return sum / (n * n);
      }));
  Terms terms;
  terms.n = static_cast<double>(pool.window.kernel_count());
  terms.a2 = std::move(a2.values);
  return terms;
}

namespace {

Result<double> power_of_norm(const Call& call) {
  const auto p = static_cast<double>(call.integer({"p"}, 2));
  if (!(p >= 1.0)) {
    return call.not_modelled("p is below 1");
  }
  return p;
}

/// A p-norm and the sum behind it.
struct Norm {
  explicit Norm(double power) : p(power) {}

  void add(double x) {
    const double term = std::pow(std::abs(x), p);
    sum += term;
    squares += term * term;
  }
  double value() const { return std::pow(sum, 1.0 / p); }
  // d value / d sum = value / (p sum)
  double accumulated() const {
    const double slope = sum == 0.0 ? 0.0 : value() / (p * sum);
    return slope * slope * squares;
  }

  double p;
  double sum = 0.0;
  double squares = 0.0;
};

template <typename Get>
Result<Array> norms_of_windows(const Call& call, const Pool& pool, Get get) {
  OPDRIFT_TRY(const double p, power_of_norm(call));
  return reduce_windows(call, pool,
                        [&](const double* x, const std::vector<Tap>& taps, std::size_t) {
                          Norm norm(p);
                          for (const Tap& tap : taps) {
                            norm.add(x[tap.input]);
                          }
                          return get(norm);
                        });
}

}  // namespace

Result<Outputs> lp_pool(const Call& call) {
  OPDRIFT_TRY(const Pool pool, plan_pool(call));
  OPDRIFT_TRY(Array y, norms_of_windows(call, pool, [](const Norm& norm) { return norm.value(); }));
  return single(std::move(y));
}

Result<Terms> lp_pool_terms(const Call& call, std::size_t /*index*/, const Array& /*y*/) {
  OPDRIFT_TRY(const Pool pool, plan_pool(call));
  OPDRIFT_TRY(Array a2,
              norms_of_windows(call, pool, [](const Norm& norm) { return norm.accumulated(); }));
  Terms terms;
  terms.n = static_cast<double>(pool.window.kernel_count());
  terms.a2 = std::move(a2.values);
  return terms;
}

namespace {

template <typename Reduce>
Result<Array> reduce_planes(const Call& call, Reduce reduce) {
  OPDRIFT_TRY(const Array* x, call.need(0, "X"));
  if (x->rank() < 2) {
    return call.not_modelled("expected batch and channel");
  }
  const std::size_t size = split_at(x->shape, 1).inner;
  tensor::Shape shape(x->rank(), 1);
  shape[0] = x->shape[0];
  shape[1] = x->shape[1];
  OPDRIFT_TRY(Array y, call.make(shape, x->dtype));
  for (std::size_t plane = 0; plane < y.size(); ++plane) {
    y.values[plane] = reduce(x->values.data() + plane * size, size);
  }
  return y;
}

}  // namespace

Result<Outputs> global_average_pool(const Call& call) {
  OPDRIFT_TRY(Array y, reduce_planes(call, [](const double* x, std::size_t count) {
                return std::accumulate(x, x + count, 0.0) / static_cast<double>(count);
              }));
  return single(std::move(y));
}

Result<Terms> global_average_pool_terms(const Call& call, std::size_t /*index*/,
                                        const Array& /*y*/) {
  Terms terms;
  OPDRIFT_TRY(Array a2, reduce_planes(call, [&](const double* x, std::size_t count) {
                const auto n = static_cast<double>(count);
                terms.n = std::max(n, 1.0);
                return std::inner_product(x, x + count, x, 0.0) / (n * n);
              }));
  terms.a2 = std::move(a2.values);
  return terms;
}

namespace {

template <typename Get>
Result<Array> norms_of_planes(const Call& call, Get get) {
  OPDRIFT_TRY(const double p, power_of_norm(call));
  return reduce_planes(call, [&](const double* x, std::size_t count) {
    Norm norm(p);
    for (std::size_t i = 0; i < count; ++i) {
      norm.add(x[i]);
    }
    return get(norm);
  });
}

}  // namespace

Result<Outputs> global_lp_pool(const Call& call) {
  OPDRIFT_TRY(Array y, norms_of_planes(call, [](const Norm& norm) { return norm.value(); }));
  return single(std::move(y));
}

Result<Terms> global_lp_pool_terms(const Call& call, std::size_t /*index*/, const Array& /*y*/) {
  OPDRIFT_TRY(const Array* x, call.need(0, "X"));
  OPDRIFT_TRY(Array a2, norms_of_planes(call, [](const Norm& norm) { return norm.accumulated(); }));
  Terms terms;
  terms.n = static_cast<double>(std::max<std::size_t>(split_at(x->shape, 1).inner, 1));
  terms.a2 = std::move(a2.values);
  return terms;
}

Result<Outputs> global_max_pool(const Call& call) {
  OPDRIFT_TRY(Array y, reduce_planes(call, [](const double* x, std::size_t count) {
                double best = -HUGE_VAL;
                for (std::size_t i = 0; i < count; ++i) {
                  best = std::isnan(x[i]) || x[i] > best ? x[i] : best;
                }
                return best;
              }));
  return single(std::move(y));
}

// ATen adaptive_avg_pool: window i of an axis covers [floor(i in/out), ceil((i + 1) in/out)).
Result<Outputs> adaptive_average_pool(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "input"));
  OPDRIFT_TRY(const auto sizes, call.integers_or_input({"output_size"}, 1));
  if (!sizes || sizes->empty() || sizes->size() > 3 || x->rank() < sizes->size() + 1) {
    return call.not_modelled("the output size does not fit the input");
  }
  Array current = *x;
  for (std::size_t i = 0; i < sizes->size(); ++i) {
    const std::size_t axis = x->rank() - sizes->size() + i;
    const std::int64_t wanted = (*sizes)[i];
    if (wanted < 1 || wanted > std::int64_t{1} << 30) {
      return call.not_modelled("an output size is out of range");
    }
    const AxisSplit split = split_at(current.shape, axis);
    tensor::Shape shape = current.shape;
    const auto extent = static_cast<std::size_t>(wanted);
    shape[axis] = extent;
    OPDRIFT_TRY(Array next, call.make(shape, x->dtype));
    for (std::size_t at = 0; at < next.size(); ++at) {
      const std::size_t inner = at % split.inner;
      const std::size_t o = at / split.inner % extent;
      const std::size_t outer = at / split.inner / extent;
      const std::size_t first = o * split.extent / extent;
      const std::size_t last = ((o + 1) * split.extent + extent - 1) / extent;
      double sum = 0.0;
      for (std::size_t k = first; k < last; ++k) {
        sum += current.values[(outer * split.extent + k) * split.inner + inner];
      }
      next.values[at] = sum / static_cast<double>(last - first);
    }
    current = std::move(next);
  }
  return single(std::move(current));
}

}  // namespace opdrift::replay
