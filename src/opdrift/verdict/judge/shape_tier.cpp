#include "opdrift/verdict/judge/shape_tier.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "opdrift/replay/budget.hpp"
#include "opdrift/verdict/judge/input_energy.hpp"
#include "opdrift/verdict/judge/operator_judge.hpp"
#include "opdrift/verdict/judge/shape_grid.hpp"

namespace opdrift::verdict::judging {

namespace {

constexpr double kDeviationOfMedian = 1.4826;
constexpr double kMedianOfChiSquared = 0.455;
constexpr double kTiny = 1e-300;
constexpr std::size_t kLeastPlaces = 8;
constexpr std::uint64_t kSeedPurpose = 8;
constexpr std::uint64_t kBytesPerElement = 64;

double median_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Mean of |e| per channel over the drawn places, each value cut at four times their median.
std::vector<double> channel_scales(const Grid& grid) {
  std::vector<double> scales(grid.columns(), 0.0);
  std::vector<double> values(grid.drawn_places);
  for (std::size_t column = 0; column < scales.size(); ++column) {
    for (std::size_t row = 0; row < values.size(); ++row) {
      values[row] = std::abs(grid.error[row * grid.columns() + column]);
    }
    const double cut = 4.0 * median_of(values) + kTiny;
    double sum = 0.0;
    for (const double value : values) {
      sum += std::min(value, cut);
    }
    scales[column] = sum / static_cast<double>(values.size());
  }
  return scales;
}

// Median of |e| over the drawn channels, per place.
std::vector<double> place_scales(const Grid& grid) {
  std::vector<double> scales(grid.places.size(), 0.0);
  std::vector<double> values(grid.drawn_channels);
  for (std::size_t row = 0; row < scales.size(); ++row) {
    for (std::size_t column = 0; column < values.size(); ++column) {
      values[column] = std::abs(grid.error[row * grid.columns() + column]);
    }
    scales[row] = median_of(values);
  }
  return scales;
}

double drawn_mean(const std::vector<double>& scales, std::size_t drawn) {
  double mean = 0.0;
  for (std::size_t row = 0; row < drawn; ++row) {
    mean += scales[row] / static_cast<double>(drawn);
  }
  return mean;
}

std::vector<double> row_channel_variance(const Grid& grid) {
  const std::vector<double> channels = channel_scales(grid);
  const std::vector<double> places = place_scales(grid);
  const double mean = drawn_mean(places, grid.drawn_places);
  std::vector<double> variance;
  variance.reserve(grid.size());
  for (const double place : places) {
    const double share = std::max(place, 0.3 * mean) / std::max(mean, kTiny);
    for (const double channel : channels) {
      const double deviation = kDeviationOfMedian * channel * share;
      variance.push_back(deviation * deviation);
    }
  }
  return variance;
}

// Without channels: one scale for all.
std::vector<double> plain_variance(const Grid& grid) {
  std::vector<double> sizes;
  for (std::size_t row = 0; row < grid.drawn_places; ++row) {
    sizes.push_back(std::abs(grid.error[row]));
  }
  const double deviation = kDeviationOfMedian * median_of(sizes);
  return std::vector<double>(grid.size(), deviation * deviation);
}

/// e^2 / B of entries that an input error reaches.
class Shares {
 public:
  Shares(const Grid& grid, const std::vector<double>& energy) : grid_(grid), energy_(energy) {}

  void take_column(std::size_t column, std::size_t rows) {
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t i = row * grid_.columns() + column;
      if (energy_[i] > 0.0) {
        values_.push_back(grid_.error[i] * grid_.error[i] / energy_[i]);
      }
    }
  }

  /// Their scale, and starts anew; nothing when they are few.
  std::optional<double> gamma() {
    std::vector<double> values = std::move(values_);
    values_.clear();
    return values.size() < kLeastPlaces ? std::nullopt
                                        : std::optional(median_of(values) / kMedianOfChiSquared);
  }

