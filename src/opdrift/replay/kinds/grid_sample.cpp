#include <algorithm>
#include <cmath>

#include "opdrift/replay/kinds/kinds.hpp"

// GridSample over two spatial axes: y[n, c, i, j] = x[n, c] interpolated at grid[n, i, j] = (x, y)
// in [-1, 1].

namespace opdrift::replay {

namespace {

enum class Border : std::uint8_t { zeros, clamp, reflect };

struct Sampler {
  const double* plane = nullptr;
  std::int64_t height = 0;
  std::int64_t width = 0;
  Border border = Border::zeros;
  bool align = false;
};

double denormalised(double at, std::int64_t extent, bool align) {
  const auto size = static_cast<double>(extent);
  return align ? (at + 1.0) / 2.0 * (size - 1.0) : ((at + 1.0) * size - 1.0) / 2.0;
}

double reflected(double at, std::int64_t extent, bool align) {
  const double low = align ? 0.0 : -0.5;
  const double span = align ? static_cast<double>(extent - 1) : static_cast<double>(extent);
  if (span == 0.0) {
    return 0.0;
  }
  const double rest = std::fmod(std::abs(at - low), 2.0 * span);
  return low + (rest <= span ? rest : 2.0 * span - rest);
}

// An element by whole coordinates; outside, what the border says.
double pixel(const Sampler& s, double y, double x) {
  if (s.border == Border::reflect) {
    y = reflected(y, s.height, s.align);
    x = reflected(x, s.width, s.align);
  }
  const double bottom = static_cast<double>(s.height - 1);
  const double right = static_cast<double>(s.width - 1);
  if (s.border == Border::zeros && (!(y >= 0.0) || !(x >= 0.0) || y > bottom || x > right)) {
    return 0.0;
  }
  const auto row = static_cast<std::int64_t>(std::clamp(y, 0.0, bottom));
  const auto column = static_cast<std::int64_t>(std::clamp(x, 0.0, right));
  return s.plane[row * s.width + column];
}

double bilinear(const Sampler& s, double y, double x) {
  const double top = std::floor(y);
  const double left = std::floor(x);
  const double fy = y - top;
  const double fx = x - left;
  return (1.0 - fy) * ((1.0 - fx) * pixel(s, top, left) + fx * pixel(s, top, left + 1.0)) +
         fy * ((1.0 - fx) * pixel(s, top + 1.0, left) + fx * pixel(s, top + 1.0, left + 1.0));
}

double cubic_weight(double distance) {
  constexpr double kA = -0.75;
  const double d = std::abs(distance);
  if (d <= 1.0) {
    return ((kA + 2.0) * d - (kA + 3.0)) * d * d + 1.0;
  }
  return d < 2.0 ? ((kA * d - 5.0 * kA) * d + 8.0 * kA) * d - 4.0 * kA : 0.0;
}

double bicubic(const Sampler& s, double y, double x) {
  const double top = std::floor(y);
  const double left = std::floor(x);
  double sum = 0.0;
  for (int i = -1; i <= 2; ++i) {
    for (int j = -1; j <= 2; ++j) {
      sum += cubic_weight(y - top - i) * cubic_weight(x - left - j) * pixel(s, top + i, left + j);
    }
  }
  return sum;
}

}  // namespace

Result<Outputs> grid_sample(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "X"));
  OPDRIFT_TRY(const Array* grid, call.need(1, "grid"));
  if (x->rank() != 4 || grid->rank() != 4 || grid->shape[3] != 2 || grid->shape[0] != x->shape[0] ||
      x->shape[2] == 0 || x->shape[3] == 0) {
    return call.not_modelled("expected two spatial axes");
  }
  const std::string mode = call.text({"mode"}, "linear");
  const std::string border = call.text({"padding_mode"}, "zeros");
  Sampler sampler;
  sampler.height = static_cast<std::int64_t>(x->shape[2]);
  sampler.width = static_cast<std::int64_t>(x->shape[3]);
  sampler.align = call.integer({"align_corners"}, 0) != 0;
  sampler.border = border == "border"       ? Border::clamp
                   : border == "reflection" ? Border::reflect
                                            : Border::zeros;
  const tensor::Shape shape = {x->shape[0], x->shape[1], grid->shape[1], grid->shape[2]};
  OPDRIFT_TRY(Array y, call.make(shape, x->dtype));
  const std::size_t positions = grid->shape[1] * grid->shape[2];
  const std::size_t plane = x->shape[2] * x->shape[3];
  for (std::size_t at = 0; at < y.size(); ++at) {
    sampler.plane = x->values.data() + at / positions * plane;
    const std::size_t batch = at / positions / x->shape[1];
    const double* point = grid->values.data() + (batch * positions + at % positions) * 2;
    double column = denormalised(point[0], sampler.width, sampler.align);
    double row = denormalised(point[1], sampler.height, sampler.align);
    if (!std::isfinite(column) || !std::isfinite(row)) {
      column = row = -1e9;
    }
    if (mode == "nearest") {
      y.values[at] = pixel(sampler, std::nearbyint(row), std::nearbyint(column));
    } else {
      const bool cubic = mode == "cubic" || mode == "bicubic";
      y.values[at] = cubic ? bicubic(sampler, row, column) : bilinear(sampler, row, column);
    }
  }
  Outputs outputs;
  outputs.push_back(std::move(y));
  return outputs;
}

}  // namespace opdrift::replay
