#include <algorithm>
#include <numeric>

#include "opdrift/replay/kinds/kinds.hpp"
#include "opdrift/replay/kinds/sources.hpp"
#include "opdrift/replay/window.hpp"

// What undoes the cutting of images into windows.
//   Col2Im      every column is laid where its window was; what overlaps is added
//   MaxUnpool   every element is laid where the maximum was; elsewhere stands 0

namespace opdrift::replay {

namespace {

/// Columns (batch, channel and tap, window) and the image they go to.
struct Blocks {
  const Array* columns = nullptr;
  Window window;
  tensor::Shape image;
};

Result<Blocks> blocks_of(const Call& call) {
  Blocks blocks;
  OPDRIFT_TRY(blocks.columns, call.need(0, "input"));
  OPDRIFT_TRY(const Array* image, call.need(1, "image_shape"));
  OPDRIFT_TRY(const Array* block, call.need(2, "block_shape"));
  OPDRIFT_TRY(const Integers extents, integers_of(*image));
  OPDRIFT_TRY(Integers kernel, integers_of(*block));
  const tensor::Shape& columns = blocks.columns->shape;
  if (columns.size() != 3 || extents.empty() || kernel.size() != extents.size() ||
      extents.size() > kMaxRank - 2) {
    return call.not_modelled("image and blocks do not fit the columns");
  }
  std::uint64_t taps = 1;
  for (std::size_t axis = 0; axis < kernel.size(); ++axis) {
    if (kernel[axis] < 1 || extents[axis] < 1) {
      return call.not_modelled("an extent is out of range");
    }
    taps = saturating_product(taps, static_cast<std::uint64_t>(kernel[axis]));
  }
  if (columns[1] % taps != 0) {
    return call.not_modelled("blocks do not divide the channels");
  }
  blocks.image = {columns[0], columns[1] / taps};
  blocks.image.insert(blocks.image.end(), extents.begin(), extents.end());
  OPDRIFT_TRY(blocks.window, read_window(call, blocks.image, std::move(kernel)));
  OPDRIFT_CHECK_OK(place_window(call, blocks.window, false));
  std::uint64_t windows = 1;
  for (const std::int64_t steps : blocks.window.output) {
    windows = saturating_product(windows, static_cast<std::uint64_t>(steps));
  }
  if (windows != columns[2]) {
    return call.not_modelled("expected " + std::to_string(windows) + " blocks, found " +
                             std::to_string(columns[2]));
  }
  return blocks;
}

// Adds up `columns`, laid out like those of the blocks.
Result<Array> laid(const Call& call, const Blocks& blocks, const Array& columns) {
  OPDRIFT_TRY(Array y, call.make(blocks.image, columns.dtype));
  const std::size_t windows = blocks.window.output_count();
  const std::size_t taps_count = blocks.window.kernel_count();
  const std::size_t plane = blocks.window.input_count();
  const std::size_t planes = blocks.image[0] * blocks.image[1];
  std::vector<Tap> taps;
  for (std::size_t o = 0; o < windows && planes > 0; ++o) {
    taps_at(blocks.window, o, taps);
    for (std::size_t p = 0; p < planes; ++p) {
      for (const Tap& tap : taps) {
        y.values[p * plane + tap.input] +=
            columns.values[(p * taps_count + tap.kernel) * windows + o];
      }
    }
  }
  return y;
}

// The result of MaxUnpool as its window says.
Result<tensor::Shape> unpooled_shape(const Call& call, const Array& x) {
  Integers kernel = call.integers({"kernel_shape"}).value_or(Integers{});
  if (x.rank() < 3 || kernel.size() + 2 != x.rank()) {
    return call.not_modelled("the kernel does not fit the input");
  }
  OPDRIFT_TRY(const Window window, read_window(call, x.shape, std::move(kernel)));
  tensor::Shape shape = {x.shape[0], x.shape[1]};
  for (std::size_t axis = 0; axis < window.axes(); ++axis) {
    const std::int64_t extent = (window.input[axis] - 1) * window.stride[axis] +
                                window.kernel[axis] - window.before[axis] - window.after[axis];
    if (extent < 1) {
      return call.not_modelled("an output extent is out of range");
    }
    shape.push_back(static_cast<std::uint64_t>(extent));
  }
  return shape;
}

}  // namespace

Result<Outputs> col2im(const Call& call) {
  OPDRIFT_TRY(const Blocks blocks, blocks_of(call));
  OPDRIFT_TRY(Array y, laid(call, blocks, *blocks.columns));
  return one_output(std::move(y));
}

Result<Terms> col2im_terms(const Call& call, std::size_t /*index*/, const Array& /*y*/) {
  OPDRIFT_TRY(const Blocks blocks, blocks_of(call));
  OPDRIFT_TRY(Array squares, laid(call, blocks, squared(*blocks.columns)));
  Terms terms;
  for (std::size_t axis = 0; axis < blocks.window.axes(); ++axis) {
    const std::int64_t stride = std::max<std::int64_t>(blocks.window.stride[axis], 1);
    const std::int64_t overlapping = (blocks.window.kernel[axis] + stride - 1) / stride;
    terms.n *= static_cast<double>(overlapping);
  }
  terms.a2 = std::move(squares.values);
  return terms;
}

Result<Outputs> max_unpool(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "X"));
  OPDRIFT_TRY(const Array* places, call.need(1, "I"));
  OPDRIFT_TRY(tensor::Shape shape, unpooled_shape(call, *x));
  if (const Array* given = call.input(2); given != nullptr) {
    OPDRIFT_TRY(const Integers extents, integers_of(*given));
    const bool sane = std::all_of(extents.begin(), extents.end(),
                                  [](std::int64_t extent) { return extent >= 0; });
    if (!sane || extents.size() != shape.size()) {
      return call.not_modelled("the output shape does not fit the input");
    }
    shape.assign(extents.begin(), extents.end());
  }
  if (places->size() != x->size()) {
    return call.not_modelled("expected one index per element");
  }
  OPDRIFT_TRY(Array y, call.make(shape, x->dtype));
  for (std::size_t at = 0; at < x->size(); ++at) {
    const double place = places->values[at];
    if (!(place >= 0.0) || !(place < static_cast<double>(y.size()))) {
      return call.not_modelled("an index is out of range");
    }
    y.values[static_cast<std::size_t>(place)] = x->values[at];
  }
  return one_output(std::move(y));
}

}  // namespace opdrift::replay
