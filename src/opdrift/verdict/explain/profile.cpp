#include "opdrift/verdict/explain/profile.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace opdrift::verdict::refit {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Class of an element: 0 finite, 1 NaN, 2 +Inf, 3 -Inf.
int class_of(double x) {
  return std::isfinite(x) ? 0 : std::isnan(x) ? 1 : x > 0.0 ? 2 : 3;
}

AxisProfile empty_axis(std::uint64_t extent) {
  AxisProfile axis;
  axis.extent = extent;
  axis.width = (extent + kMostEntries - 1) / kMostEntries;
  axis.entries.resize(static_cast<std::size_t>((extent + axis.width - 1) / axis.width));
  return axis;
}

/// One shard of the pass.
class ShardProfile {
 public:
  explicit ShardProfile(const Evidence& evidence)
      : evidence_(&evidence), most_sigmas2_(evidence.most_sigmas() * evidence.most_sigmas()) {
    for (const std::uint64_t extent : evidence.shape) {
      profile_.axes.push_back(empty_axis(extent));
    }
    profile_.min_b = profile_.min_t = profile_.min_all_t = kInfinity;
    profile_.max_b = profile_.max_t = profile_.max_all_t = -kInfinity;
  }

  /// Elements [first, end); returns their squared error and how many are bad.
  std::pair<double, std::uint32_t> take(std::uint64_t first, std::uint64_t end) {
    const double before = profile_.all.dd;
    const std::uint64_t bad = profile_.class_mismatches + beyond_;
    for (std::uint64_t at = first; at < end; at += kTile) {
      tile(at, static_cast<std::size_t>(std::min<std::uint64_t>(kTile, end - at)));
    }
    return {profile_.all.dd - before,
            static_cast<std::uint32_t>(profile_.class_mismatches + beyond_ - bad)};
  }

  void merge_into(Profile& total) const;

 private:
  void tile(std::uint64_t first, std::size_t count) {
    evidence_->base.read(first, count, b_.data());
    evidence_->target.read(first, count, t_.data());
    leave_out_nonfinite(count);
    extremes(count);
    rounding(first, count);
    RowWalk walk(evidence_->shape, first);
    for (std::size_t at = 0; at < count;) {
      const auto run =
          static_cast<std::size_t>(std::min<std::uint64_t>(walk.rest_of_row(), count - at));
      row(walk.coordinates(), at, run);
      walk.advance(run);
      at += run;
    }
  }

  // Pairs that do not count become 0 and 0, with weight 0.
  void leave_out_nonfinite(std::size_t count) {
    std::fill_n(weight_.begin(), count, 1.0);
    for (std::size_t i = 0; i < count; ++i) {
      if (std::abs(b_[i]) <= std::numeric_limits<double>::max() &&
          std::abs(t_[i]) <= std::numeric_limits<double>::max()) {
        continue;
      }
      const int target_class = class_of(t_[i]);
      profile_.class_mismatches += class_of(b_[i]) != target_class ? 1U : 0U;
      profile_.target_nonfinite += target_class != 0 ? 1U : 0U;
      if (target_class == 0) {
        profile_.min_all_t = std::min(profile_.min_all_t, t_[i]);
        profile_.max_all_t = std::max(profile_.max_all_t, t_[i]);
      }
      ++profile_.nonfinite;
      weight_[i] = b_[i] = t_[i] = 0.0;
    }
  }

