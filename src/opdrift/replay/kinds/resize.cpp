#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "opdrift/replay/kinds/kinds.hpp"
#include "opdrift/replay/kinds/sources.hpp"

// Resize and Upsample. Each axis is resampled on its own:
//   y[i] = sum over taps of weight(i, tap) * x[tap(i)]
// Coordinates of nearest neighbours are computed in single precision as engines do, because a tie
// decided the other way would be a different element.

namespace opdrift::replay {

namespace {

/// Elements that the kernel of one antialiased element may span.
constexpr double kFarthest = 1e6;

struct Options {
  std::string mode;
  std::string coordinates;
  std::string nearest;
  double cubic = -0.75;
  double extrapolation = 0.0;
  bool exclude_outside = false;
  bool antialias = false;
};

struct AxisPlan {
  std::uint64_t input = 0;
  std::uint64_t output = 0;
  double scale = 1.0;
  double roi_start = 0.0;
  double roi_end = 1.0;
};

template <typename Real>
Real source_coordinate(const Options& options, const AxisPlan& plan, Real at) {
  const auto input = static_cast<Real>(plan.input);
  const auto output = static_cast<Real>(plan.output);
  const auto scale = static_cast<Real>(plan.scale);
  const auto half = static_cast<Real>(0.5);
  const std::string& kind = options.coordinates;
  if (kind == "asymmetric") {
    return at / scale;
  }
  if (kind == "align_corners") {
    return plan.output == 1 ? Real{0} : at * (input - 1) / (output - 1);
  }
  if (kind == "pytorch_half_pixel") {
    return plan.output > 1 ? (at + half) / scale - half : Real{0};
  }
  if (kind == "tf_half_pixel_for_nn") {
    return (at + half) / scale;
  }
  if (kind == "tf_crop_and_resize") {
    const auto first = static_cast<Real>(plan.roi_start) * (input - 1);
    const auto last = static_cast<Real>(plan.roi_end) * (input - 1);
    return plan.output > 1 ? first + at * (last - first) / (output - 1) : (first + last) * half;
  }
  if (kind == "half_pixel_symmetric") {
    const Real adjustment = output / (scale * input);
    const Real centre = input * half;
    return centre * (1 - adjustment) + (at + half) / scale - half;
  }
  return (at + half) / scale - half;
}

bool known_coordinates(const std::string& kind) {
  constexpr std::array<std::string_view, 7> kKinds = {
      "half_pixel",           "asymmetric",         "align_corners",       "pytorch_half_pixel",
      "tf_half_pixel_for_nn", "tf_crop_and_resize", "half_pixel_symmetric"};
  return std::find(kKinds.begin(), kKinds.end(), kind) != kKinds.end();
}

/// 0 for NaN, which a region of interest may lead to.
std::size_t clamp_index(double at, std::uint64_t extent) {
  return at > 0.0 ? static_cast<std::size_t>(std::min(at, static_cast<double>(extent - 1))) : 0;
}

AxisTaps nearest_tap(const Options& options, const AxisPlan& plan, std::uint64_t at) {
  const float x = source_coordinate<float>(options, plan, static_cast<float>(at));
  const bool simple = options.nearest == "simple";
  float rounded = std::ceil(x - 0.5F);  // round_prefer_floor
  if (options.nearest == "ceil" || (simple && plan.scale < 1.0)) {
    rounded = std::ceil(x);
  } else if (options.nearest == "floor" || simple) {
    rounded = std::floor(x);
  } else if (options.nearest == "round_prefer_ceil") {
    rounded = std::floor(x + 0.5F);
  }
  return {{clamp_index(static_cast<double>(rounded), plan.input)}, {1.0}, {}};
}

// The taps of the functions below are those of `x`, their weights those at `place` nearby.
AxisTaps linear_taps(double x, double place, std::uint64_t extent) {
  const double last = static_cast<double>(extent - 1);
  const double base = std::floor(std::clamp(x, 0.0, last));
  const std::size_t first = clamp_index(base, extent);
  const double share = std::clamp(place, 0.0, last) - base;
  return {{first, std::min<std::size_t>(first + 1, extent - 1)}, {1.0 - share, share}, {}};
}

double cubic_weight(double distance, double a) {
  const double d = std::abs(distance);
  if (d <= 1.0) {
    return ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0;
  }
  return d < 2.0 ? ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a : 0.0;
}

AxisTaps cubic_taps(const Options& options, double x, double place, std::uint64_t extent) {
  AxisTaps taps;
  const double base = std::floor(x);
  double sum = 0.0;
  for (std::size_t k = 0; k < 4; ++k) {
    const double at = base - 1.0 + static_cast<double>(k);
    const bool outside = at < 0.0 || at > static_cast<double>(extent - 1);
    taps.at.push_back(clamp_index(at, extent));
    taps.weight.push_back(
        outside && options.exclude_outside ? 0.0 : cubic_weight(place - at, options.cubic));
    sum += taps.weight.back();
  }
  for (double& weight : taps.weight) {
    weight /= options.exclude_outside ? sum : 1.0;
  }
  return taps;
}

// Shrinking widens the kernel by as much; what lies outside counts for the border, or not at all.
AxisTaps antialiased_taps(const Options& options, const AxisPlan& plan, double x, double place) {
  const bool cubic = options.mode == "cubic";
  const double width = std::max(1.0, 1.0 / plan.scale);
  const double support = (cubic ? 2.0 : 1.0) * width;
  const auto extent = static_cast<double>(plan.input);
  AxisTaps taps;
  double sum = 0.0;
  if (!(std::abs(x) + support < kFarthest)) {
    return {{clamp_index(x, plan.input)}, {1.0}, {}};
  }
  const auto last = static_cast<std::int64_t>(std::floor(x + support));
  for (auto i = static_cast<std::int64_t>(std::floor(x - support)) + 1; i <= last; ++i) {
    const auto at = static_cast<double>(i);
    const bool outside = at < 0.0 || at >= extent;
    const double distance = (at - place) / width;
    const double weight = outside && options.exclude_outside ? 0.0
                          : cubic                            ? cubic_weight(distance, options.cubic)
                                  : std::max(0.0, 1.0 - std::abs(distance));
    taps.at.push_back(clamp_index(at, plan.input));
    taps.weight.push_back(weight);
    sum += weight;
  }
  if (sum == 0.0) {
    return {{clamp_index(x, plan.input)}, {1.0}, {}};
  }
  for (double& weight : taps.weight) {
    weight /= sum;
  }
  return taps;
}

AxisTaps weighted_taps(const Options& options, const AxisPlan& plan, double x, double place) {
  if (options.antialias) {
    return antialiased_taps(options, plan, x, place);
  }
  return options.mode == "cubic" ? cubic_taps(options, x, place, plan.input)
                                 : linear_taps(x, place, plan.input);
}

// Places are found in single precision as well, and round with their size.
AxisTaps taps_of(const Options& options, const AxisPlan& plan, std::uint64_t at) {
  constexpr double kStep = 0x1p-20;
  const double x = source_coordinate<double>(options, plan, static_cast<double>(at));
  const bool nearest = options.mode == "nearest";
  AxisTaps taps = nearest ? nearest_tap(options, plan, at) : weighted_taps(options, plan, x, x);
  const AxisTaps moved =
      nearest ? taps : weighted_taps(options, plan, x, x + kStep * (std::abs(x) + 0.5));
  for (std::size_t k = 0; k < taps.weight.size(); ++k) {
    taps.slope.push_back((moved.weight[k] - taps.weight[k]) / kStep);
  }
  taps.outside = options.coordinates == "tf_crop_and_resize" &&
                 (x < 0.0 || x > static_cast<double>(plan.input - 1));
  return taps;
}

Result<Array> resample_axis(const Call& call, const Array& x, std::size_t axis,
                            const std::vector<AxisTaps>& taps, double extrapolation) {
  tensor::Shape shape = x.shape;
  shape[axis] = taps.size();
  OPDRIFT_TRY(Array y, call.make(shape, x.dtype));
  const AxisSplit split = split_at(x.shape, axis);
  for (std::size_t outer = 0; outer < split.outer; ++outer) {
    for (std::size_t at = 0; at < taps.size(); ++at) {
      double* out = y.values.data() + (outer * taps.size() + at) * split.inner;
      const AxisTaps& tap = taps[at];
      for (std::size_t k = 0; k < tap.at.size() && !tap.outside; ++k) {
        const double* from = x.values.data() + (outer * split.extent + tap.at[k]) * split.inner;
        // An infinity under a weight of zero must not become a NaN.
        for (std::size_t i = 0; i < split.inner && tap.weight[k] != 0.0; ++i) {
          out[i] += tap.weight[k] * from[i];
        }
      }
      if (tap.outside) {
        std::fill_n(out, split.inner, extrapolation);
      }
    }
  }
  return y;
}

/// Inputs of Resize, whose order changed with opset 11.
struct Wanted {
  std::vector<double> scales;
  std::vector<std::int64_t> sizes;
  std::vector<double> roi;
};

Result<Wanted> wanted_sizes(const Call& call) {
  Wanted wanted;
  const std::string& type = call.op.type;
  const bool ascend = type != "Resize" && type != "Upsample";
  const bool old = type == "Upsample" || call.opset() < 11;
  if (ascend) {
    OPDRIFT_TRY(const auto sizes, call.integers_or_input({"size", "sizes", "output_size"}, 1));
    wanted.sizes = sizes.value_or(std::vector<std::int64_t>{});
    wanted.scales = call.reals({"scale_factor", "scales"}).value_or(std::vector<double>{});
    return wanted;
  }
  const Array* scales = call.input(old ? 1 : 2);
  wanted.scales = scales != nullptr && scales->size() > 0
                      ? scales->values
                      : call.reals({"scales"}).value_or(std::vector<double>{});
  if (!old && call.input(1) != nullptr) {
    wanted.roi = call.input(1)->values;
  }
  if (!old && call.input(3) != nullptr && call.input(3)->size() > 0) {
    OPDRIFT_TRY(wanted.sizes, integers_of(*call.input(3)));
  }
  return wanted;
}

Result<Options> options_of(const Call& call) {
  Options options;
  const std::string& type = call.op.type;
  options.mode =
      call.text({"mode"}, type.find("Bilinear") != std::string::npos ? "linear" : "nearest");
  if (options.mode == "bilinear" || options.mode == "trilinear") {
    options.mode = "linear";
  } else if (options.mode == "bicubic") {
    options.mode = "cubic";
  }
  const bool old = type == "Upsample" || (type == "Resize" && call.opset() < 11);
  const bool align = call.integer({"align_corners"}, 0) != 0;
  const bool half = call.integer({"half_pixel_centers"}, 0) != 0;
  const bool ascend = type.rfind("Resize", 0) == 0 && type != "Resize";
  const bool aten = type == "interpolate" || type.rfind("upsample", 0) == 0;
  const char* fallback =
      old || (ascend && !half) || (aten && options.mode == "nearest") ? "asymmetric" : "half_pixel";
  options.coordinates =
      call.text({"coordinate_transformation_mode"}, align ? "align_corners" : fallback);
  const bool floors = (ascend && !half) || aten;
  options.nearest = call.text({"nearest_mode"}, old      ? "simple"
                                                : floors ? "floor"
                                                         : "round_prefer_floor");
  options.cubic = call.real({"cubic_coeff_a"}, -0.75);
  options.extrapolation = call.real({"extrapolation_value"}, 0.0);
  options.exclude_outside = call.integer({"exclude_outside"}, 0) != 0;
  if (options.mode != "nearest" && options.mode != "linear" && options.mode != "cubic") {
    return call.not_modelled("mode " + options.mode);
  }
  if (!known_coordinates(options.coordinates)) {
    return call.not_modelled("coordinates " + options.coordinates);
  }
  options.antialias = call.integer({"antialias"}, 0) != 0;
  return options;
}

// keep_aspect_ratio_policy: one scale for all axes, the smaller or the larger one.
void keep_aspect(const Call& call, const Array& x, const std::vector<std::size_t>& axes,
                 std::vector<AxisPlan>& plans) {
  const std::string policy = call.text({"keep_aspect_ratio_policy"}, "stretch");
  if (policy == "stretch" || plans.empty()) {
    return;
  }
  double scale = plans.front().scale;
  for (const AxisPlan& plan : plans) {
    scale = policy == "not_larger" ? std::min(scale, plan.scale) : std::max(scale, plan.scale);
  }
  for (std::size_t i = 0; i < plans.size(); ++i) {
    plans[i].scale = scale;
    plans[i].output =
        static_cast<std::uint64_t>(std::floor(scale * static_cast<double>(x.shape[axes[i]]) + 0.5));
  }
}

Result<std::vector<AxisPlan>> plans_of(const Call& call, const Array& x, const Wanted& wanted,
                                       const std::vector<std::size_t>& axes) {
  const bool by_size = !wanted.sizes.empty();
  if (wanted.sizes.size() != (by_size ? axes.size() : 0) ||
      (!by_size && wanted.scales.size() != axes.size())) {
    return call.not_modelled("sizes or scales do not fit the axes");
  }
  std::vector<AxisPlan> plans;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    AxisPlan plan;
    plan.input = x.shape[axes[i]];
    const auto extent = static_cast<double>(plan.input);
    const double scale = by_size ? static_cast<double>(wanted.sizes[i]) / extent : wanted.scales[i];
    // Engines multiply in single precision, where 5 times 1.4 is 7.
    const double output =
        by_size ? static_cast<double>(wanted.sizes[i])
                : std::floor(static_cast<double>(static_cast<float>(extent) *
                                                 static_cast<float>(wanted.scales[i])));
    if (!(scale > 0.0) || !(output >= 1.0) || !(output <= 1e9) || plan.input == 0) {
      return call.not_modelled("an output extent is out of range");
    }
    plan.scale = scale;
    plan.output = static_cast<std::uint64_t>(output);
    if (wanted.roi.size() == 2 * axes.size()) {
      plan.roi_start = wanted.roi[i];
      plan.roi_end = wanted.roi[axes.size() + i];
    }
    plans.push_back(plan);
  }
  if (by_size) {
    keep_aspect(call, x, axes, plans);
  }
  return plans;
}

Result<std::vector<std::size_t>> axes_of(const Call& call, const Array& x, const Wanted& wanted) {
  if (const auto listed = call.integers({"axes"}); listed && call.op.type == "Resize") {
    std::vector<std::size_t> axes;
    for (const std::int64_t axis : *listed) {
      OPDRIFT_TRY(const std::size_t index, normal_axis(axis, x.rank()));
      axes.push_back(index);
    }
    return axes;
  }
  // Sizes for fewer axes than there are belong to the last ones (Ascend, ATen).
  const std::size_t given = wanted.sizes.empty() ? wanted.scales.size() : wanted.sizes.size();
  if (given > x.rank()) {
    return call.not_modelled("more sizes than axes");
  }
  std::vector<std::size_t> axes(given);
  std::iota(axes.begin(), axes.end(), x.rank() - given);
  return axes;
}

}  // namespace

