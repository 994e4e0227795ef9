#include "opdrift/verdict/judge/shape_tier.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "opdrift/replay/budget.hpp"
#include "opdrift/verdict/judge/input_energy.hpp"
#include "opdrift/verdict/judge/median.hpp"
#include "opdrift/verdict/judge/operator_judge.hpp"
#include "opdrift/verdict/judge/shape_grid.hpp"
#include "opdrift/verdict/judge/shape_scales.hpp"

namespace opdrift::verdict::judging {

namespace {

constexpr double kMedianOfChiSquared = 0.455;
constexpr double kTiny = 1e-300;
constexpr std::size_t kLeastPlaces = 8;
constexpr std::uint64_t kSeedPurpose = 8;
constexpr std::uint64_t kBytesPerElement = 64;

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
  std::vector<double> variance = scale_variance(grid, rank >= 2);
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
