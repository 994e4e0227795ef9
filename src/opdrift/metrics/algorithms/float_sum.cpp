#include "opdrift/metrics/algorithms/float_sum.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

namespace opdrift::metrics {

namespace {

constexpr std::size_t kRows = 4;
constexpr std::size_t kLevels = 4;

template <std::size_t N>
using Lanes = std::array<float, N>;

template <std::size_t N>
void add(Lanes<N>& sum, const float* values) {
  for (std::size_t i = 0; i < N; ++i) {
    sum[i] += values[i];
  }
}

/// Four running sums over groups of four vectors.
template <std::size_t N>
std::array<Lanes<N>, kRows> cascade(const float* values, std::size_t groups) {
  const auto bits = static_cast<std::size_t>(std::bit_width(groups == 0 ? 0 : groups - 1));
  const std::size_t power = std::max<std::size_t>(4, bits / kLevels);
  const std::size_t step = std::size_t{1} << power;
  std::array<std::array<Lanes<N>, kRows>, kLevels> sums{};
  const auto add_group = [&](std::size_t group) {
    for (std::size_t row = 0; row < kRows; ++row) {
      add<N>(sums[0][row], values + (group * kRows + row) * N);
    }
  };
  std::size_t done = 0;
  while (done + step <= groups) {
    for (std::size_t i = 0; i < step; ++i) {
      add_group(done++);
    }
    for (std::size_t level = 1; level < kLevels; ++level) {
      for (std::size_t row = 0; row < kRows; ++row) {
        add<N>(sums[level][row], sums[level - 1][row].data());
        sums[level - 1][row].fill(0.0F);
      }
      if ((done & ((step - 1) << (level * power))) != 0) {
        break;
      }
    }
  }
  while (done < groups) {
    add_group(done++);
  }
  for (std::size_t level = 1; level < kLevels; ++level) {
    for (std::size_t row = 0; row < kRows; ++row) {
      add<N>(sums[0][row], sums[level][row].data());
    }
  }
  return sums[0];
}

/// Sum of `count` vectors of N lanes.
template <std::size_t N>
Lanes<N> sum_vectors(const float* values, std::size_t count) {
  std::array<Lanes<N>, kRows> rows = cascade<N>(values, count / kRows);
  for (std::size_t i = count / kRows * kRows; i < count; ++i) {
    add<N>(rows[0], values + i * N);
  }
  for (std::size_t row = 1; row < kRows; ++row) {
    add<N>(rows[0], rows[row].data());
  }
  return rows[0];
}

}  // namespace

float torch_float_sum(std::span<const float> values) {
  constexpr std::size_t kWidth = 8;
  if (values.size() < kWidth) {
    return sum_vectors<1>(values.data(), values.size())[0];
  }
  const std::size_t vectors = values.size() / kWidth;
  const Lanes<kWidth> lanes = sum_vectors<kWidth>(values.data(), vectors);
  float sum = 0.0F;
  for (std::size_t i = vectors * kWidth; i < values.size(); ++i) {
    sum += values[i];
  }
  for (const float lane : lanes) {
    sum += lane;
  }
  return sum;
}

}  // namespace opdrift::metrics
