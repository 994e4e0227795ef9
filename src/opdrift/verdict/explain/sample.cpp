#include "opdrift/verdict/explain/sample.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace opdrift::verdict::refit {

namespace {

void append(Evidence& evidence, std::uint64_t index) {
  const double b = evidence.base.at(index);
  const double t = evidence.target.at(index);
  if (!std::isfinite(b) || !std::isfinite(t)) {
    return;
  }
  const double larger = std::max(std::abs(b), std::abs(t));
  double variance = 0.0;
  evidence.variance(index, 1, &larger, &variance);
  evidence.sample.index.push_back(index);
  evidence.sample.b.push_back(b);
  evidence.sample.t.push_back(t);
  evidence.sample.sigma2.push_back(variance);
}

/// Running sums of squared errors of the elements [first, first + out.size()).
void cumulate(const Evidence& evidence, std::uint64_t first, std::vector<double>& out) {
  std::vector<double> b(out.size());
  evidence.base.read(first, b.size(), b.data());
  evidence.target.read(first, out.size(), out.data());
  double sum = 0.0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double d = out[i] - b[i];
    sum += std::isfinite(d) ? d * d : 0.0;
    out[i] = sum;
  }
}

/// Draws elements by squared error: levels of the cumulated error, met in rising order, so each
/// chunk is read once.
void draw_focus(Evidence& evidence, Dice& dice) {
  const Profile& profile = evidence.profile;
  const double total = std::accumulate(profile.chunk_dd.begin(), profile.chunk_dd.end(), 0.0);
  if (!(total > 0.0) || !std::isfinite(total)) {
    return;
  }
  std::vector<double> levels(kSampleHalf);
  for (double& level : levels) {
    level = dice.unit() * total;
  }
  std::sort(levels.begin(), levels.end());
  double below = 0.0;
  std::size_t next = 0;
  for (std::size_t chunk = 0; chunk < profile.chunk_dd.size() && next < levels.size(); ++chunk) {
    const double above = below + profile.chunk_dd[chunk];
    if (levels[next] < above && profile.chunk_dd[chunk] > 0.0) {
      const std::uint64_t first = chunk * profile.chunk;
      std::vector<double> sums(
          static_cast<std::size_t>(std::min(profile.chunk, evidence.count() - first)));
      cumulate(evidence, first, sums);
      for (; next < levels.size() && levels[next] < above; ++next) {
        // Lower edge, so that an element without error is never met.
        const auto at = std::upper_bound(sums.begin(), sums.end(), levels[next] - below);
        if (at != sums.end()) {
          append(evidence, first + static_cast<std::uint64_t>(at - sums.begin()));
        }
      }
    }
    below = above;
  }
}

}  // namespace

std::uint64_t Dice::next() {
  // splitmix64 (Steele, Lea, Flood 2014)
  state_ += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

std::uint64_t Dice::below(std::uint64_t bound) {
  return next() % bound;
}

double Dice::unit() {
  return static_cast<double>(next() >> 11U) * 0x1p-53;
}

void draw_sample(Evidence& evidence) {
  evidence.sample = Sample{};
  Dice dice;
  draw_focus(evidence, dice);
  evidence.sample.focus = evidence.sample.index.size();
  const std::uint64_t count = evidence.count();
  if (count <= kSampleHalf) {
    for (std::uint64_t i = 0; i < count; ++i) {
      append(evidence, i);
    }
    return;
  }
  for (std::size_t i = 0; i < kSampleHalf; ++i) {
    append(evidence, dice.below(count));
  }
}

double estimated_rest(const Evidence& evidence, std::span<const double> predicted) {
  const Sample& sample = evidence.sample;
  const double error2 = evidence.profile.all.dd;
  double focus_sum = 0.0;
  double focus_count = 0.0;
  double even_sum = 0.0;
  double even_count = 0.0;
  for (std::size_t i = 0; i < sample.index.size(); ++i) {
    if (std::isnan(predicted[i])) {
      continue;
    }
    const double left = sample.t[i] - predicted[i];
    const double d = sample.t[i] - sample.b[i];
    if (i < sample.focus) {
      focus_sum += std::min(4.0, left * left / (d * d));
      focus_count += 1.0;
    } else {
      even_sum += d == 0.0 ? left * left : 0.0;
      even_count += 1.0;
    }
  }
  if (focus_count == 0.0) {
    return 1.0;
  }
  const double unseen =
      even_count > 0.0 ? even_sum / even_count * static_cast<double>(evidence.count()) : 0.0;
  return focus_sum / focus_count + (unseen > 0.0 ? unseen / error2 : 0.0);
}

}  // namespace opdrift::verdict::refit
