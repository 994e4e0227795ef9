#include "opdrift/diagnose/classify/image.hpp"

#include <algorithm>

#include "opdrift/verdict/explain/values.hpp"

namespace opdrift::diagnose::classify {

namespace {

constexpr std::uint64_t kMostElements = std::uint64_t{1} << 26;

bool few(std::uint64_t extent) {
  return extent == 1 || extent == 3 || extent == 4;
}

/// N, C, H, W of a shape in a layout.
std::array<std::size_t, 4> extents_of(const tensor::Shape& shape, Layout layout) {
  std::array<std::size_t, 4> extent = {1, 1, 1, 1};
  const std::size_t rank = shape.size();
  const auto at = [&](std::size_t from_end) {
    return rank >= from_end ? static_cast<std::size_t>(shape[rank - from_end]) : std::size_t{1};
  };
  if (rank < 3) {
    extent[2] = at(2);
    extent[3] = at(1);
    return extent;
  }
  const bool last = layout == Layout::nhwc;
  extent[1] = last ? at(1) : at(3);
  extent[2] = last ? at(3) : at(2);
  extent[3] = last ? at(2) : at(1);
  for (std::size_t i = 0; i + 3 < rank; ++i) {
    extent[0] *= static_cast<std::size_t>(shape[i]);
  }
  return extent;
}

}  // namespace

Result<Array> load_array(const tensor::View& view) {
  if (view.count() > kMostElements) {
    return Error{ErrorCode::limit, "expected at most " + std::to_string(kMostElements) +
                                       " elements, found " + std::to_string(view.count())};
  }
  OPDRIFT_TRY(const verdict::refit::Values values, verdict::refit::Values::of(view));
  Array array;
  array.shape = values.count() == view.count() ? view.shape() : tensor::Shape{values.count()};
  array.values.resize(static_cast<std::size_t>(values.count()));
  for (std::size_t first = 0; first < array.values.size(); first += verdict::refit::kTile) {
    const std::size_t count = std::min(verdict::refit::kTile, array.values.size() - first);
    values.read(first, count, array.values.data() + first);
  }
  return array;
}

Layout guess_layout(const tensor::Shape& shape) {
  const std::size_t rank = shape.size();
  if (rank < 3 || few(shape[rank - 3])) {
    return Layout::nchw;
  }
  return few(shape[rank - 1]) ? Layout::nhwc : Layout::nchw;
}

Image image_of(const Array& array, Layout layout) {
  Image image;
  image.extent = extents_of(array.shape, layout);
  if (layout == Layout::nchw || image.channels() == 1 || array.shape.size() < 3) {
    image.values = array.values;
    return image;
  }
  image.values.resize(array.values.size());
  const std::size_t plane = image.plane();
  const std::size_t channels = image.channels();
  for (std::size_t n = 0; n < image.batch(); ++n) {
    const std::size_t start = n * plane * channels;
    for (std::size_t c = 0; c < channels; ++c) {
      for (std::size_t i = 0; i < plane; ++i) {
        image.values[start + c * plane + i] = array.values[start + i * channels + c];
      }
    }
  }
  return image;
}

Image reversed_channels(const Image& image) {
  Image reversed;
  reversed.extent = image.extent;
  reversed.values.reserve(image.values.size());
  for (std::size_t n = 0; n < image.batch(); ++n) {
    for (std::size_t c = image.channels(); c-- > 0;) {
      const double* const from = image.channel(n, c);
      reversed.values.insert(reversed.values.end(), from, from + image.plane());
    }
  }
  return reversed;
}

}  // namespace opdrift::diagnose::classify
