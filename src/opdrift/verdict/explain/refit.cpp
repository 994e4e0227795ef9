#include "opdrift/verdict/explain/refit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

#include "opdrift/verdict/explain/sample.hpp"

namespace opdrift::verdict::refit {

namespace {

/// More of the error than this may not be left at the sample.
constexpr double kMostRest = 0.05;

bool same_class(double one, double other) {
  return std::isfinite(one) ? std::isfinite(other)
                            : one == other || (std::isnan(one) && std::isnan(other));
}

/// One shard of a confirmation.
class ShardRest {
 public:
  ShardRest(const Evidence& evidence, const Refit& refit) : evidence_(&evidence), refit_(&refit) {}

  void take(std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t at = first; at < end; at += kTile) {
      tile(at, static_cast<std::size_t>(std::min<std::uint64_t>(kTile, end - at)));
    }
  }

  const Rest& rest() const { return rest_; }

 private:
  void tile(std::uint64_t first, std::size_t count) {
    evidence_->base.read(first, count, b_.data());
    evidence_->target.read(first, count, t_.data());
    refit_->predict(first, count, b_.data(), r_.data());
    for (std::size_t i = 0; i < count; ++i) {
      const double larger = std::max(std::abs(r_[i]), std::abs(t_[i]));
      larger_[i] = larger <= std::numeric_limits<double>::max() ? larger : 0.0;
    }
    evidence_->variance(first, count, larger_.data(), variance_.data());
    Rest sums;
    for (std::size_t i = 0; i < count; ++i) {
      pair(i, sums);
    }
    rest_.add(sums);
  }

  void pair(std::size_t i, Rest& sums) const {
    const double b = b_[i];
    const double t = t_[i];
    const double r = r_[i];
    const double d = t - b;
    const double left = t - r;
    if (std::isfinite(d) && std::isfinite(left)) {
      ++sums.pairs;
      sums.left2 += left * left;
      sums.error2 += d * d;
      sums.budget2 += variance_[i];
      sums.golden2 += b * b;
      sums.sum_t += t;
      sums.sum_t2 += t * t;
      return;
    }
    if (std::isnan(r) && std::isfinite(b)) {
      ++sums.unsaid;
      return;
    }
    sums.classes_before += same_class(b, t) ? 0U : 1U;
    sums.classes_left += same_class(r, t) ? 0U : 1U;
  }

  const Evidence* evidence_;
  const Refit* refit_;
  Rest rest_;
  std::array<double, kTile> b_ = {};
  std::array<double, kTile> t_ = {};
  std::array<double, kTile> r_ = {};
  std::array<double, kTile> larger_ = {};
  std::array<double, kTile> variance_ = {};
};

}  // namespace

void Rest::add(const Rest& other) {
  pairs += other.pairs;
  unsaid += other.unsaid;
  left2 += other.left2;
  error2 += other.error2;
  budget2 += other.budget2;
  golden2 += other.golden2;
  sum_t += other.sum_t;
  sum_t2 += other.sum_t2;
  classes_left += other.classes_left;
  classes_before += other.classes_before;
}

double Rest::explained() const {
  if (!(error2 > 0.0)) {
    return classes_before == 0
               ? 0.0
               : 1.0 - static_cast<double>(classes_left) / static_cast<double>(classes_before);
  }
  return std::clamp(1.0 - left2 / error2, 0.0, 1.0);
}

double Rest::residual() const {
  if (left2 == 0.0) {
    return 0.0;
  }
  return golden2 > 0.0 ? std::sqrt(left2 / golden2) : std::numeric_limits<double>::infinity();
}

bool Rest::exact() const {
  const bool better = left2 <= error2 / 4.0 && (error2 > 0.0 || classes_before > 0);
  return better && left2 <= 16.0 * budget2 && classes_left == 0;
}

bool Rest::most() const {
  if (pairs == 0 || !(error2 > 0.0)) {
    return false;
  }
  const double n = static_cast<double>(pairs);
  const double spread = sum_t2 - sum_t / n * sum_t;
  return left2 <= error2 / 100.0 && left2 <= spread / 100.0 && classes_left * 100 <= classes_before;
}

Result<Rest> confirm(const Evidence& evidence, const Refit& refit) {
  std::vector<ShardRest> shards(shard_count(evidence.count()), ShardRest(evidence, refit));
  OPDRIFT_CHECK_OK(
      for_shards(evidence, [&](std::size_t shard, std::uint64_t first, std::uint64_t end) {
        shards[shard].take(first, end);
      }));
  Rest total;
  for (const ShardRest& shard : shards) {
    total.add(shard.rest());
  }
  return total;
}

std::vector<double> predict_sample(const Evidence& evidence, const Refit& refit) {
  const Sample& sample = evidence.sample;
  std::vector<double> predicted(sample.index.size());
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    refit.predict(sample.index[i], 1, &sample.b[i], &predicted[i]);
  }
  return predicted;
}

void offer(const Evidence& evidence, Candidates& candidates, Candidate candidate) {
  if (evidence.sample.focus > 0 &&
      !(estimated_rest(evidence, predict_sample(evidence, *candidate.refit)) <= kMostRest)) {
    return;
  }
  candidates.push_back(std::move(candidate));
}

std::string number(double value, int digits) {
  std::array<char, 40> text = {};
  std::snprintf(text.data(), text.size(), "%.*g", digits, value);
  return text.data();
}

std::string axis_word(const Evidence& evidence, std::size_t axis) {
  const std::string& name = evidence.axis_names[axis];
  if (name == "C") {
    return "channel";
  }
  if (name == "H") {
    return "row";
  }
  if (name == "W") {
    return "column";
  }
  return name == "N" ? "batch" : "index";
}

std::string axis_place(const Evidence& evidence, std::size_t axis, std::uint64_t index) {
  const std::string word = axis_word(evidence, axis);
  std::string place =
      word + " " + std::to_string(index) + " (of " + std::to_string(evidence.shape[axis]) + ")";
  return word == "index" ? place + " of axis " + evidence.axis_names[axis] : place;
}

}  // namespace opdrift::verdict::refit
