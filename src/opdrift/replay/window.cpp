#include "opdrift/replay/window.hpp"

#include <algorithm>
#include <numeric>

namespace opdrift::replay {

namespace {

using Integers = std::vector<std::int64_t>;

// Beyond this an extent cannot come from a real network, and products of two still fit 64 bits.
constexpr std::int64_t kWidest = std::int64_t{1} << 30;

std::size_t count_all(const Integers& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::size_t{1},
                         [](std::size_t count, std::int64_t extent) {
                           return count * static_cast<std::size_t>(extent);
                         });
}

// A list with one entry per spatial axis; one entry serves all axes; two more entries at the front
// are batch and channel.
Result<Integers> per_axis(const Call& call, Call::Names names, std::size_t axes,
                          std::int64_t fallback, std::int64_t least) {
  Integers list = call.integers(names).value_or(Integers{});
  if (list.size() == axes + 2) {
    list = Integers(list.end() - static_cast<std::ptrdiff_t>(axes), list.end());
  }
  if (list.empty()) {
    list.assign(axes, fallback);
  }
  if (list.size() == 1) {
    list.assign(axes, list.front());
  }
  const bool sane = std::all_of(list.begin(), list.end(), [least](std::int64_t entry) {
    return entry >= least && entry <= kWidest;
  });
  if (list.size() != axes || !sane) {
    return call.not_modelled("expected " + std::to_string(axes) + " entries of " +
                             std::string(*names.begin()));
  }
  return list;
}

bool listed_as_pairs(const Call& call, std::size_t axes) {
  const auto strides = call.integers({"strides", "stride"});
  const auto dilations = call.integers({"dilations"});
  return (strides && strides->size() == axes + 2) || (dilations && dilations->size() == axes + 2);
}

Status read_pads(const Call& call, Window& window) {
  const std::size_t axes = window.axes();
  const Integers pads = call.integers({"pads", "padding", "pad"}).value_or(Integers{});
  window.before.assign(axes, 0);
  window.after.assign(axes, 0);
  if (pads.empty()) {
    return Unit{};
  }
  const bool sane = std::all_of(pads.begin(), pads.end(),
                                [](std::int64_t pad) { return pad >= 0 && pad <= kWidest; });
  if (!sane || (pads.size() != 2 * axes && pads.size() != axes && pads.size() != 1)) {
    return call.not_modelled("expected two pads per axis");
  }
  const bool pairs = listed_as_pairs(call, axes);
  for (std::size_t axis = 0; axis < axes; ++axis) {
    if (pads.size() == 2 * axes) {
      window.before[axis] = pads[pairs ? 2 * axis : axis];
      window.after[axis] = pads[pairs ? 2 * axis + 1 : axes + axis];
    } else {
      window.before[axis] = window.after[axis] = pads[pads.size() == 1 ? 0 : axis];
    }
  }
  return Unit{};
}

enum class Padding : std::uint8_t { given, none, same_upper, same_lower };

Padding padding_of(const Call& call) {
  const std::string mode = call.text({"auto_pad", "padding_mode", "padding"}, "NOTSET");
  if (mode == "SAME_UPPER" || mode == "SAME" || mode == "same") {
    return Padding::same_upper;
  }
  if (mode == "SAME_LOWER") {
    return Padding::same_lower;
  }
  return mode == "VALID" || mode == "valid" ? Padding::none : Padding::given;
}

std::int64_t reach(const Window& window, std::size_t axis) {
  return (window.kernel[axis] - 1) * window.dilation[axis] + 1;
}

void share_out(Window& window, std::size_t axis, std::int64_t total, Padding padding) {
  const std::int64_t less = total / 2;
  window.before[axis] = padding == Padding::same_lower ? total - less : less;
  window.after[axis] = total - window.before[axis];
}

template <typename InputOf>
void collect_taps(const Window& window, std::size_t output, std::vector<Tap>& taps,
                  InputOf input_of) {
  std::vector<std::int64_t> at(window.axes());
  for (std::size_t axis = window.axes(); axis-- > 0;) {
    const auto extent = static_cast<std::size_t>(window.output[axis]);
    at[axis] = static_cast<std::int64_t>(output % extent);
    output /= extent;
  }
  taps.clear();
  taps.push_back({});
  std::vector<Tap> longer;
  for (std::size_t axis = 0; axis < window.axes(); ++axis) {
    longer.clear();
    for (const Tap& tap : taps) {
      for (std::int64_t k = 0; k < window.kernel[axis]; ++k) {
        const std::int64_t from = input_of(axis, at[axis], k);
        if (from >= 0 && from < window.input[axis]) {
          longer.push_back({tap.kernel * static_cast<std::size_t>(window.kernel[axis]) +
                                static_cast<std::size_t>(k),
                            tap.input * static_cast<std::size_t>(window.input[axis]) +
                                static_cast<std::size_t>(from)});
        }
      }
    }
    taps.swap(longer);
  }
}

}  // namespace

