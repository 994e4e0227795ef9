#include "opdrift/verdict/judge/shape_scales.hpp"

#include <algorithm>
#include <cmath>

#include "opdrift/verdict/judge/median.hpp"

namespace opdrift::verdict::judging {

namespace {

constexpr double kDeviationOfMedian = 1.4826;
constexpr double kTiny = 1e-300;
constexpr double kDifferingShare = 0.125;
constexpr std::size_t kLeastDiffering = 8;

// Mean of the sizes, each cut at four times their median.
double cut_mean(std::vector<double>& sizes) {
  if (sizes.empty()) {
    return 0.0;
  }
  const double cut = 4.0 * median_of(sizes) + kTiny;
  double sum = 0.0;
  for (const double size : sizes) {
    sum += std::min(size, cut);
  }
  return sum / static_cast<double>(sizes.size());
}

/// Sizes of the errors at drawn places and channels.
class Sizes {
 public:
  explicit Sizes(const Grid& grid) : grid_(grid) {
    const std::size_t drawn = grid.drawn_places * grid.drawn_channels;
    std::size_t differing = 0;
    for (std::size_t row = 0; row < grid.drawn_places; ++row) {
      for (std::size_t column = 0; column < grid.drawn_channels; ++column) {
        differing += size(row, column) > 0.0 ? 1U : 0U;
      }
    }
    only_differing_ =
        static_cast<double>(differing) >= kDifferingShare * static_cast<double>(drawn);
  }

  /// False when too few of them differ to have a scale of their own.
  bool of_channel(std::size_t column) {
    return collect(grid_.drawn_places, [&](std::size_t row) { return size(row, column); });
  }
  bool of_place(std::size_t row) {
    return collect(grid_.drawn_channels, [&](std::size_t column) { return size(row, column); });
  }
  void of_all() {
    collect(grid_.drawn_places * grid_.drawn_channels, [&](std::size_t i) {
      return size(i / grid_.drawn_channels, i % grid_.drawn_channels);
    });
  }

  std::vector<double>& values() { return values_; }

 private:
  double size(std::size_t row, std::size_t column) const {
    return std::abs(grid_.error[row * grid_.columns() + column]);
  }

  template <typename SizeAt>
  bool collect(std::size_t count, const SizeAt& size_at) {
    values_.clear();
    for (std::size_t i = 0; i < count; ++i) {
      const double size = size_at(i);
      if (size > 0.0 || !only_differing_) {
        values_.push_back(size);
      }
    }
    return values_.size() >= std::min(kLeastDiffering, (count + 1) / 2);
  }

  const Grid& grid_;
  bool only_differing_ = false;
  std::vector<double> values_;
};

std::vector<double> channel_scales(const Grid& grid, Sizes& sizes) {
  std::vector<double> scales(grid.columns(), -1.0);
  bool all_known = true;
  for (std::size_t column = 0; column < scales.size(); ++column) {
    if (sizes.of_channel(column)) {
      scales[column] = cut_mean(sizes.values());
    }
    all_known = all_known && scales[column] >= 0.0;
  }
  if (!all_known) {
    sizes.of_all();
    const double common = cut_mean(sizes.values());
    std::replace_if(
        scales.begin(), scales.end(), [](double scale) { return scale < 0.0; }, common);
  }
  return scales;
}

// 0 where too few elements differ.
std::vector<double> place_scales(const Grid& grid, Sizes& sizes) {
  std::vector<double> scales(grid.places.size(), 0.0);
  for (std::size_t row = 0; row < scales.size(); ++row) {
    scales[row] = sizes.of_place(row) ? median_of(sizes.values()) : 0.0;
  }
  return scales;
}

// Over the drawn places that have a scale.
double drawn_mean(const std::vector<double>& scales, std::size_t drawn) {
  double sum = 0.0;
  std::size_t known = 0;
  for (std::size_t row = 0; row < drawn; ++row) {
    sum += scales[row];
    known += scales[row] > 0.0 ? 1U : 0U;
  }
  return known == 0 ? 0.0 : sum / static_cast<double>(known);
}

}  // namespace

std::vector<double> scale_variance(const Grid& grid, bool channels) {
  Sizes sizes(grid);
  if (!channels) {
    sizes.of_all();
    const double deviation = kDeviationOfMedian * median_of(sizes.values());
    return std::vector<double>(grid.size(), deviation * deviation);
  }
  const std::vector<double> of_channel = channel_scales(grid, sizes);
  const std::vector<double> of_place = place_scales(grid, sizes);
  const double mean = drawn_mean(of_place, grid.drawn_places);
  std::vector<double> variance;
  variance.reserve(grid.size());
  for (const double place : of_place) {
    const double share = std::max(place, 0.3 * mean) / std::max(mean, kTiny);
    for (const double channel : of_channel) {
      const double deviation = kDeviationOfMedian * channel * share;
      variance.push_back(deviation * deviation);
    }
  }
  return variance;
}

}  // namespace opdrift::verdict::judging
