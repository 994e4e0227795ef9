#include <algorithm>
#include <cmath>

#include "opdrift/replay/convolution.hpp"
#include "opdrift/replay/kinds/kinds.hpp"
#include "opdrift/replay/product.hpp"

// DeformConv: a convolution over two axes whose taps lie beside their places.
//   y[n, m, o] = sum over c in the group of m and over taps k of w[m, c, k] s[n, c, k, o] + b[m]
//   s[n, c, k, o] = mask[n, k, o] x[n, c] at (tap k of o) + offset[n, k, o], bilinear, 0 outside
// Groups of channels of their own share offsets and masks.

namespace opdrift::replay {

namespace {

constexpr std::size_t kBlock = std::size_t{1} << 18;

struct Planned {
  Convolution conv;
  const Array* x = nullptr;
  const Array* w = nullptr;
  const Array* offset = nullptr;
  const Array* bias = nullptr;
  const Array* mask = nullptr;
  std::size_t shared = 1;  ///< channels that share offsets
  std::size_t offset_groups = 1;
};

Result<Planned> plan(const Call& call) {
  Planned p;
  OPDRIFT_TRY(p.x, call.need(0, "X"));
  OPDRIFT_TRY(p.w, call.need(1, "W"));
  OPDRIFT_TRY(p.offset, call.need(2, "offset"));
  p.bias = call.input(3);
  p.mask = call.input(4);
  OPDRIFT_TRY(p.conv, plan_convolution(call, *p.x, *p.w, false));
  const std::int64_t groups = call.integer({"offset_group"}, 1);
  const std::size_t channels = p.x->shape[1];
  if (p.x->rank() != 4 || groups < 1 || channels == 0 ||
      channels % static_cast<std::size_t>(groups) != 0) {
    return call.not_modelled("expected two spatial axes, and groups that divide the channels");
  }
  p.offset_groups = static_cast<std::size_t>(groups);
  p.shared = channels / p.offset_groups;
  const std::size_t taps = p.conv.window.kernel_count();
  tensor::Shape expected = {p.conv.shape[0], p.offset_groups * taps, p.conv.shape[2],
                            p.conv.shape[3]};
  const bool masked = p.mask == nullptr || p.mask->shape == expected;
  expected[1] *= 2;
  if (p.offset->shape != expected || !masked ||
      (p.bias != nullptr && p.bias->size() != p.conv.shape[1])) {
    return call.not_modelled("offsets, mask or bias do not fit the result");
  }
  OPDRIFT_CHECK_OK(call.check_work(count_of(p.conv.shape), p.conv.reduction()));
  OPDRIFT_CHECK_OK(call.check_work(
      saturating_product(p.x->shape[0] * channels, p.conv.window.output_count()), 8 * taps));
  return p;
}

/// A bilinear sample and what its rounding comes to, in units of u_c^2.
struct Value {
  double value = 0.0;
  double variance = 0.0;
};

double element(const double* plane, const Window& window, double row, double column) {
  if (!(row >= 0.0) || !(column >= 0.0) || row >= static_cast<double>(window.input[0]) ||
      column >= static_cast<double>(window.input[1])) {
    return 0.0;
  }
  return plane[static_cast<std::int64_t>(row) * window.input[1] +
               static_cast<std::int64_t>(column)];
}

// Its place rounds with its size: that shifts the sample along both slopes.
Value sample(const double* plane, const Window& window, double row, double column) {
  const double top = std::floor(row);
  const double left = std::floor(column);
  const double fy = row - top;
  const double fx = column - left;
  const double a = element(plane, window, top, left);
  const double b = element(plane, window, top, left + 1.0);
  const double c = element(plane, window, top + 1.0, left);
  const double d = element(plane, window, top + 1.0, left + 1.0);
  const double upper = (1.0 - fx) * a + fx * b;
  const double lower = (1.0 - fx) * c + fx * d;
  const double along = (1.0 - fy) * (b - a) + fy * (d - c);
  const double down = lower - upper;
  const double largest = std::max({std::abs(a), std::abs(b), std::abs(c), std::abs(d)});
  return {(1.0 - fy) * upper + fy * lower,
          largest * largest + along * along * column * column + down * down * row * row};
}

/// The columns of a block of output positions of one batch and group.
struct Columns {
  std::vector<double> values;
  std::vector<double> variances;
};

void fill_row(const Planned& p, std::size_t batch, std::size_t channel, std::size_t tap,
              std::size_t first, std::size_t count, double* values, double* variances) {
  const Window& window = p.conv.window;
  const std::size_t outputs = window.output_count();
  const std::size_t taps = window.kernel_count();
  const auto width = static_cast<std::size_t>(window.output[1]);
  const auto kernel_width = static_cast<std::size_t>(window.kernel[1]);
  const std::size_t slot = (batch * p.offset_groups + channel / p.shared) * taps + tap;
  const double* down = p.offset->values.data() + 2 * slot * outputs;
  const double* along = down + outputs;
  const double* mask = p.mask == nullptr ? nullptr : p.mask->values.data() + slot * outputs;
  const double* plane =
      p.x->values.data() + (batch * p.x->shape[1] + channel) * window.input_count();
  const std::int64_t top =
      static_cast<std::int64_t>(tap / kernel_width) * window.dilation[0] - window.before[0];
  const std::int64_t left =
      static_cast<std::int64_t>(tap % kernel_width) * window.dilation[1] - window.before[1];
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t o = first + i;
    const std::int64_t row = static_cast<std::int64_t>(o / width) * window.stride[0] + top;
    const std::int64_t column = static_cast<std::int64_t>(o % width) * window.stride[1] + left;
    const Value found = sample(plane, window, static_cast<double>(row) + down[o],
                               static_cast<double>(column) + along[o]);
    const double factor = mask == nullptr ? 1.0 : mask[o];
    values[i] = factor * found.value;
    variances[i] = factor * factor * (found.variance + found.value * found.value);
  }
}

// Calls use(part, first, count, columns) for blocks of all positions; a part is a batch and group.
template <typename Use>
void for_each_block(const Planned& p, Use use) {
  const std::size_t outputs = p.conv.window.output_count();
  const std::size_t taps = p.conv.window.kernel_count();
  const std::size_t k = p.conv.reduction();
  const std::size_t width = std::clamp<std::size_t>(kBlock / std::max<std::size_t>(k, 1), 1,
                                                    std::max<std::size_t>(outputs, 1));
  Columns columns{std::vector<double>(k * width), std::vector<double>(k * width)};
  for (std::size_t part = 0; part < p.conv.batches * p.conv.groups; ++part) {
    for (std::size_t first = 0; first < outputs; first += width) {
      const std::size_t count = std::min(width, outputs - first);
      for (std::size_t row = 0; row < k; ++row) {
        const std::size_t channel = part % p.conv.groups * p.conv.in_channels + row / taps;
        fill_row(p, part / p.conv.groups, channel, row % taps, first, count,
                 columns.values.data() + row * count, columns.variances.data() + row * count);
      }
      use(part, first, count, columns);
    }
  }
}

// y of one block += kernel of its group times columns.
void multiply_block(const Planned& p, const std::vector<double>& kernel, std::size_t part,
                    std::size_t first, std::size_t count, const std::vector<double>& columns,
                    std::vector<double>& y) {
  const Convolution& conv = p.conv;
  const std::size_t outputs = conv.window.output_count();
  const std::size_t k = conv.reduction();
  std::vector<double> block(conv.out_channels * count);
  const double* weights = kernel.data() + part % conv.groups * conv.out_channels * k;
  multiply(conv.out_channels, count, k, {weights, k, 1}, {columns.data(), count, 1}, block.data());
  for (std::size_t m = 0; m < conv.out_channels; ++m) {
    std::copy_n(block.data() + m * count, count,
                y.data() + (part * conv.out_channels + m) * outputs + first);
  }
}

void square(std::vector<double>& values) {
  for (double& value : values) {
    value *= value;
  }
}

}  // namespace

