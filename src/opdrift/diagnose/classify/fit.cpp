#include "opdrift/diagnose/classify/fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "opdrift/verdict/explain/value_maps.hpp"

namespace opdrift::diagnose::classify {

namespace {

using verdict::refit::IndexSums;

constexpr double kLeastCosine = 0.9999;
constexpr double kMostRelative = 1e-2;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

IndexSums sums_of(std::span<const double> golden, std::span<const double> device) {
  IndexSums sums;
  sums.n = static_cast<double>(golden.size());
  for (std::size_t i = 0; i < golden.size(); ++i) {
    const double g = golden[i];
    const double d = device[i];
    sums.b += g;
    sums.t += d;
    sums.bb += g * g;
    sums.tt += d * d;
    sums.bt += g * d;
    sums.dd += (d - g) * (d - g);
  }
  return sums;
}

/// Sums about the means, from sums about the first elements: no cancellation for values far from 0.
double correlation_of(std::span<const double> golden, std::span<const double> device) {
  if (golden.empty()) {
    return kNan;
  }
  double g = 0.0;
  double d = 0.0;
  double gg = 0.0;
  double dd = 0.0;
  double gd = 0.0;
  for (std::size_t i = 0; i < golden.size(); ++i) {
    const double x = golden[i] - golden[0];
    const double y = device[i] - device[0];
    g += x;
    d += y;
    gg += x * x;
    dd += y * y;
    gd += x * y;
  }
  const auto n = static_cast<double>(golden.size());
  const double var_g = gg - g * g / n;
  const double var_d = dd - d * d / n;
  if (!(var_g > 1e-12 * gg) || !(var_d > 1e-12 * dd)) {
    return kNan;
  }
  return (gd - g * d / n) / std::sqrt(var_g * var_d);
}

}  // namespace

bool Likeness::good() const {
  return cosine >= kLeastCosine && relative_l2 <= kMostRelative;
}

bool Likeness::closer_than(const Likeness& other) const {
  if (std::isnan(other.cosine) || std::isnan(cosine)) {
    return !std::isnan(cosine);
  }
  return cosine > other.cosine || (cosine == other.cosine && relative_l2 < other.relative_l2);
}

Likeness likeness(std::span<const double> golden, std::span<const double> device) {
  const IndexSums sums = sums_of(golden, device);
  Likeness like;
  const bool both_zero = sums.bb == 0.0 && sums.tt == 0.0;
  like.cosine = both_zero ? 1.0 : sums.bt / (std::sqrt(sums.bb) * std::sqrt(sums.tt));
  like.relative_l2 = sums.dd == 0.0 ? 0.0 : std::sqrt(sums.dd / sums.bb);
  return like;
}

double correlation(std::span<const double> golden, std::span<const double> device) {
  return correlation_of(golden, device);
}

AffineFit fit_channels(const Image& golden, const Image& device) {
  AffineFit fit;
  fit.correlation = 1.0;
  std::vector<double> made(golden.values.size());
  std::vector<double> g;
  std::vector<double> d;
  for (std::size_t c = 0; c < golden.channels(); ++c) {
    g.clear();
    d.clear();
    for (std::size_t n = 0; n < golden.batch(); ++n) {
      g.insert(g.end(), golden.channel(n, c), golden.channel(n, c) + golden.plane());
      d.insert(d.end(), device.channel(n, c), device.channel(n, c) + device.plane());
    }
    const double r = correlation_of(g, d);
    fit.correlation = std::isnan(r) || r < fit.correlation ? r : fit.correlation;
    const verdict::refit::Line line = verdict::refit::fit_line(sums_of(g, d));
    fit.channels.push_back({line.a, line.o});
    for (std::size_t n = 0; n < golden.batch(); ++n) {
      const double* const from = golden.channel(n, c);
      double* const to = made.data() + (from - golden.values.data());
      std::transform(from, from + golden.plane(), to,
                     [&](double x) { return line.a * x + line.o; });
    }
  }
  fit.after = likeness(made, device.values);
  return fit;
}

}  // namespace opdrift::diagnose::classify