 private:
  const Grid& grid_;
  const std::vector<double>& energy_;
  std::vector<double> values_;
};

// That of all channels; where the drawn places miss the input error, of the places that stand out.
double common_gamma(const Grid& grid, Shares& shares) {
  for (const std::size_t rows : {grid.drawn_places, grid.places.size()}) {
    for (std::size_t column = 0; column < grid.columns(); ++column) {
      shares.take_column(column, rows);
    }
    if (const std::optional<double> gamma = shares.gamma()) {
      return *gamma;
    }
  }
  return 0.0;
}

// Raises the variance to gamma_o B, gamma_o robustly fitted per output channel.
void raise_to_profile(const Grid& grid, const std::vector<double>& energy,
                      std::vector<double>& variance) {
  Shares shares(grid, energy);
  std::optional<double> common;
  for (std::size_t column = 0; column < grid.columns(); ++column) {
    shares.take_column(column, grid.drawn_places);
    std::optional<double> gamma = shares.gamma();
    if (!gamma) {
      common = common ? common : common_gamma(grid, shares);
      gamma = common;
    }
    for (std::size_t i = column; i < grid.size(); i += grid.columns()) {
      variance[i] = std::max(variance[i], *gamma * energy[i]);
    }
  }
}

// Adds what storage may err by. Returns the sum over the whole tensor, by the drawn entries.
double add_storage(const Grid& grid, const replay::Precision& precision,
                   std::vector<double>& variance) {
  double drawn = 0.0;
  for (std::size_t i = 0; i < grid.size(); ++i) {
    const double own = replay::storage_variance(grid.golden[i], grid.target[i], precision);
    variance[i] += own + kTiny;
    const bool counts =
        i / grid.columns() < grid.drawn_places && i % grid.columns() < grid.drawn_channels;
    drawn += counts ? own : 0.0;
  }
  return drawn * (static_cast<double>(grid.population()) /
                  static_cast<double>(grid.drawn_places * grid.drawn_channels));
}

}  // namespace

void judge_by_shape(const Context& context, ValueId value, const Reader& golden,
                    const Reader& target, std::span<const std::uint64_t> standing_out,
                    Found& found) {
  const ValueFacts& facts = context.facts.values[value];
  if (facts.golden_count == 0) {
    return;
  }
  const ProblemOperator& op = context.problem.operators[facts.producer];
  const std::size_t rank = facts.shape.size();
  GridOptions options;
  options.axis = rank < 2 ? 0 : channel_axis(op, rank);
  options.seed = seed_of(value, kSeedPurpose);
  options.standing_out = standing_out;
  if (context.options.strongest == Tier::replay) {
    options.whole_up_to = context.options.memory_budget / kBytesPerElement;
  }
  const Grid grid = read_grid(golden, target, options);
  std::vector<double> variance = rank < 2 ? plain_variance(grid) : row_channel_variance(grid);
  if (const auto energy = input_energy(context, op, grid, facts.shape)) {
    raise_to_profile(grid, *energy, variance);
    found.shaped = true;
  }
  replay::Precision precision;
  precision.golden = facts.golden_dtype;
  precision.target = facts.target_dtype;
  precision.truncates = context.assume.truncation;
  found.budget = std::sqrt(add_storage(grid, precision, variance));
  const replay::Ratios ratios = replay::ratios(grid.error, variance, {}, grid.population());
  Judgement& judgement = found.judgement;
  judgement.z = ratios.z_scaled;
  judgement.tier = Tier::shape;
  judgement.sampled = grid.whole() ? 0 : grid.size();
  if (judgement.new_classes == 0) {
    judgement.worst = grid.position(ratios.worst);
    judgement.worst_golden = grid.golden[ratios.worst];
    judgement.worst_target = grid.target[ratios.worst];
  }
}

}  // namespace opdrift::verdict::judging
