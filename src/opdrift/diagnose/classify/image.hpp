#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/tensor/view.hpp"

/// Tensors as images, so that channels, rows and columns mean something.
namespace opdrift::diagnose::classify {

/// A tensor of real numbers in row-major order.
struct Array {
  tensor::Shape shape;
  std::vector<double> values;
};

/// Fails with limit (more than 2^26 elements), unsupported_dtype, or what reading fails with.
Result<Array> load_array(const tensor::View& view);

enum class Layout : std::uint8_t { nchw, nhwc };

/// The layout an array seems to have: channels (1, 3 or 4 of them) on the third axis from the end,
/// else on the last one, else the third from the end again.
Layout guess_layout(const tensor::Shape& shape);

/// An array in the order batch, channel, row, column. Missing axes have extent 1; more than four
/// are joined into the batch.
struct Image {
  std::array<std::size_t, 4> extent = {1, 1, 1, 1};  ///< N, C, H, W
  std::vector<double> values;

  std::size_t batch() const { return extent[0]; }
  std::size_t channels() const { return extent[1]; }
  std::size_t rows() const { return extent[2]; }
  std::size_t columns() const { return extent[3]; }
  std::size_t plane() const { return extent[2] * extent[3]; }
  /// The plane of one channel of one image.
  const double* channel(std::size_t n, std::size_t c) const {
    return values.data() + (n * extent[1] + c) * plane();
  }
};

Image image_of(const Array& array, Layout layout);

/// The image with its channels in reverse order.
Image reversed_channels(const Image& image);

}  // namespace opdrift::diagnose::classify