Result<Outputs> deform_conv(const Call& call) {
  OPDRIFT_TRY(const Planned p, plan(call));
  OPDRIFT_TRY(Array y, call.make(p.conv.shape, p.x->dtype));
  for_each_block(
      p, [&](std::size_t part, std::size_t first, std::size_t count, const Columns& columns) {
        multiply_block(p, p.w->values, part, first, count, columns.values, y.values);
      });
  for (std::size_t at = 0; p.bias != nullptr && at < y.size(); ++at) {
    y.values[at] += p.bias->values[channel_of(p.conv, at)];
  }
  return one_output(std::move(y));
}

Result<Terms> deform_conv_terms(const Call& call, std::size_t /*index*/, const Array& y) {
  OPDRIFT_TRY(const Planned p, plan(call));
  Terms terms;
  terms.n = static_cast<double>(p.conv.reduction());
  const std::size_t size = count_of(p.conv.shape);
  if (y.size() != size) {
    return terms;
  }
  terms.a2.assign(size, 0.0);
  terms.extra.assign(size, 0.0);
  const Array squares = squared(*p.w);
  const Array* delta = call.delta(1);
  const bool narrowed = delta != nullptr && delta->size() == p.w->size();
  const std::vector<double> errors = narrowed ? squared(*delta).values : std::vector<double>{};
  terms.weights.assign(narrowed ? size : 0, 0.0);
  for_each_block(p, [&](std::size_t part, std::size_t first, std::size_t count, Columns& columns) {
    multiply_block(p, squares.values, part, first, count, columns.variances, terms.extra);
    square(columns.values);
    multiply_block(p, squares.values, part, first, count, columns.values, terms.a2);
    if (narrowed) {
      multiply_block(p, errors, part, first, count, columns.values, terms.weights);
    }
  });
  for (std::size_t at = 0; p.bias != nullptr && at < size; ++at) {
    const double bias = p.bias->values[channel_of(p.conv, at)];
    terms.extra[at] += bias * bias;
  }
  return terms;
}

}  // namespace opdrift::replay