Result<Resampling> resampling_of(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "X"));
  OPDRIFT_TRY(const Options options, options_of(call));
  OPDRIFT_TRY(const Wanted wanted, wanted_sizes(call));
  OPDRIFT_TRY(const auto axes, axes_of(call, *x, wanted));
  OPDRIFT_TRY(const auto plans, plans_of(call, *x, wanted, axes));
  tensor::Shape shape = x->shape;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    shape[axes[i]] = plans[i].output;
  }
  OPDRIFT_CHECK_OK(check_shape(shape, call.limits));
  Resampling resampling;
  resampling.axes.resize(x->rank());
  resampling.extrapolation = options.extrapolation;
  resampling.nearest = options.mode == "nearest";
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const AxisPlan& plan = plans[i];
    const bool same = plan.output == plan.input && plan.scale == 1.0 &&
                      options.coordinates != "tf_crop_and_resize";
    for (std::uint64_t at = 0; at < plan.output && !same; ++at) {
      resampling.axes[axes[i]].push_back(taps_of(options, plan, at));
    }
  }
  return resampling;
}

namespace {

Result<Array> resampled(const Call& call, const Array& x, const Resampling& resampling) {
  std::vector<std::size_t> order;
  for (std::size_t axis = 0; axis < x.rank(); ++axis) {
    if (!resampling.axes[axis].empty()) {
      order.push_back(axis);
    }
  }
  // Shrinking first keeps the arrays between the axes small.
  const auto growth = [&](std::size_t axis) {
    return static_cast<double>(resampling.axes[axis].size()) / static_cast<double>(x.shape[axis]);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t one, std::size_t other) { return growth(one) < growth(other); });
  Array y = x;
  for (const std::size_t axis : order) {
    OPDRIFT_TRY(y, resample_axis(call, y, axis, resampling.axes[axis], resampling.extrapolation));
  }
  return y;
}

