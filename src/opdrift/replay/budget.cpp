#include "opdrift/replay/budget.hpp"

#include <algorithm>
#include <cmath>

#include "opdrift/base/check.hpp"
#include "opdrift/replay/number_format.hpp"

namespace opdrift::replay {

namespace {

constexpr double kSmallestVariance = 0x1p-252;  // results below the fp32 normals may be flushed
constexpr std::size_t kPairwiseBlock = 256;

// Pairwise sums keep the error near log2(n) roundings. `term(i)` is never negative here.
template <typename Term>
double pairwise(std::size_t first, std::size_t last, const Term& term) {
  if (last - first <= kPairwiseBlock) {
    double sum = 0.0;
    for (std::size_t i = first; i < last; ++i) {
      sum += term(i);
    }
    return sum;
  }
  const std::size_t middle = first + (last - first) / 2;
  return pairwise(first, middle, term) + pairwise(middle, last, term);
}

double square(double x) {
  return x * x;
}

double entry(const std::vector<double>& list, std::size_t i) {
  return list.empty() ? 0.0 : list[i];
}

double finite_or_zero(double x) {
  return std::isfinite(x) ? x : 0.0;
}

// splitmix64: a bijection whose outputs pass for random even for counters.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31U);
}

// In (0, 1): 53 bits and a half, so that neither end occurs.
double uniform(std::uint64_t bits) {
  return (static_cast<double>(bits >> 11U) + 0.5) * 0x1p-53;
}

std::size_t channel_axis(std::size_t rank) {
  return rank >= 4 ? 1 : rank - 1;
}

}  // namespace

tensor::DType Precision::coarser() const {
  return replay::coarser(golden, target);
}

ValueClass class_of(double value) {
  if (std::isnan(value)) {
    return ValueClass::nan;
  }
  if (std::isinf(value)) {
    return value > 0.0 ? ValueClass::positive_inf : ValueClass::negative_inf;
  }
  return ValueClass::finite;
}

double norm(std::span<const double> values) {
  return std::sqrt(pairwise(0, values.size(), [&](std::size_t i) { return square(values[i]); }));
}

OwnError own_error(const Evidence& evidence, tensor::DType coarser_type) {
  const std::size_t count = evidence.golden.size();
  OPDRIFT_CHECK(evidence.target.size() == count && evidence.golden_replay.size() == count &&
                evidence.target_replay.size() == count);
  const double normal = smallest_normal(coarser_type);
  const double least = ulp(0.0, coarser_type);
  OwnError own;
  own.d.assign(count, 0.0);
  own.part.assign(count, 0);
  std::vector<double> golden_error(count, 0.0);
  for (std::size_t i = 0; i < count; ++i) {
    const double g = evidence.golden[i];
    const double t = evidence.target[i];
    const double fg = evidence.golden_replay[i];
    const double ft = evidence.target_replay[i];
    if (!std::isfinite(g) || !std::isfinite(t) || !std::isfinite(fg) || !std::isfinite(ft)) {
      continue;
    }
    own.part[i] = 1;
    golden_error[i] = g - fg;
    own.d[i] = (t - ft) - golden_error[i];
    if (t == 0.0 && own.d[i] != 0.0 && std::abs(ft) < normal) {
      own.d[i] = 0.0;
      // Not what rounding makes 0 anyway, nor what the golden's device flushes alike.
      own.flushed += std::abs(ft) > least / 2.0 && g != 0.0 ? 1U : 0U;
    }
  }
  own.self_check = norm(golden_error);
  return own;
}

std::vector<double> inner_variance(const OperatorKind& kind, const Terms& terms,
                                   std::span<const double> y, const Precision& precision) {
  const double function = square(2.0 * kind.ulps * precision.compute) / 3.0;
  const double floor = kind.saturating ? square(kind.ulps * precision.compute) / 3.0 : 0.0;
  const double accumulation = precision.inexact_sides * terms.n * square(precision.accumulator);
  const double operands = 2.0 * square(0.42 * precision.operands);
  std::vector<double> variances(y.size());
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double a2 = entry(terms.a2, i);
    const double y2 = square(y[i]);
    double v = function * y2 + floor + square(precision.compute) * entry(terms.extra, i) +
               entry(terms.weights, i);
    if (!terms.a2.empty()) {
      v += accumulation * (0.09 * a2 + 0.06 * y2) + operands * a2;
    }
    variances[i] = finite_or_zero(v);
  }
  return variances;
}

