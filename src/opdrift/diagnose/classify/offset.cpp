#include "opdrift/diagnose/classify/offset.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "opdrift/diagnose/classify/fit.hpp"
#include "opdrift/verdict/explain/sample.hpp"

namespace opdrift::diagnose::classify {

namespace {

constexpr std::int64_t kMostShift = 32;
constexpr std::size_t kFewSamples = 64;
constexpr std::size_t kManySamples = 2048;
constexpr std::size_t kFinalists = 64;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Range {
  std::int64_t first = 0;
  std::int64_t last = 0;  ///< inclusive
};

/// Offsets to try along one axis.
Range range_of(std::size_t golden, std::size_t device) {
  const auto difference = static_cast<std::int64_t>(golden) - static_cast<std::int64_t>(device);
  if (difference == 0) {
    const std::int64_t most = std::min(kMostShift, static_cast<std::int64_t>(golden) / 2);
    return {-most, most};
  }
  return {std::min<std::int64_t>(difference, 0), std::max<std::int64_t>(difference, 0)};
}

struct Pixel {
  std::int64_t y = 0;
  std::int64_t x = 0;
};

/// Pixels of the device drawn evenly, the same every time.
std::vector<Pixel> draw_pixels(const Image& device, std::size_t count) {
  verdict::refit::Dice dice;
  std::vector<Pixel> pixels;
  for (std::size_t i = 0; i < count; ++i) {
    pixels.push_back({static_cast<std::int64_t>(dice.below(device.rows())),
                      static_cast<std::int64_t>(dice.below(device.columns()))});
  }
  return pixels;
}

/// One channel of each side and what of it is looked at.
class Search {
 public:
  Search(const Image& golden, const Image& device, std::size_t samples)
      : golden_(golden), device_(device), pixels_(draw_pixels(device, samples)) {}

  /// NaN when fewer than a quarter of the pixels have a partner.
  double correlation_at(std::int64_t dy, std::int64_t dx) {
    g_.clear();
    d_.clear();
    const double* const golden = golden_.channel(0, golden_.channels() / 2);
    const double* const device = device_.channel(0, device_.channels() / 2);
    for (const Pixel& pixel : pixels_) {
      const std::int64_t y = pixel.y + dy;
      const std::int64_t x = pixel.x + dx;
      if (y >= 0 && x >= 0 && y < static_cast<std::int64_t>(golden_.rows()) &&
          x < static_cast<std::int64_t>(golden_.columns())) {
        g_.push_back(
            golden[static_cast<std::size_t>(y) * golden_.columns() + static_cast<std::size_t>(x)]);
        d_.push_back(device[static_cast<std::size_t>(pixel.y) * device_.columns() +
                            static_cast<std::size_t>(pixel.x)]);
      }
    }
    return 4 * g_.size() < pixels_.size() ? kNan : correlation(g_, d_);
  }

 private:
  const Image& golden_;
  const Image& device_;
  std::vector<Pixel> pixels_;
  std::vector<double> g_;
  std::vector<double> d_;
};

bool better(const Offset& left, const Offset& right) {
  if (left.correlation != right.correlation) {
    return left.correlation > right.correlation;
  }
  return std::abs(left.dy) + std::abs(left.dx) < std::abs(right.dy) + std::abs(right.dx);
}

/// The best offsets by a few pixels each.
std::vector<Offset> finalists(const Image& golden, const Image& device) {
  Search search(golden, device, kFewSamples);
  const Range rows = range_of(golden.rows(), device.rows());
  const Range columns = range_of(golden.columns(), device.columns());
  std::vector<Offset> found;
  for (std::int64_t dy = rows.first; dy <= rows.last; ++dy) {
    for (std::int64_t dx = columns.first; dx <= columns.last; ++dx) {
      const double r = search.correlation_at(dy, dx);
      if (!std::isnan(r)) {
        found.push_back({dy, dx, r});
      }
    }
    if (found.size() > 4096 * kFinalists) {
      std::nth_element(found.begin(), found.begin() + kFinalists, found.end(), better);
      found.resize(kFinalists);
    }
  }
  if (found.size() > kFinalists) {
    std::nth_element(found.begin(), found.begin() + kFinalists, found.end(), better);
    found.resize(kFinalists);
  }
  return found;
}

}  // namespace

Offset best_offset(const Image& golden, const Image& device) {
  Offset best{0, 0, kNan};
  if (golden.values.empty() || device.values.empty()) {
    return best;
  }
  Search search(golden, device, kManySamples);
  for (Offset offset : finalists(golden, device)) {
    offset.correlation = search.correlation_at(offset.dy, offset.dx);
    if (!std::isnan(offset.correlation) && (std::isnan(best.correlation) || better(offset, best))) {
      best = offset;
    }
  }
  return best;
}

Overlap overlap_at(const Image& golden, const Image& device, const Offset& offset) {
  const auto part = [](std::size_t in_golden, std::size_t in_device, std::int64_t shift) {
    const std::int64_t first = std::max<std::int64_t>(0, -shift);
    const std::int64_t end = std::min(static_cast<std::int64_t>(in_device),
                                      static_cast<std::int64_t>(in_golden) - shift);
    return std::pair(first, std::max(first, end));
  };
  const auto [y0, y1] = part(golden.rows(), device.rows(), offset.dy);
  const auto [x0, x1] = part(golden.columns(), device.columns(), offset.dx);
  const auto width = static_cast<std::size_t>(x1 - x0);
  Overlap overlap;
  overlap.golden.extent = {device.batch(), device.channels(), static_cast<std::size_t>(y1 - y0),
                           width};
  overlap.device.extent = overlap.golden.extent;
  for (std::size_t n = 0; n < device.batch(); ++n) {
    for (std::size_t c = 0; c < device.channels(); ++c) {
      for (std::int64_t y = y0; y < y1; ++y) {
        const double* const d = device.channel(n, c) +
                                static_cast<std::size_t>(y) * device.columns() +
                                static_cast<std::size_t>(x0);
        const double* const g = golden.channel(n, c) +
                                static_cast<std::size_t>(y + offset.dy) * golden.columns() +
                                static_cast<std::size_t>(x0 + offset.dx);
        overlap.device.values.insert(overlap.device.values.end(), d, d + width);
        overlap.golden.values.insert(overlap.golden.values.end(), g, g + width);
      }
    }
  }
  return overlap;
}

}  // namespace opdrift::diagnose::classify
