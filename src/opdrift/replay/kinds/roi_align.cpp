#include <algorithm>
#include <cmath>
#include <iterator>

#include "opdrift/replay/kinds/kinds.hpp"

// RoiAlign: the mean of bilinear samples in every bin of a region of interest, or the largest of
// the products that make them up. Regions are found in single precision, as engines do: how many
// samples a bin has depends on it.

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
  bool largest = false;
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
  const std::string mode = call.text({"mode"}, "avg");
  options.largest = mode == "max";
  if ((mode != "avg" && mode != "max") || height < 1 || width < 1 || height > 1 << 20 ||
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
  const float shift = options.half_pixel ? 0.5F : 0.0F;
  const auto scale = static_cast<float>(options.scale);
  const auto place = [&](double at) { return static_cast<float>(at) * scale - shift; };
  Region region;
  region.left = static_cast<double>(place(box[0]));
  region.top = static_cast<double>(place(box[1]));
  float width = place(box[2]) - place(box[0]);
  float height = place(box[3]) - place(box[1]);
  if (!options.half_pixel) {
    width = std::max(width, 1.0F);
    height = std::max(height, 1.0F);
  }
  if (!std::isfinite(region.left) || !std::isfinite(region.top)) {
    return call.not_modelled("a region is not finite");
  }
  region.bin_height = static_cast<double>(height / static_cast<float>(options.height));
  region.bin_width = static_cast<double>(width / static_cast<float>(options.width));
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

double bin_value(const Region& region, const double* plane, std::size_t height, std::size_t width,
                 double row, double column, bool largest) {
  double sum = 0.0;
  double best = -HUGE_VAL;
  for (std::size_t i = 0; i < region.rows; ++i) {
    const double along = (static_cast<double>(i) + 0.5) / static_cast<double>(region.rows);
    const Neighbours y = neighbours_of(region.top + (row + along) * region.bin_height, height);
    for (std::size_t j = 0; j < region.columns && !y.outside; ++j) {
      const double across = (static_cast<double>(j) + 0.5) / static_cast<double>(region.columns);
      const Neighbours x = neighbours_of(region.left + (column + across) * region.bin_width, width);
      if (x.outside) {
        best = std::max(best, 0.0);
        continue;
      }
      const double* top = plane + y.low * width;
      const double* bottom = plane + y.high * width;
      const double parts[] = {
          (1.0 - y.share) * (1.0 - x.share) * top[x.low], (1.0 - y.share) * x.share * top[x.high],
          y.share * (1.0 - x.share) * bottom[x.low], y.share * x.share * bottom[x.high]};
      sum += parts[0] + parts[1] + parts[2] + parts[3];
      best = std::max(best, *std::max_element(std::begin(parts), std::end(parts)));
    }
    best = y.outside && region.columns > 0 ? std::max(best, 0.0) : best;
  }
  if (largest) {
    return region.rows * region.columns == 0 ? 0.0 : best;
  }
  return sum / static_cast<double>(std::max<std::size_t>(region.rows * region.columns, 1));
}

// By how much of their size the places of all samples are off.
struct Stray {
  double down = 0.0;
  double along = 0.0;
};

Region strayed(Region region, const Options& options, Stray stray) {
  const double height = region.bin_height * static_cast<double>(options.height);
  const double width = region.bin_width * static_cast<double>(options.width);
  region.top += stray.down * (std::abs(region.top) + height);
  region.left += stray.along * (std::abs(region.left) + width);
  return region;
}

Result<Array> aligned(const Call& call, Stray stray) {
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
    OPDRIFT_TRY(Region region, region_of(call, options, rois->values.data() + 4 * r));
    region = strayed(region, options, stray);
    const double batch = batches->values[r];
    if (!(batch >= 0.0) || !(batch < static_cast<double>(x->shape[0]))) {
      return call.not_modelled("a batch index is out of range");
    }
    OPDRIFT_CHECK_OK(call.check_work(y.size(), region.rows * region.columns));
    const double* image = x->values.data() + static_cast<std::size_t>(batch) * channels * plane;
    for (std::size_t at = 0; at < channels * options.height * options.width; ++at) {
      const std::size_t cell = at % (options.height * options.width);
      const std::size_t row = cell / options.width;
      *out++ = bin_value(region, image + at / (options.height * options.width) * plane, x->shape[2],
                         x->shape[3], static_cast<double>(row),
                         static_cast<double>(cell % options.width), options.largest);
    }
  }
  return y;
}

}  // namespace

Result<Outputs> roi_align(const Call& call) {
  OPDRIFT_TRY(Array y, aligned(call, {}));
  return one_output(std::move(y));
}

// Places are found in single precision as well; what their rounding does follows the slope there.
Result<Terms> roi_align_terms(const Call& call, std::size_t /*index*/, const Array& y) {
  constexpr double kStep = 0x1p-20;
  Terms terms;
  terms.extra.assign(y.size(), 0.0);
  for (const Stray stray : {Stray{kStep, 0.0}, Stray{0.0, kStep}}) {
    OPDRIFT_TRY(const Array moved, aligned(call, stray));
    for (std::size_t at = 0; at < y.size() && at < moved.size(); ++at) {
      const double slope = (moved.values[at] - y.values[at]) / kStep;
      terms.extra[at] += std::isfinite(slope) ? slope * slope : 0.0;
    }
  }
  return terms;
}

}  // namespace opdrift::replay
