#include "opdrift/replay/convolution.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "opdrift/replay/product.hpp"

namespace opdrift::replay {

namespace {

// Doubles per block of columns: 2 MiB stay in a second-level cache beside the kernel's panel.
constexpr std::size_t kBlock = std::size_t{1} << 18;

/// The part [first, last) of one row of output positions whose taps lie inside the input.
struct Reach {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

Reach inside(const Window& window, std::size_t axis, std::int64_t k) {
  const std::int64_t shift = k * window.dilation[axis] - window.before[axis];
  const std::int64_t stride = window.stride[axis];
  const std::int64_t first = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
  const std::int64_t room = window.input[axis] - shift;
  const std::int64_t last = room <= 0 ? 0 : (room + stride - 1) / stride;
  return {std::min(first, window.output[axis]),
          std::max(std::min(last, window.output[axis]), std::int64_t{0})};
}

/// Walks over rows of output positions (all axes but the last) for one kernel index.
class ColumnWriter {
 public:
  ColumnWriter(const Window& window, std::size_t first, std::size_t count)
      : window_(window), first_(first), count_(count) {}

  // Writes the input element under tap `kernel` for every position of the block.
  void write(const double* channel, std::size_t kernel, double* out) const {
    const std::size_t last = window_.axes() - 1;
    const auto width = static_cast<std::size_t>(window_.output[last]);
    const auto kernel_width = static_cast<std::size_t>(window_.kernel[last]);
    const auto k = static_cast<std::int64_t>(kernel % kernel_width);
    const Reach reach = inside(window_, last, k);
    const std::int64_t shift = k * window_.dilation[last] - window_.before[last];
    std::size_t position = first_;
    const std::size_t end = first_ + count_;
    while (position < end) {
      const std::size_t row = position / width;
      const auto from = static_cast<std::int64_t>(position % width);
      const auto run =
          static_cast<std::int64_t>(std::min(width - position % width, end - position));
      const std::int64_t base = row_base(row, kernel / kernel_width);
      const std::int64_t start = base < 0 ? from + run : std::clamp(reach.first, from, from + run);
      const std::int64_t stop = base < 0 ? from + run : std::clamp(reach.last, start, from + run);
      out = std::fill_n(out, start - from, 0.0);
      const double* source = channel + (base < 0 ? 0 : base) + shift;
      for (std::int64_t o = start; o < stop; ++o) {
        *out++ = source[o * window_.stride[last]];
      }
      out = std::fill_n(out, from + run - stop, 0.0);
      position += static_cast<std::size_t>(run);
    }
  }

 private:
  // Where the input row under output row `row` begins, or -1 when it is padding.
  std::int64_t row_base(std::size_t row, std::size_t kernel) const {
    std::int64_t base = 0;
    std::int64_t scale = window_.input.back();
    for (std::size_t axis = window_.axes() - 1; axis-- > 0;) {
      const auto extent = static_cast<std::size_t>(window_.output[axis]);
      const auto kernel_extent = static_cast<std::size_t>(window_.kernel[axis]);
      const std::int64_t at =
          static_cast<std::int64_t>(row % extent) * window_.stride[axis] - window_.before[axis] +
          static_cast<std::int64_t>(kernel % kernel_extent) * window_.dilation[axis];
      if (at < 0 || at >= window_.input[axis]) {
        return -1;
      }
      base += at * scale;
      scale *= window_.input[axis];
      row /= extent;
      kernel /= kernel_extent;
    }
    return base;
  }

