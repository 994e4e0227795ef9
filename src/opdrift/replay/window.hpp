#pragma once

#include <cstdint>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/replay/array.hpp"
#include "opdrift/replay/call.hpp"

// A kernel sliding over the spatial axes (those after batch and channel) of a tensor.
//
//   input index along an axis = output index * stride - before + kernel index * dilation
//   output extent = floor or ceil((input + before + after - reach) / stride) + 1,
//   reach = (kernel - 1) * dilation + 1

namespace opdrift::replay {

struct Window {
  std::vector<std::int64_t> input;
  std::vector<std::int64_t> output;
  std::vector<std::int64_t> kernel;
  std::vector<std::int64_t> stride;
  std::vector<std::int64_t> dilation;
  std::vector<std::int64_t> before;
  std::vector<std::int64_t> after;

  std::size_t axes() const { return kernel.size(); }
  std::size_t input_count() const;
  std::size_t output_count() const;
  std::size_t kernel_count() const;
};

/// One element under the kernel: flat position in the kernel and in the input's spatial axes.
struct Tap {
  std::size_t kernel = 0;
  std::size_t input = 0;
};

/// Reads strides, dilations, pads and auto_pad. Extents of the output are left empty.
/// Ascend lists batch and channel in strides and dilations and gives pads as pairs per axis.
Result<Window> read_window(const Call& call, const tensor::Shape& input_shape,
                           std::vector<std::int64_t> kernel);

/// Fills in padding by auto_pad and the output extents of a convolution or pooling.
Status place_window(const Call& call, Window& window, bool ceil_mode);

/// Fills in padding and the output extents of a transposed convolution.
Status place_transposed(const Call& call, Window& window);

/// The taps inside the input of flat output position `output`, in kernel order.
void taps_at(const Window& window, std::size_t output, std::vector<Tap>& taps);

/// The taps whose input position reaches flat output position `output` of a transposed convolution.
void transposed_taps_at(const Window& window, std::size_t output, std::vector<Tap>& taps);

}  // namespace opdrift::replay
