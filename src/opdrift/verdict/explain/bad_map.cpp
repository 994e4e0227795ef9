#include "opdrift/verdict/explain/bad_map.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace opdrift::verdict::refit {

namespace {

double rms(const IndexSums& sums) {
  return sums.n > 0.0 ? std::sqrt(sums.bb / sums.n) : 0.0;
}

double median_noise(const Evidence& evidence) {
  const Sample& sample = evidence.sample;
  const double scale = rms(evidence.profile.all);
  std::vector<double> ratios;
  for (std::size_t i = sample.focus; i < sample.index.size(); ++i) {
    const double size = std::max(std::abs(sample.b[i]), scale);
    if (size > 0.0) {
      ratios.push_back(std::abs(sample.t[i] - sample.b[i]) / size);
    }
  }
  if (ratios.empty()) {
    return 0.0;
  }
  const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
  std::nth_element(ratios.begin(), middle, ratios.end());
  return *middle;
}

void extend(std::vector<BadRun>& runs, const BadRun& run, bool& too_many) {
  if (!runs.empty() && run.first - runs.back().last <= kRunGap) {
    runs.back().last = run.last;
    runs.back().count += run.count;
  } else if (runs.size() < kMostRuns) {
    runs.push_back(run);
  } else {
    // The last one stands for everything behind it.
    runs.back().last = run.last;
    runs.back().count += run.count;
    too_many = true;
  }
}

/// One shard of the pass.
class ShardMap {
 public:
  ShardMap(const Evidence& evidence, double noise)
      : evidence_(&evidence),
        sigma_factor2_(evidence.most_sigmas() * evidence.most_sigmas()),
        noise_factor2_(256.0 * noise * noise),
        scale_(rms(evidence.profile.all)) {
    for (const AxisProfile& axis : evidence.profile.axes) {
      map_.axes.emplace_back(axis.entries.size());
    }
  }

  void take(std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t at = first; at < end; at += kTile) {
      tile(at, static_cast<std::size_t>(std::min<std::uint64_t>(kTile, end - at)));
    }
  }

  const BadMap& map() const { return map_; }

 private:
  void tile(std::uint64_t first, std::size_t count) {
    evidence_->base.read(first, count, b_.data());
    evidence_->target.read(first, count, t_.data());
    for (std::size_t i = 0; i < count; ++i) {
      const double larger = std::max(std::abs(b_[i]), std::abs(t_[i]));
      larger_[i] = std::isfinite(larger) ? larger : 0.0;
    }
    evidence_->variance(first, count, larger_.data(), variance_.data());
    for (std::size_t i = 0; i < count; ++i) {
      const double d = t_[i] - b_[i];
      const double size = std::max(std::abs(b_[i]), scale_);
      const double limit2 = sigma_factor2_ * variance_[i] + noise_factor2_ * size * size;
      if (std::isfinite(d) ? !(d * d <= limit2) : !same_class(b_[i], t_[i])) {
        mark(first + i);
        map_.error2 += std::isfinite(d) ? d * d : 0.0;
      }
    }
  }

  static bool same_class(double b, double t) { return b == t || (std::isnan(b) && std::isnan(t)); }

  void mark(std::uint64_t index) {
    ++map_.count;
    extend(map_.runs, {index, index, 1}, map_.too_many_runs);
    std::uint64_t rest = index;
    for (std::size_t k = evidence_->shape.size(); k-- > 0;) {
      const std::uint64_t at = rest % evidence_->shape[k];
      rest /= evidence_->shape[k];
      ++map_.axes[k][static_cast<std::size_t>(at / evidence_->profile.axes[k].width)];
    }
  }

  const Evidence* evidence_;
  double sigma_factor2_;
  double noise_factor2_;
  double scale_;
  BadMap map_;
  std::array<double, kTile> b_ = {};
  std::array<double, kTile> t_ = {};
  std::array<double, kTile> larger_ = {};
  std::array<double, kTile> variance_ = {};
};

Status map_with_noise(Evidence& evidence, double noise) {
  std::vector<ShardMap> shards(shard_count(evidence.count()), ShardMap(evidence, noise));
  const Profile& profile = evidence.profile;
  OPDRIFT_CHECK_OK(
      for_shards(evidence, [&](std::size_t shard, std::uint64_t first, std::uint64_t end) {
        const auto chunk = static_cast<std::size_t>(first / profile.chunk);
        if (profile.chunk_bad[chunk] > 0) {
          shards[shard].take(first, end);
        }
      }));
  BadMap& bad = evidence.bad;
  bad = BadMap{};
  bad.noise = noise;
  bad.axes.resize(profile.axes.size());
  for (std::size_t k = 0; k < bad.axes.size(); ++k) {
    bad.axes[k].resize(profile.axes[k].entries.size());
  }
  for (const ShardMap& shard : shards) {
    bad.count += shard.map().count;
    bad.error2 += shard.map().error2;
    bad.too_many_runs = bad.too_many_runs || shard.map().too_many_runs;
    for (const BadRun& run : shard.map().runs) {
      extend(bad.runs, run, bad.too_many_runs);
    }
    for (std::size_t k = 0; k < bad.axes.size(); ++k) {
      for (std::size_t i = 0; i < bad.axes[k].size(); ++i) {
        bad.axes[k][i] += shard.map().axes[k][i];
      }
    }
  }
  return Unit{};
}

}  // namespace

Status map_bad_elements(Evidence& evidence) {
  constexpr double kMostNoise = 1.0 / 32.0;
  const double noise = median_noise(evidence);
  OPDRIFT_CHECK_OK(map_with_noise(evidence, noise));
  const bool classes = evidence.profile.class_mismatches > 0;
  const bool fault =
      !classes && noise > kMostNoise && evidence.bad.error2 < evidence.profile.all.dd / 2.0;
  if ((evidence.bad.count == 0 || fault) && noise > 0.0) {
    return map_with_noise(evidence, 0.0);
  }
  return Unit{};
}

}  // namespace opdrift::verdict::refit