  const Window& window_;
  std::size_t first_;
  std::size_t count_;
};

// A kernel of one element without stride or padding reads the input as it lies.
bool pointwise(const Window& window) {
  return window.kernel_count() == 1 && window.input == window.output &&
         std::all_of(window.stride.begin(), window.stride.end(),
                     [](std::int64_t stride) { return stride == 1; }) &&
         std::all_of(window.before.begin(), window.before.end(),
                     [](std::int64_t pad) { return pad == 0; });
}

void forward_group(const Convolution& conv, const double* x, const double* w, double* y) {
  const Window& window = conv.window;
  const std::size_t positions = window.output_count();
  const std::size_t inputs = window.input_count();
  const std::size_t taps = window.kernel_count();
  const std::size_t k = conv.reduction();
  const Matrix kernel{w, k, 1};
  if (pointwise(window)) {
    multiply(conv.out_channels, positions, k, kernel, {x, inputs, 1}, y);
    return;
  }
  const std::size_t width = std::clamp<std::size_t>(kBlock / k, 1, positions);
  std::vector<double> columns(k * width);
  std::vector<double> block(conv.out_channels * width);
  for (std::size_t first = 0; first < positions; first += width) {
    const std::size_t count = std::min(width, positions - first);
    const ColumnWriter writer(window, first, count);
    for (std::size_t row = 0; row < k; ++row) {
      writer.write(x + row / taps * inputs, row % taps, columns.data() + row * count);
    }
    multiply(conv.out_channels, count, k, kernel, {columns.data(), count, 1}, block.data());
    for (std::size_t m = 0; m < conv.out_channels; ++m) {
      std::copy_n(block.data() + m * count, count, y + m * positions + first);
    }
  }
}

void scatter_column(const Window& window, std::size_t input, const double* column,
                    std::size_t distance, std::size_t channels, double* y) {
  const std::size_t taps = window.kernel_count();
  const std::size_t positions = window.output_count();
  for (std::size_t tap = 0; tap < taps; ++tap) {
    std::size_t kernel_rest = tap;
    std::size_t input_rest = input;
    std::size_t scale = 1;
    std::size_t target = 0;
    bool kept = true;
    for (std::size_t axis = window.axes(); axis-- > 0 && kept;) {
      const auto kernel = static_cast<std::size_t>(window.kernel[axis]);
      const auto extent = static_cast<std::size_t>(window.input[axis]);
      const std::int64_t at =
          static_cast<std::int64_t>(input_rest % extent) * window.stride[axis] -
          window.before[axis] +
          static_cast<std::int64_t>(kernel_rest % kernel) * window.dilation[axis];
      kept = at >= 0 && at < window.output[axis];
      target += kept ? static_cast<std::size_t>(at) * scale : 0;
      scale *= static_cast<std::size_t>(window.output[axis]);
      kernel_rest /= kernel;
      input_rest /= extent;
    }
    for (std::size_t m = 0; kept && m < channels; ++m) {
      y[m * positions + target] += column[(m * taps + tap) * distance];
    }
  }
}

void transposed_group(const Convolution& conv, const double* x, const double* w, double* y) {
  const Window& window = conv.window;
  const std::size_t inputs = window.input_count();
  const std::size_t rows = conv.out_channels * window.kernel_count();
  const std::size_t width = std::clamp<std::size_t>(kBlock / rows, 1, inputs);
  std::vector<double> columns(rows * width);
  for (std::size_t first = 0; first < inputs; first += width) {
    const std::size_t count = std::min(width, inputs - first);
    multiply(rows, count, conv.in_channels, {w, 1, rows}, {x + first, inputs, 1}, columns.data());
    for (std::size_t i = 0; i < count; ++i) {
      scatter_column(window, first + i, columns.data() + i, count, conv.out_channels, y);
    }
  }
}

}  // namespace

Result<Convolution> plan_convolution(const Call& call, const Array& x, const Array& w,
                                     bool transposed) {
  if (w.rank() < 3 || count_of(w.shape) == 0 || x.rank() != w.rank()) {
    return call.not_modelled("expected an input and a kernel of one rank, found " +
                             tensor::to_string(x.shape) + " and " + tensor::to_string(w.shape));
  }
  const std::string layout = call.text({"data_format"}, "NCHW");
  if (layout == "NHWC" || layout == "NDHWC") {
    return call.not_modelled("channels last");
  }
  if (call.integer({"offset_x"}, 0) != 0) {
    return call.not_modelled("offsets of codes");
  }
  // Ascend's depthwise convolution has one group per channel, and kernels (1, channel, ...) too.
  const bool depthwise = call.op.type == "DepthwiseConv2D";
  if (depthwise && w.shape[0] == 1 && w.shape[1] > 1 && w.shape[1] == x.shape[1]) {
    Array grouped;
    grouped.shape = w.shape;
    std::swap(grouped.shape[0], grouped.shape[1]);
    return plan_convolution(call, x, grouped, transposed);
  }
  const std::int64_t groups =
      call.integer({"group", "groups"}, depthwise ? static_cast<std::int64_t>(x.shape[1]) : 1);
  Convolution conv;
  conv.transposed = transposed;
  conv.batches = x.shape[0];
  const std::size_t channels = x.shape[1];
  if (groups < 1 || channels % static_cast<std::size_t>(groups) != 0) {
    return call.not_modelled("groups do not divide the channels");
  }
  conv.groups = static_cast<std::size_t>(groups);
  conv.in_channels = channels / conv.groups;
  const std::size_t in_of_kernel = transposed ? w.shape[0] / conv.groups : w.shape[1];
  const std::size_t all_out = transposed ? w.shape[1] * conv.groups : w.shape[0];
  if (in_of_kernel != conv.in_channels || all_out % conv.groups != 0 ||
      (transposed && w.shape[0] != channels)) {
    return call.not_modelled("kernel " + tensor::to_string(w.shape) + " does not fit " +
                             std::to_string(channels) + " channels in " + std::to_string(groups) +
                             " groups");
  }
  conv.out_channels = all_out / conv.groups;
  std::vector<std::int64_t> kernel;
  for (std::size_t axis = 2; axis < w.rank(); ++axis) {
    kernel.push_back(static_cast<std::int64_t>(w.shape[axis]));
  }
  OPDRIFT_TRY(conv.window, read_window(call, x.shape, std::move(kernel)));
  OPDRIFT_CHECK_OK(transposed ? place_transposed(call, conv.window)
                              : place_window(call, conv.window, false));
  conv.shape = {conv.batches, all_out};
  for (const std::int64_t extent : conv.window.output) {
    conv.shape.push_back(static_cast<std::uint64_t>(extent));
  }
  if (count_of(conv.shape) > call.limits.max_elements) {
    return call.not_modelled("a result of shape " + tensor::to_string(conv.shape) +
                             " is too large");
  }
  return conv;
}

Result<Array> run_convolution(const Call& call, const Convolution& conv, const Array& x,
                              const Array& w) {
  OPDRIFT_TRY(Array y, call.make(conv.shape, x.dtype));
  OPDRIFT_CHECK_OK(call.check_work(
      conv.transposed ? x.size() : y.size(),
      conv.transposed ? conv.out_channels * conv.window.kernel_count() : conv.reduction()));
  const std::size_t in_size = conv.in_channels * conv.window.input_count();
  const std::size_t out_size = conv.out_channels * conv.window.output_count();
  const std::size_t kernel_size = conv.in_channels * conv.out_channels * conv.window.kernel_count();
  if (in_size == 0 || out_size == 0) {
    return y;
  }
  for (std::size_t part = 0; part < conv.batches * conv.groups; ++part) {
    const double* kernel = w.values.data() + part % conv.groups * kernel_size;
    const double* from = x.values.data() + part * in_size;
    double* to = y.values.data() + part * out_size;
    if (conv.transposed) {
      transposed_group(conv, from, kernel, to);
    } else {
      forward_group(conv, from, kernel, to);
    }
  }
  return y;
}

std::size_t channel_of(const Convolution& conv, std::uint64_t position) {
  return position / conv.window.output_count() % (conv.groups * conv.out_channels);
}

std::vector<double> run_convolution_at(const Convolution& conv, const Array& x, const Array& w,
                                       std::span<const std::uint64_t> positions, bool squares) {
  const std::size_t outputs = conv.window.output_count();
  const std::size_t inputs = conv.window.input_count();
  const std::size_t taps_count = conv.window.kernel_count();
  const std::size_t all_out = conv.groups * conv.out_channels;
  const std::size_t all_in = conv.groups * conv.in_channels;
  std::vector<double> values;
  std::vector<Tap> taps;
  for (const std::uint64_t position : positions) {
    const std::size_t batch = position / outputs / all_out;
    const std::size_t channel = channel_of(conv, position);
    const std::size_t group = channel / conv.out_channels;
    if (conv.transposed) {
      transposed_taps_at(conv.window, position % outputs, taps);
    } else {
      taps_at(conv.window, position % outputs, taps);
    }
    double sum = 0.0;
    for (std::size_t c = 0; c < conv.in_channels; ++c) {
      const std::size_t in_channel = group * conv.in_channels + c;
      const double* from = x.values.data() + (batch * all_in + in_channel) * inputs;
      const std::size_t slot = conv.transposed
                                   ? in_channel * conv.out_channels + channel % conv.out_channels
                                   : channel * conv.in_channels + c;
      const double* kernel = w.values.data() + slot * taps_count;
      for (const Tap& tap : taps) {
        const double product = from[tap.input] * kernel[tap.kernel];
        sum += squares ? product * product : product;
      }
    }
    values.push_back(sum);
  }
  return values;
}

}  // namespace opdrift::replay