// Every product of the sums along all axes, squared.
Result<Terms> mixed_terms(const Call& call, const Array& x, Resampling resampling) {
  Terms terms;
  for (std::vector<AxisTaps>& axis : resampling.axes) {
    std::size_t most = 1;
    for (AxisTaps& taps : axis) {
      most = std::max(most, taps.at.size());
      for (double& weight : taps.weight) {
        weight *= weight;
      }
    }
    terms.n *= static_cast<double>(most);
  }
  resampling.extrapolation = 0.0;
  OPDRIFT_TRY(Array squares, resampled(call, squared(x), resampling));
  terms.a2 = std::move(squares.values);
  return terms;
}

}  // namespace

Result<Outputs> resize(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "X"));
  OPDRIFT_TRY(const Resampling resampling, resampling_of(call));
  OPDRIFT_TRY(Array y, resampled(call, *x, resampling));
  return one_output(std::move(y));
}

Result<Terms> resize_terms(const Call& call, std::size_t /*index*/, const Array& y) {
  OPDRIFT_TRY(const Array* x, call.need(0, "X"));
  OPDRIFT_TRY(const Resampling resampling, resampling_of(call));
  if (resampling.nearest) {
    return Terms{};
  }
  OPDRIFT_TRY(Terms terms, mixed_terms(call, *x, resampling));
  terms.extra.assign(y.size(), 0.0);
  for (std::size_t axis = 0; axis < x->rank(); ++axis) {
    if (resampling.axes[axis].empty()) {
      continue;
    }
    Resampling sloped = resampling;
    sloped.extrapolation = 0.0;
    for (AxisTaps& taps : sloped.axes[axis]) {
      taps.weight = taps.slope;
    }
    OPDRIFT_TRY(const Array change, resampled(call, *x, sloped));
    for (std::size_t at = 0; at < y.size() && at < change.size(); ++at) {
      terms.extra[at] += change.values[at] * change.values[at];
    }
  }
  return terms;
}

}  // namespace opdrift::replay