double storage_variance(double golden, double target, const Precision& precision) {
  const double largest = std::max(std::abs(golden), std::abs(target));
  if (!std::isfinite(largest)) {
    return 0.0;
  }
  // Cut off, the error is even in [-1, 0] ulp: mean square 1/3 instead of 1/12.
  const double sides = precision.storing_sides() + (precision.truncates ? 3.0 : 0.0);
  return sides * square(ulp(largest, precision.coarser())) / 12.0;
}

std::vector<double> variance(const Evidence& evidence, std::span<const double> inner,
                             const Precision& precision, double mean_golden_error) {
  const std::size_t count = evidence.golden.size();
  OPDRIFT_CHECK(evidence.target.size() == count && evidence.golden_replay.size() == count);
  OPDRIFT_CHECK(inner.empty() || inner.size() == count);
  OPDRIFT_CHECK(evidence.missing.empty() || evidence.missing.size() == count);
  const auto golden_error = [&](std::size_t i) {
    return finite_or_zero(evidence.golden[i] - evidence.golden_replay[i]);
  };
  if (!(mean_golden_error >= 0.0) && count > 0) {
    mean_golden_error = pairwise(0, count, [&](std::size_t i) { return square(golden_error(i)); }) /
                        static_cast<double>(count);
  }
  std::vector<double> sigma2(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double more = evidence.missing.empty() ? 0.0 : finite_or_zero(evidence.missing[i]);
    sigma2[i] = storage_variance(evidence.golden[i], evidence.target[i], precision) +
                (inner.empty() ? 0.0 : inner[i]) + kSmallestVariance + square(golden_error(i)) +
                mean_golden_error + more;
  }
  return sigma2;
}

double peak_factor(std::uint64_t count) {
  return 4.0 + std::sqrt(2.0 * std::log(static_cast<double>(std::max<std::uint64_t>(count, 2))));
}

Ratios ratios(std::span<const double> d, std::span<const double> sigma2,
              std::span<const std::uint8_t> counted, std::uint64_t population) {
  OPDRIFT_CHECK(d.size() == sigma2.size());
  OPDRIFT_CHECK(counted.empty() || counted.size() == d.size());
  Ratios result;
  result.own_norm = norm(d);
  result.budget = std::sqrt(pairwise(0, d.size(), [&](std::size_t i) {
    return counted.empty() || counted[i] != 0 ? sigma2[i] : 0.0;
  }));
  for (std::size_t i = 0; i < d.size(); ++i) {
    const double z = d[i] == 0.0 ? 0.0 : std::abs(d[i]) / std::sqrt(std::max(sigma2[i], 1e-300));
    // A NaN must come out as the worst, not be passed over.
    if (!std::isnan(result.z) && !(z <= result.z)) {
      result.z = z;
      result.worst = i;
    }
  }
  result.q_own = result.own_norm == 0.0 ? 0.0 : result.own_norm / result.budget;
  result.z_scaled = result.z / peak_factor(population);
  return result;
}

std::vector<std::uint8_t> finite_pairs(std::span<const double> golden,
                                       std::span<const double> target) {
  OPDRIFT_CHECK(golden.size() == target.size());
  std::vector<std::uint8_t> finite(golden.size());
  for (std::size_t i = 0; i < golden.size(); ++i) {
    finite[i] = std::isfinite(golden[i]) && std::isfinite(target[i]) ? 1 : 0;
  }
  return finite;
}

SpreadSum::SpreadSum(tensor::Shape shape) : shape_(std::move(shape)), sum_(count_of(shape_), 0.0) {}