std::size_t Window::input_count() const {
  return count_all(input);
}
std::size_t Window::output_count() const {
  return count_all(output);
}
std::size_t Window::kernel_count() const {
  return count_all(kernel);
}

Result<Window> read_window(const Call& call, const tensor::Shape& input_shape,
                           std::vector<std::int64_t> kernel) {
  Window window;
  window.kernel = std::move(kernel);
  const std::size_t axes = window.kernel.size();
  if (axes == 0 || input_shape.size() != axes + 2) {
    return call.not_modelled("expected " + std::to_string(axes + 2) + " axes, found shape " +
                             tensor::to_string(input_shape));
  }
  for (std::size_t axis = 0; axis < axes; ++axis) {
    if (window.kernel[axis] < 1 || window.kernel[axis] > kWidest ||
        input_shape[axis + 2] > static_cast<std::uint64_t>(kWidest)) {
      return call.not_modelled("a kernel or an input extent is out of range");
    }
    window.input.push_back(static_cast<std::int64_t>(input_shape[axis + 2]));
  }
  OPDRIFT_TRY(window.stride, per_axis(call, {"strides", "stride"}, axes, 1, 1));
  OPDRIFT_TRY(window.dilation, per_axis(call, {"dilations", "dilation"}, axes, 1, 1));
  OPDRIFT_CHECK_OK(read_pads(call, window));
  return window;
}

Status place_window(const Call& call, Window& window, bool ceil_mode) {
  const Padding padding = padding_of(call);
  for (std::size_t axis = 0; axis < window.axes(); ++axis) {
    const std::int64_t extent = window.input[axis];
    const std::int64_t stride = window.stride[axis];
    if (padding == Padding::same_upper || padding == Padding::same_lower) {
      const std::int64_t steps = (extent + stride - 1) / stride;
      share_out(window, axis,
                std::max<std::int64_t>(0, (steps - 1) * stride + reach(window, axis) - extent),
                padding);
    } else if (padding == Padding::none) {
      window.before[axis] = window.after[axis] = 0;
    }
    const std::int64_t room =
        extent + window.before[axis] + window.after[axis] - reach(window, axis);
    if (room < 0) {
      return call.not_modelled("the kernel is larger than the padded input");
    }
    std::int64_t steps = (ceil_mode ? room + stride - 1 : room) / stride + 1;
    // A window that would start in the padding behind the input does not count.
    if (ceil_mode && (steps - 1) * stride >= extent + window.before[axis]) {
      --steps;
    }
    window.output.push_back(steps);
  }
  return Unit{};
}

Status place_transposed(const Call& call, Window& window) {
  const std::size_t axes = window.axes();
  OPDRIFT_TRY(const Integers extra, per_axis(call, {"output_padding"}, axes, 0, 0));
  Integers wanted = call.integers({"output_shape"}).value_or(Integers{});
  if (wanted.size() == axes + 2) {
    wanted = Integers(wanted.end() - static_cast<std::ptrdiff_t>(axes), wanted.end());
  }
  const bool sane = std::all_of(wanted.begin(), wanted.end(), [](std::int64_t extent) {
    return extent >= 1 && extent <= kWidest;
  });
  if (!sane || (!wanted.empty() && wanted.size() != axes)) {
    return call.not_modelled("output_shape does not fit");
  }
  const Padding padding = padding_of(call);
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const std::int64_t full =
        window.stride[axis] * (window.input[axis] - 1) + extra[axis] + reach(window, axis);
    std::int64_t total = window.before[axis] + window.after[axis];
    if (wanted.size() == axes) {
      // A negative total pads the output instead; what lies there is zero.
      total = full - wanted[axis];
      // Without a word about it the larger half goes in front.
      share_out(window, axis, std::max<std::int64_t>(total, 0),
                padding == Padding::same_upper ? padding : Padding::same_lower);
    } else if (padding == Padding::same_upper || padding == Padding::same_lower) {
      total = std::max<std::int64_t>(0, full - window.input[axis] * window.stride[axis]);
      share_out(window, axis, total, padding);
    } else if (padding == Padding::none) {
      total = window.before[axis] = window.after[axis] = 0;
    }
    const std::int64_t extent = full - total;
    if (extent < 1 || extent > kWidest) {
      return call.not_modelled("an output extent is out of range");
    }
    window.output.push_back(extent);
  }
  return Unit{};
}

void taps_at(const Window& window, std::size_t output, std::vector<Tap>& taps) {
  collect_taps(window, output, taps, [&](std::size_t axis, std::int64_t at, std::int64_t k) {
    return at * window.stride[axis] - window.before[axis] + k * window.dilation[axis];
  });
}

void transposed_taps_at(const Window& window, std::size_t output, std::vector<Tap>& taps) {
  collect_taps(window, output, taps, [&](std::size_t axis, std::int64_t at, std::int64_t k) {
    const std::int64_t reached = at + window.before[axis] - k * window.dilation[axis];
    return reached < 0 || reached % window.stride[axis] != 0 ? -1 : reached / window.stride[axis];
  });
}

}  // namespace opdrift::replay
