#include "opdrift/verdict/judge/shape_grid.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "opdrift/verdict/judge/survey.hpp"

namespace opdrift::verdict::judging {

namespace {

constexpr std::uint64_t kDrawnElements = 8192;
constexpr std::uint64_t kDrawnChannels = 64;
constexpr std::uint64_t kDrawnPlaces = 128;  // a mean of so many sizes is 7 % off
constexpr std::uint64_t kMostPlaces = 2048;

// All of `count` numbers when they are few, else `wanted` drawn ones, rising.
std::vector<std::uint64_t> draw(std::uint64_t count, std::uint64_t wanted, std::uint64_t seed) {
  if (count > 2 * wanted) {
    std::vector<std::uint64_t> drawn =
        random_positions(count, static_cast<std::size_t>(wanted), seed);
    drawn.erase(std::unique(drawn.begin(), drawn.end()), drawn.end());
    return drawn;
  }
  std::vector<std::uint64_t> all(count);
  std::iota(all.begin(), all.end(), std::uint64_t{0});
  return all;
}

// Adds those that were not drawn, rising.
void add_others(std::vector<std::uint64_t> others, std::vector<std::uint64_t>& drawn) {
  std::sort(others.begin(), others.end());
  others.erase(std::unique(others.begin(), others.end()), others.end());
  std::erase_if(others, [&](std::uint64_t one) {
    return std::binary_search(drawn.begin(), drawn.end(), one);
  });
  drawn.insert(drawn.end(), others.begin(), others.end());
}

void choose(const GridOptions& options, Grid& grid) {
  const replay::AxisSplit& split = grid.split;
  const std::uint64_t places = split.outer * split.inner;
  const bool small = grid.population() <= options.whole_up_to;
  grid.channels = draw(split.extent, small ? split.extent : kDrawnChannels, options.seed);
  const std::uint64_t wanted = std::clamp(
      kDrawnElements / std::max<std::uint64_t>(grid.channels.size(), 1), kDrawnPlaces, kMostPlaces);
  grid.places = draw(places, small ? places : wanted, options.seed + 1);
  grid.drawn_channels = grid.channels.size();
  grid.drawn_places = grid.places.size();
  std::vector<std::uint64_t> other_places;
  std::vector<std::uint64_t> other_channels;
  for (const std::uint64_t position : options.standing_out) {
    const std::uint64_t line = position / split.inner;
    other_places.push_back(line / split.extent * split.inner + position % split.inner);
    other_channels.push_back(line % split.extent);
  }
  add_others(std::move(other_places), grid.places);
  add_others(std::move(other_channels), grid.channels);
}

std::vector<double> read_table(const Reader& reader, const Grid& grid) {
  const std::int64_t origin = reader.locate(0);
  std::vector<std::int64_t> steps;
  for (const std::uint64_t channel : grid.channels) {
    steps.push_back(reader.locate(channel * grid.split.inner) - origin);
  }
  std::vector<double> values(grid.places.size() * grid.columns());
  for (std::size_t row = 0; row < grid.places.size(); ++row) {
    const std::uint64_t place = grid.places[row];
    const std::uint64_t first =
        place / grid.split.inner * grid.split.extent * grid.split.inner + place % grid.split.inner;
    reader.read_located(reader.locate(first), steps, values.data() + row * grid.columns());
  }
  return values;
}

}  // namespace

std::uint64_t Grid::position(std::size_t i) const {
  const std::uint64_t place = places[i / columns()];
  return (place / split.inner * split.extent + channels[i % columns()]) * split.inner +
         place % split.inner;
}

Grid read_grid(const Reader& golden, const Reader& target, const GridOptions& options) {
  const tensor::Shape& shape = golden.shape();
  Grid grid;
  grid.split = shape.size() < 2
                   ? replay::AxisSplit{static_cast<std::size_t>(replay::count_of(shape)), 1, 1}
                   : replay::split_at(shape, options.axis);
  choose(options, grid);
  grid.golden = read_table(golden, grid);
  grid.target = read_table(target, grid);
  grid.error.resize(grid.golden.size());
  for (std::size_t i = 0; i < grid.error.size(); ++i) {
    const bool finite = std::isfinite(grid.golden[i]) && std::isfinite(grid.target[i]);
    grid.error[i] = finite ? grid.target[i] - grid.golden[i] : 0.0;
  }
  return grid;
}

}  // namespace opdrift::verdict::judging
