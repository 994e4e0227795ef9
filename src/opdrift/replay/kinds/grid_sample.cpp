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

/// An element as the sum of weighted neighbours, and the sum of the squares of these products.
struct Mixture {
  double sum = 0.0;
  double squares = 0.0;

  void add(double weight, double x) {
    sum += weight * x;
    squares += weight * weight * x * x;
  }
};

Mixture bilinear(const Sampler& s, double y, double x) {
  const double top = std::floor(y);
  const double left = std::floor(x);
  const double fy = y - top;
  const double fx = x - left;
  Mixture mixture;
  mixture.add((1.0 - fy) * (1.0 - fx), pixel(s, top, left));
  mixture.add((1.0 - fy) * fx, pixel(s, top, left + 1.0));
  mixture.add(fy * (1.0 - fx), pixel(s, top + 1.0, left));
  mixture.add(fy * fx, pixel(s, top + 1.0, left + 1.0));
  return mixture;
}

double cubic_weight(double distance) {
  constexpr double kA = -0.75;
  const double d = std::abs(distance);
  if (d <= 1.0) {
    return ((kA + 2.0) * d - (kA + 3.0)) * d * d + 1.0;
  }
  return d < 2.0 ? ((kA * d - 5.0 * kA) * d + 8.0 * kA) * d - 4.0 * kA : 0.0;
}

Mixture bicubic(const Sampler& s, double y, double x) {
  const double top = std::floor(y);
  const double left = std::floor(x);
  Mixture mixture;
  for (int i = -1; i <= 2; ++i) {
    for (int j = -1; j <= 2; ++j) {
      mixture.add(cubic_weight(y - top - i) * cubic_weight(x - left - j),
                  pixel(s, top + i, left + j));
    }
  }
  return mixture;
}

enum class Mode : std::uint8_t { nearest, linear, cubic };

Mixture mixed(const Sampler& s, Mode mode, double y, double x) {
  if (mode == Mode::nearest) {
    return {pixel(s, std::nearbyint(y), std::nearbyint(x)), 0.0};
  }
  return mode == Mode::cubic ? bicubic(s, y, x) : bilinear(s, y, x);
}

/// A planned GridSample.
struct Planned {
  const Array* x = nullptr;
  const Array* grid = nullptr;
  Sampler sampler;
  Mode mode = Mode::linear;
  tensor::Shape shape;
};

Result<Planned> plan(const Call& call) {
  Planned p;
  OPDRIFT_TRY(p.x, call.need(0, "X"));
  OPDRIFT_TRY(p.grid, call.need(1, "grid"));
  const tensor::Shape& x = p.x->shape;
  const tensor::Shape& grid = p.grid->shape;
  if (x.size() != 4 || grid.size() != 4 || grid[3] != 2 || grid[0] != x[0] || x[2] == 0 ||
      x[3] == 0) {
    return call.not_modelled("expected two spatial axes");
  }
  const std::string mode = call.text({"mode"}, "linear");
  const std::string border = call.text({"padding_mode"}, "zeros");
  p.mode = mode == "nearest"                      ? Mode::nearest
           : mode == "cubic" || mode == "bicubic" ? Mode::cubic
                                                  : Mode::linear;
  p.sampler.height = static_cast<std::int64_t>(x[2]);
  p.sampler.width = static_cast<std::int64_t>(x[3]);
  p.sampler.align = call.integer({"align_corners"}, 0) != 0;
  p.sampler.border = border == "border"       ? Border::clamp
                     : border == "reflection" ? Border::reflect
                                              : Border::zeros;
  p.shape = {x[0], x[1], grid[1], grid[2]};
  return p;
}

// Calls visit(position, sampler of its plane, row, column) for every element.
template <typename Visit>
void for_each_place(const Planned& p, std::size_t count, Visit visit) {
  const std::size_t positions = p.shape[2] * p.shape[3];
  const std::size_t plane = p.x->shape[2] * p.x->shape[3];
  Sampler sampler = p.sampler;
  for (std::size_t at = 0; at < count; ++at) {
    sampler.plane = p.x->values.data() + at / positions * plane;
    const std::size_t batch = at / positions / p.x->shape[1];
    const double* point = p.grid->values.data() + (batch * positions + at % positions) * 2;
    double column = denormalised(point[0], sampler.width, sampler.align);
    double row = denormalised(point[1], sampler.height, sampler.align);
    if (!std::isfinite(column) || !std::isfinite(row)) {
      column = row = -1e9;
    }
    visit(at, sampler, row, column);
  }
}

}  // namespace

Result<Outputs> grid_sample(const Call& call) {
  OPDRIFT_TRY(const Planned p, plan(call));
  OPDRIFT_TRY(Array y, call.make(p.shape, p.x->dtype));
  for_each_place(p, y.size(), [&](std::size_t at, const Sampler& s, double row, double column) {
    y.values[at] = mixed(s, p.mode, row, column).sum;
  });
  return one_output(std::move(y));
}

// Places are found in single precision as well; what their rounding does follows the slope there.
Result<Terms> grid_sample_terms(const Call& call, std::size_t /*index*/, const Array& y) {
  constexpr double kStep = 0x1p-20;
  OPDRIFT_TRY(const Planned p, plan(call));
  Terms terms;
  if (p.mode == Mode::nearest || y.size() != count_of(p.shape)) {
    return terms;
  }
  terms.n = p.mode == Mode::cubic ? 16.0 : 4.0;
  terms.a2.resize(y.size());
  terms.extra.resize(y.size());
  for_each_place(p, y.size(), [&](std::size_t at, const Sampler& s, double row, double column) {
    const Mixture here = mixed(s, p.mode, row, column);
    const double down = mixed(s, p.mode, row + kStep * (std::abs(row) + 0.5), column).sum;
    const double along = mixed(s, p.mode, row, column + kStep * (std::abs(column) + 0.5)).sum;
    terms.a2[at] = here.squares;
    terms.extra[at] =
        ((down - here.sum) * (down - here.sum) + (along - here.sum) * (along - here.sum)) /
        (kStep * kStep);
  });
  return terms;
}

}  // namespace opdrift::replay
