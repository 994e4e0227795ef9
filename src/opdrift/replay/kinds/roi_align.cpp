#include <algorithm>
#include <cmath>

#include "opdrift/replay/kinds/kinds.hpp"

// RoiAlign: the mean of bilinear samples in every bin of a region of interest.

namespace opdrift::replay {

namespace {

struct Region {
  double top = 0.0;
  double left = 0.0;
  double bin_height = 0.0;
  double bin_width = 0.0;
  std::size_t rows = 1;  ///< samples per bin
  std::size_t columns = 1;
};

struct Options {
  std::size_t height = 1;
  std::size_t width = 1;
  double scale = 1.0;
  std::int64_t samples = 0;  ///< 0: as many as the bin has elements
  bool half_pixel = true;
};

constexpr double kMostSamples = 4096.0;

Result<Options> options_of(const Call& call) {
  const std::int64_t height = call.integer({"output_height"}, 1);
  const std::int64_t width = call.integer({"output_width"}, 1);
  Options options;
  options.samples = call.integer({"sampling_ratio"}, 0);
  options.scale = call.real({"spatial_scale"}, 1.0);
  const char* fallback = call.opset() < 16 ? "output_half_pixel" : "half_pixel";
  options.half_pixel = call.text({"coordinate_transformation_mode"}, fallback) == "half_pixel";
  if (call.text({"mode"}, "avg") != "avg" || height < 1 || width < 1 || height > 1 << 20 ||
      width > 1 << 20 || options.samples < 0 ||
      static_cast<double>(options.samples) > kMostSamples) {
    return call.not_modelled("the mode or a size is out of range");
  }
  options.height = static_cast<std::size_t>(height);
  options.width = static_cast<std::size_t>(width);
  return options;
}

Result<std::size_t> samples_of(const Call& call, const Options& options, double bin) {
  const double wanted = options.samples > 0 ? static_cast<double>(options.samples) : std::ceil(bin);
  if (!(wanted <= kMostSamples)) {
    return call.not_modelled("a region is too large");
  }
  return static_cast<std::size_t>(std::max(wanted, 0.0));
}

Result<Region> region_of(const Call& call, const Options& options, const double* box) {
  const double shift = options.half_pixel ? 0.5 : 0.0;
  Region region;
  region.left = box[0] * options.scale - shift;
  region.top = box[1] * options.scale - shift;
  double width = box[2] * options.scale - shift - region.left;
  double height = box[3] * options.scale - shift - region.top;
  if (!options.half_pixel) {
    width = std::max(width, 1.0);
    height = std::max(height, 1.0);
  }
  if (!std::isfinite(region.left) || !std::isfinite(region.top)) {
    return call.not_modelled("a region is not finite");
  }
  region.bin_height = height / static_cast<double>(options.height);
  region.bin_width = width / static_cast<double>(options.width);
  OPDRIFT_TRY(region.rows, samples_of(call, options, region.bin_height));
  OPDRIFT_TRY(region.columns, samples_of(call, options, region.bin_width));
  return region;
}

/// One axis of a bilinear sample.
struct Neighbours {
  std::size_t low = 0;
  std::size_t high = 0;
  double share = 0.0;  ///< of `high`
  bool outside = false;
};

Neighbours neighbours_of(double at, std::size_t extent) {
  Neighbours found;
  found.outside = !(at >= -1.0) || !(at <= static_cast<double>(extent));
  if (found.outside) {
    return found;
  }
  const double inside = std::clamp(at, 0.0, static_cast<double>(extent - 1));
  found.low = static_cast<std::size_t>(inside);
  found.high = std::min(found.low + 1, extent - 1);
  found.share = inside - static_cast<double>(found.low);
  return found;
}

double bin_mean(const Region& region, const double* plane, std::size_t height, std::size_t width,
                double row, double column) {
  double sum = 0.0;
  for (std::size_t i = 0; i < region.rows; ++i) {
    const double along = (static_cast<double>(i) + 0.5) / static_cast<double>(region.rows);
    const Neighbours y = neighbours_of(region.top + (row + along) * region.bin_height, height);
    for (std::size_t j = 0; j < region.columns && !y.outside; ++j) {
      const double across = (static_cast<double>(j) + 0.5) / static_cast<double>(region.columns);
      const Neighbours x = neighbours_of(region.left + (column + across) * region.bin_width, width);
      if (x.outside) {
        continue;
      }
      const double* top = plane + y.low * width;
      const double* bottom = plane + y.high * width;
      sum += (1.0 - y.share) * ((1.0 - x.share) * top[x.low] + x.share * top[x.high]) +
             y.share * ((1.0 - x.share) * bottom[x.low] + x.share * bottom[x.high]);
    }
  }
  return sum / static_cast<double>(std::max<std::size_t>(region.rows * region.columns, 1));
}

}  // namespace

Result<Outputs> roi_align(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "X"));
  OPDRIFT_TRY(const Array* rois, call.need(1, "rois"));
  OPDRIFT_TRY(const Array* batches, call.need(2, "batch_indices"));
  OPDRIFT_TRY(const Options options, options_of(call));
  if (x->rank() != 4 || x->shape[2] == 0 || x->shape[3] == 0 || rois->rank() != 2 ||
      rois->shape[1] != 4 || batches->size() != rois->shape[0]) {
    return call.not_modelled("regions do not fit the input");
  }
  const std::size_t channels = x->shape[1];
  const std::size_t plane = x->shape[2] * x->shape[3];
  OPDRIFT_TRY(Array y,
              call.make({rois->shape[0], channels, options.height, options.width}, x->dtype));
  double* out = y.values.data();
  for (std::size_t r = 0; r < rois->shape[0]; ++r) {
    OPDRIFT_TRY(const Region region, region_of(call, options, rois->values.data() + 4 * r));
    const double batch = batches->values[r];
    if (!(batch >= 0.0) || !(batch < static_cast<double>(x->shape[0]))) {
      return call.not_modelled("a batch index is out of range");
    }
    OPDRIFT_CHECK_OK(call.check_work(y.size(), region.rows * region.columns));
    const double* image = x->values.data() + static_cast<std::size_t>(batch) * channels * plane;
    for (std::size_t at = 0; at < channels * options.height * options.width; ++at) {
      const std::size_t cell = at % (options.height * options.width);
      const std::size_t row = cell / options.width;
      *out++ = bin_mean(region, image + at / (options.height * options.width) * plane, x->shape[2],
                        x->shape[3], static_cast<double>(row),
                        static_cast<double>(cell % options.width));
    }
  }
  Outputs outputs;
  outputs.push_back(std::move(y));
  return outputs;
}

}  // namespace opdrift::replay
