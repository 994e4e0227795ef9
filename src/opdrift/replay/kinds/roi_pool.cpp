#include <algorithm>
#include <cmath>

#include "opdrift/replay/kinds/kinds.hpp"

// MaxRoiPool: the largest element in every bin of a region of interest. Regions are whole elements,
// both ends included; a bin is everything it touches.

namespace opdrift::replay {

namespace {

/// A region along one axis, cut into bins.
struct Bins {
  std::int64_t start = 0;
  float size = 1.0F;  // borders of bins are found in single precision, as engines do
  std::int64_t extent = 0;

  struct Range {
    std::int64_t first = 0;
    std::int64_t last = 0;
  };
  Range bin(std::int64_t index) const {
    const auto low = static_cast<std::int64_t>(std::floor(static_cast<float>(index) * size));
    const auto high = static_cast<std::int64_t>(std::ceil(static_cast<float>(index + 1) * size));
    return {std::clamp<std::int64_t>(low + start, 0, extent),
            std::clamp<std::int64_t>(high + start, 0, extent)};
  }
};

Result<Bins> bins_of(const Call& call, double low, double high, double scale, std::int64_t count,
                     std::size_t extent) {
  const double first = std::round(low * scale);
  const double last = std::round(high * scale);
  if (!(std::abs(first) < 1e9) || !(std::abs(last) < 1e9)) {
    return call.not_modelled("a region is too large");
  }
  Bins bins;
  bins.start = static_cast<std::int64_t>(first);
  const double length = std::max(last - first + 1.0, 1.0);
  bins.size = static_cast<float>(length) / static_cast<float>(count);
  bins.extent = static_cast<std::int64_t>(extent);
  return bins;
}

double largest_in(const double* plane, std::size_t width, Bins::Range rows, Bins::Range columns) {
  if (rows.last <= rows.first || columns.last <= columns.first) {
    return 0.0;
  }
  double best = -HUGE_VAL;
  for (std::int64_t row = rows.first; row < rows.last; ++row) {
    for (std::int64_t column = columns.first; column < columns.last; ++column) {
      const double x =
          plane[static_cast<std::size_t>(row) * width + static_cast<std::size_t>(column)];
      best = std::isnan(x) || x > best ? x : best;
    }
  }
  return best;
}

}  // namespace

Result<Outputs> max_roi_pool(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "X"));
  OPDRIFT_TRY(const Array* rois, call.need(1, "rois"));
  const auto pooled = call.integers({"pooled_shape"}).value_or(std::vector<std::int64_t>{});
  const double scale = call.real({"spatial_scale"}, 1.0);
  if (x->rank() != 4 || rois->rank() != 2 || rois->shape[1] != 5 || pooled.size() != 2 ||
      pooled[0] < 1 || pooled[1] < 1 || pooled[0] > 1 << 20 || pooled[1] > 1 << 20) {
    return call.not_modelled("regions do not fit the input");
  }
  const std::size_t plane = x->shape[2] * x->shape[3];
  const auto height = static_cast<std::size_t>(pooled[0]);
  const auto width = static_cast<std::size_t>(pooled[1]);
  OPDRIFT_TRY(Array y, call.make({rois->shape[0], x->shape[1], height, width}, x->dtype));
  // A bin may touch the whole plane, whatever the region says.
  OPDRIFT_CHECK_OK(call.check_work(y.size(), plane));
  double* out = y.values.data();
  for (std::size_t r = 0; r < rois->shape[0]; ++r) {
    const double* roi = rois->values.data() + 5 * r;
    if (!(roi[0] >= 0.0) || !(roi[0] < static_cast<double>(x->shape[0]))) {
      return call.not_modelled("a batch index is out of range");
    }
    OPDRIFT_TRY(const Bins rows, bins_of(call, roi[2], roi[4], scale, pooled[0], x->shape[2]));
    OPDRIFT_TRY(const Bins columns, bins_of(call, roi[1], roi[3], scale, pooled[1], x->shape[3]));
    const std::size_t image = static_cast<std::size_t>(roi[0]) * x->shape[1];
    for (std::size_t at = 0; at < x->shape[1] * height * width; ++at) {
      const std::size_t channel = image + at / (height * width);
      *out++ = largest_in(x->values.data() + channel * plane, x->shape[3],
                          rows.bin(static_cast<std::int64_t>(at / width % height)),
                          columns.bin(static_cast<std::int64_t>(at % width)));
    }
  }
  return one_output(std::move(y));
}

}  // namespace opdrift::replay