void SpreadSum::add(std::span<const double> draw, std::span<const double> reference) {
  OPDRIFT_CHECK(draw.size() == sum_.size() && reference.size() == sum_.size());
  for (std::size_t i = 0; i < sum_.size(); ++i) {
    sum_[i] += square(finite_or_zero(draw[i] - reference[i]));
  }
  draws_ += 1.0;
}

std::vector<double> SpreadSum::finish() const {
  std::vector<double> spread(sum_.size(), 0.0);
  if (draws_ == 0.0 || sum_.empty()) {
    return spread;
  }
  const AxisSplit split = shape_.size() < 2 ? AxisSplit{1, 1, sum_.size()}
                                            : split_at(shape_, channel_axis(shape_.size()));
  std::vector<double> channels(split.extent, 0.0);
  const auto per_channel = static_cast<double>(split.outer * split.inner);
  for (std::size_t i = 0; i < sum_.size(); ++i) {
    channels[i / split.inner % split.extent] += sum_[i] / draws_ / per_channel;
  }
  for (std::size_t i = 0; i < sum_.size(); ++i) {
    spread[i] = sum_[i] / draws_ + channels[i / split.inner % split.extent] / 16.0;
  }
  return spread;
}

std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
  return mix(mix(seed) ^ mix(index * 2 + 1));
}

std::uint64_t random_in_part(std::uint64_t bits, std::uint64_t part, std::uint64_t parts,
                             std::uint64_t end) {
  const auto border = [&](std::uint64_t at) { return end / parts * at + end % parts * at / parts; };
  const std::uint64_t first = border(part);
  return first + bits % std::max<std::uint64_t>(1, border(part + 1) - first);
}

double normal_noise(std::uint64_t seed, std::uint64_t index) {
  constexpr double kTwoPi = 6.28318530717958647692;
  const std::uint64_t key = mix(seed) ^ mix(index * 2 + 1);
  const double radius = std::sqrt(-2.0 * std::log(uniform(mix(key))));
  return radius * std::cos(kTwoPi * uniform(mix(key + 1)));
}

Array widened(const Array& x, tensor::DType dtype, std::uint64_t seed) {
  const double share = 1.0 / std::sqrt(12.0);
  Array y = x;
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (std::isfinite(x.values[i])) {
      y.values[i] += ulp(x.values[i], dtype) * share * normal_noise(seed, i);
    }
  }
  return y;
}

std::vector<double> carried(std::span<const double> golden, std::span<const double> golden_replay,
                            std::span<const double> target_replay) {
  OPDRIFT_CHECK(golden.size() == golden_replay.size() && golden.size() == target_replay.size());
  std::vector<double> values(golden.size());
  for (std::size_t i = 0; i < golden.size(); ++i) {
    values[i] = target_replay[i] + finite_or_zero(golden[i] - golden_replay[i]);
  }
  return values;
}

std::vector<double> with_noise(std::span<const double> values, std::span<const double> sigma2,
                               std::uint64_t seed) {
  OPDRIFT_CHECK(values.size() == sigma2.size());
  std::vector<double> noisy(values.begin(), values.end());
  for (std::size_t i = 0; i < noisy.size(); ++i) {
    noisy[i] += std::sqrt(std::max(0.0, finite_or_zero(sigma2[i]))) * normal_noise(seed, i);
  }
  return noisy;
}

Bias truncation_bias(std::span<const double> target, std::span<const double> d,
                     tensor::DType coarser_type) {
  OPDRIFT_CHECK(target.size() == d.size());
  Bias bias;
  double sum = 0.0;
  for (std::size_t i = 0; i < d.size(); ++i) {
    const bool repeated = i > 0 && d[i] == d[i - 1] && target[i] == target[i - 1];
    if (d[i] != 0.0 && !repeated && std::isfinite(target[i]) && target[i] != 0.0) {
      sum += std::copysign(1.0, target[i]) * d[i] / ulp(target[i], coarser_type);
      ++bias.count;
    }
  }
  bias.mean = bias.count == 0 ? 0.0 : sum / static_cast<double>(bias.count);
  return bias;
}

}  // namespace opdrift::replay