  void extremes(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      if (weight_[i] == 0.0) {
        continue;
      }
      profile_.min_b = std::min(profile_.min_b, b_[i]);
      profile_.max_b = std::max(profile_.max_b, b_[i]);
      if (t_[i] <= profile_.min_t) {
        profile_.at_min_t = t_[i] == profile_.min_t ? profile_.at_min_t + 1 : 1;
        profile_.min_t = t_[i];
      }
      if (t_[i] >= profile_.max_t) {
        profile_.at_max_t = t_[i] == profile_.max_t ? profile_.at_max_t + 1 : 1;
        profile_.max_t = t_[i];
      }
    }
  }

  void rounding(std::uint64_t first, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      larger_[i] = std::max(std::abs(b_[i]), std::abs(t_[i]));
    }
    evidence_->variance(first, count, larger_.data(), variance_.data());
    double budget = 0.0;
    double bias = 0.0;
    std::uint64_t different = 0;
    std::uint64_t beyond = 0;
    for (std::size_t i = 0; i < count; ++i) {
      budget += variance_[i] * weight_[i];
      const double d = t_[i] - b_[i];
      different += d != 0.0 ? 1U : 0U;
      beyond += d * d > most_sigmas2_ * variance_[i] ? 1U : 0U;
      bias += std::copysign(d, d * t_[i]) * inverse_ulp(larger_[i], evidence_->format);
    }
    profile_.budget2 += budget;
    profile_.bias += bias;
    profile_.different += different;
    beyond_ += beyond;
  }

  void row(const std::vector<std::uint64_t>& coordinates, std::size_t at, std::size_t count) {
    AxisProfile& last = profile_.axes.back();
    IndexSums sums;
    for (std::size_t i = 0; i < count; ++i) {
      const double b = b_[at + i];
      const double t = t_[at + i];
      const double d = t - b;
      const IndexSums one{weight_[at + i], b,     t,     b * b,
                          t * t,           b * t, d * d, variance_[at + i] * weight_[at + i]};
      sums.add(one);
      if (last.width == 1) {
        last.entries[static_cast<std::size_t>(coordinates.back()) + i].add(one);
      } else {
        last.entries[static_cast<std::size_t>((coordinates.back() + i) / last.width)].add(one);
      }
    }
    profile_.all.add(sums);
    for (std::size_t k = 0; k + 1 < profile_.axes.size(); ++k) {
      AxisProfile& axis = profile_.axes[k];
      axis.entries[static_cast<std::size_t>(coordinates[k] / axis.width)].add(sums);
    }
  }

  const Evidence* evidence_;
  double most_sigmas2_;
  std::uint64_t beyond_ = 0;  // finite pairs beyond so many sigmas
  Profile profile_;
  std::array<double, kTile> b_ = {};
  std::array<double, kTile> t_ = {};
  std::array<double, kTile> weight_ = {};
  std::array<double, kTile> larger_ = {};
  std::array<double, kTile> variance_ = {};
};

void merge_extreme(double& total, std::uint64_t& total_count, double part, std::uint64_t count,
                   bool part_is_further) {
  if (part == total) {
    total_count += count;
  } else if (part_is_further) {
    total = part;
    total_count = count;
  }
}

void ShardProfile::merge_into(Profile& total) const {
  total.all.add(profile_.all);
  total.budget2 += profile_.budget2;
  total.class_mismatches += profile_.class_mismatches;
  total.nonfinite += profile_.nonfinite;
  total.target_nonfinite += profile_.target_nonfinite;
  total.different += profile_.different;
  total.bias += profile_.bias;
  total.min_b = std::min(total.min_b, profile_.min_b);
  total.max_b = std::max(total.max_b, profile_.max_b);
  merge_extreme(total.min_t, total.at_min_t, profile_.min_t, profile_.at_min_t,
                profile_.min_t < total.min_t);
  merge_extreme(total.max_t, total.at_max_t, profile_.max_t, profile_.at_max_t,
                profile_.max_t > total.max_t);
  total.min_all_t = std::min(total.min_all_t, profile_.min_all_t);
  total.max_all_t = std::max(total.max_all_t, profile_.max_all_t);
  for (std::size_t k = 0; k < total.axes.size(); ++k) {
    for (std::size_t i = 0; i < total.axes[k].entries.size(); ++i) {
      total.axes[k].entries[i].add(profile_.axes[k].entries[i]);
    }
  }
}

}  // namespace

Status take_profile(Evidence& evidence) {
  const std::uint64_t count = evidence.count();
  Profile& profile = evidence.profile;
  profile = Profile{};
  profile.chunk = (count / kMostChunks / kTile + 1) * kTile;
  const auto chunks = static_cast<std::size_t>((count + profile.chunk - 1) / profile.chunk);
  profile.chunk_dd.resize(chunks);
  profile.chunk_bad.resize(chunks);
  std::vector<ShardProfile> shards(shard_count(count), ShardProfile(evidence));
  OPDRIFT_CHECK_OK(for_shards(evidence, [&](std::size_t shard, std::uint64_t first,
                                            std::uint64_t end) {
    const auto chunk = static_cast<std::size_t>(first / profile.chunk);
    std::tie(profile.chunk_dd[chunk], profile.chunk_bad[chunk]) = shards[shard].take(first, end);
  }));
  for (const std::uint64_t extent : evidence.shape) {
    profile.axes.push_back(empty_axis(extent));
  }
  profile.min_b = profile.min_t = profile.min_all_t = kInfinity;
  profile.max_b = profile.max_t = profile.max_all_t = -kInfinity;
  for (const ShardProfile& shard : shards) {
    shard.merge_into(profile);
  }
  profile.min_all_t = std::min(profile.min_all_t, profile.min_t);
  profile.max_all_t = std::max(profile.max_all_t, profile.max_t);
  profile.bias =
      profile.different > 0 ? profile.bias / static_cast<double>(profile.different) : 0.0;
  return Unit{};
}

}  // namespace opdrift::verdict::refit
