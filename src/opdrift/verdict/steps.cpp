#include "opdrift/verdict/steps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>

namespace opdrift::verdict {

namespace {

constexpr double kGap = 0.4;           // cost of a step without partner
constexpr double kSame = 0.25;         // distance up to which two steps are the same
constexpr double kNumbersWorse = 2.0;  // so much costlier must numbers be to be given up
constexpr std::size_t kMostSteps = 4096;
constexpr std::size_t kMostTensors = 512;  // looked at per step
constexpr std::size_t kMostNamed = 8;      // steps listed in a sentence
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

using Row = std::vector<const TensorSketch*>;  // of one step, by tensor; nullptr: not there

double raw_distance(const TensorSketch& golden, const TensorSketch& target) {
  if (golden.hash != 0 && golden.hash == target.hash) {
    return 0.0;
  }
  const double scale = std::max(golden.norm, target.norm);
  if (golden.count != target.count) {
    return 1.0;
  }
  if (!(scale > 0.0)) {
    return golden.norm == target.norm ? 0.0 : 1.0;
  }
  const double mean =
      std::abs(golden.mean - target.mean) * std::sqrt(static_cast<double>(golden.count)) / scale;
  const double distance = std::abs(golden.norm - target.norm) / scale + mean;
  return std::isfinite(distance) ? distance : 1.0;
}

/// Steps of both sides with their tensors in one order, and what their distances mean.
class Distances {
 public:
  Distances(const std::vector<StepSketch>& golden, const std::vector<StepSketch>& target) {
    collect_names(golden, target);
    golden_ = rows_of(golden);
    target_ = rows_of(target);
    measure_typical();
  }

  /// NaN when no tensor tells steps apart.
  double operator()(std::size_t golden, std::size_t target) const {
    double sum = 0.0;
    double count = 0.0;
    for (std::size_t k = 0; k < typical_.size(); ++k) {
      const TensorSketch* one = golden_[golden][k];
      const TensorSketch* other = target_[target][k];
      if (one == nullptr || other == nullptr || !(typical_[k] > 1e-9)) {
        continue;
      }
      sum += std::min(1.0, raw_distance(*one, *other) / typical_[k]);
      count += 1.0;
    }
    return count > 0.0 ? sum / count : kNan;
  }

 private:
  void collect_names(const std::vector<StepSketch>& golden, const std::vector<StepSketch>& target) {
    std::map<std::string, unsigned> sides;
    for (const StepSketch& step : golden) {
      for (const TensorSketch& tensor : step.tensors) {
        sides[tensor.name] |= 1U;
      }
    }
    for (const StepSketch& step : target) {
      for (const TensorSketch& tensor : step.tensors) {
        sides[tensor.name] |= 2U;
      }
    }
    std::size_t common = 0;
    for (const auto& [name, mask] : sides) {
      common += mask == 3U ? 1U : 0U;
    }
    const std::size_t stride = common / kMostTensors + 1;
    std::size_t seen = 0;
    for (const auto& [name, mask] : sides) {
      if (mask == 3U && seen++ % stride == 0) {
        names_.emplace(name, names_.size());
      }
    }
  }

  std::vector<Row> rows_of(const std::vector<StepSketch>& steps) const {
    std::vector<Row> rows;
    for (const StepSketch& step : steps) {
      Row row(names_.size(), nullptr);
      for (const TensorSketch& tensor : step.tensors) {
        const auto at = names_.find(tensor.name);
        if (at != names_.end() && row[at->second] == nullptr) {
          row[at->second] = &tensor;
        }
      }
      rows.push_back(std::move(row));
    }
    return rows;
  }

  // Neighbours and steps two apart stand for all pairs.
  void measure_typical() {
    typical_.assign(names_.size(), 0.0);
    for (std::size_t k = 0; k < typical_.size(); ++k) {
      double sum = 0.0;
      double count = 0.0;
      for (std::size_t i = 0; i < golden_.size(); ++i) {
        for (std::size_t j = i + 1; j < std::min(golden_.size(), i + 3); ++j) {
          if (golden_[i][k] != nullptr && golden_[j][k] != nullptr) {
            sum += raw_distance(*golden_[i][k], *golden_[j][k]);
            count += 1.0;
          }
        }
      }
      typical_[k] = count > 0.0 ? sum / count : 0.0;
    }
  }

  std::unordered_map<std::string, std::size_t> names_;
  std::vector<Row> golden_;
  std::vector<Row> target_;
  std::vector<double> typical_;
};

/// Pairs of steps of one number; the others stand alone.
std::vector<StepPair> by_number(const std::vector<StepSketch>& golden,
                                const std::vector<StepSketch>& target, const Distances* distances) {
  std::multimap<std::int64_t, std::size_t> free;
  for (std::size_t j = 0; j < target.size(); ++j) {
    free.emplace(target[j].number, j);
  }
  std::vector<StepPair> pairs;
  for (std::size_t i = 0; i < golden.size(); ++i) {
    const auto at = free.find(golden[i].number);
    if (at == free.end()) {
      pairs.push_back({i, std::nullopt, kNan});
      continue;
    }
    pairs.push_back({i, at->second, distances != nullptr ? (*distances)(i, at->second) : kNan});
    free.erase(at);
  }
  for (const auto& [number, j] : free) {
    pairs.push_back({std::nullopt, j, kNan});
  }
  return pairs;
}

double cost_of(const std::vector<StepPair>& pairs) {
  double cost = 0.0;
  for (const StepPair& pair : pairs) {
    cost += pair.golden.has_value() && pair.target.has_value() ? pair.distance : kGap;
  }
  return cost;
}

/// Cheapest alignment in order (Needleman, Wunsch 1970).
std::vector<StepPair> in_order(std::size_t golden, std::size_t target, const Distances& distances) {
  const std::size_t width = target + 1;
  std::vector<float> cost((golden + 1) * width, 0.0F);
  const auto gap = static_cast<float>(kGap);
  for (std::size_t i = 0; i <= golden; ++i) {
    for (std::size_t j = 0; j <= target; ++j) {
      float best = i == 0 && j == 0 ? 0.0F : std::numeric_limits<float>::infinity();
      best = i > 0 ? std::min(best, cost[(i - 1) * width + j] + gap) : best;
      best = j > 0 ? std::min(best, cost[i * width + j - 1] + gap) : best;
      if (i > 0 && j > 0) {
        best = std::min(
            best, cost[(i - 1) * width + j - 1] + static_cast<float>(distances(i - 1, j - 1)));
      }
      cost[i * width + j] = best;
    }
  }
  std::vector<StepPair> pairs;
  for (std::size_t i = golden, j = target; i > 0 || j > 0;) {
    const float here = cost[i * width + j];
    if (i > 0 && j > 0) {
      const double distance = distances(i - 1, j - 1);
      if (cost[(i - 1) * width + j - 1] + static_cast<float>(distance) <= here) {
        pairs.push_back({--i, --j, distance});
        continue;
      }
    }
    if (i > 0 && cost[(i - 1) * width + j] + gap <= here) {
      pairs.push_back({--i, std::nullopt, kNan});
    } else {
      pairs.push_back({std::nullopt, --j, kNan});
    }
  }
  std::reverse(pairs.begin(), pairs.end());
  return pairs;
}

/// Every golden step with its nearest target step, when that is a pairing; else nothing.
std::vector<StepPair> nearest(std::size_t golden, std::size_t target, const Distances& distances) {
  if (golden != target) {
    return {};
  }
  std::vector<bool> taken(target, false);
  std::vector<StepPair> pairs;
  for (std::size_t i = 0; i < golden; ++i) {
    std::size_t best = 0;
    for (std::size_t j = 1; j < target; ++j) {
      best = distances(i, j) < distances(i, best) ? j : best;
    }
    if (taken[best] || !(distances(i, best) <= kSame)) {
      return {};
    }
    taken[best] = true;
    pairs.push_back({i, best, distances(i, best)});
  }
  return pairs;
}

bool rising(const std::vector<StepPair>& pairs) {
  std::size_t last = 0;
  for (const StepPair& pair : pairs) {
    if (pair.target.has_value()) {
      if (*pair.target < last) {
        return false;
      }
      last = *pair.target;
    }
  }
  return true;
}

std::string listed(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < std::min(numbers.size(), kMostNamed); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(numbers[i]);
  }
  return numbers.size() > kMostNamed
             ? text + " and " + std::to_string(numbers.size() - kMostNamed) + " more"
             : text;
}

class Findings {
 public:
  Findings(const std::vector<StepSketch>& golden, const std::vector<StepSketch>& target,
           StepAlignment& alignment)
      : golden_(&golden), target_(&target), alignment_(&alignment) {}

  void add_all() {
    const bool shifted = add_shift();
    if (alignment_->by_content && !rising(alignment_->pairs)) {
      add({FindingKind::order_only, "the target has the same steps in another order", 0.0});
    } else if (!shifted || gaps_inside()) {
      add_missing();
    }
    add_order();
  }

 private:
  void add(Finding finding) { alignment_->findings.push_back(std::move(finding)); }

  bool add_shift() {
    std::optional<std::int64_t> shift;
    for (const StepPair& pair : alignment_->pairs) {
      if (!pair.golden.has_value() || !pair.target.has_value()) {
        continue;
      }
      const std::int64_t one = (*golden_)[*pair.golden].number - (*target_)[*pair.target].number;
      if (shift.value_or(one) != one) {
        return false;
      }
      shift = one;
    }
    alignment_->shift = shift.value_or(0);
    if (alignment_->shift == 0) {
      return false;
    }
    add({FindingKind::step_shift,
         "steps are out of step: target step k is golden step k " +
             std::string(*shift < 0 ? "- " : "+ ") + std::to_string(std::abs(*shift)),
         static_cast<double>(*shift)});
    return true;
  }

  /// True when a step without partner stands between steps that have one.
  bool gaps_inside() const {
    const auto paired = [](const StepPair& pair) {
      return pair.golden.has_value() && pair.target.has_value();
    };
    const auto first = std::find_if(alignment_->pairs.begin(), alignment_->pairs.end(), paired);
    const auto last = std::find_if(alignment_->pairs.rbegin(), alignment_->pairs.rend(), paired);
    return std::any_of(first, last.base(), [&](const StepPair& pair) { return !paired(pair); });
  }

  void add_missing() {
    std::vector<std::int64_t> missing;
    std::vector<std::int64_t> extra;
    for (const StepPair& pair : alignment_->pairs) {
      if (!pair.target.has_value()) {
        missing.push_back((*golden_)[*pair.golden].number);
      } else if (!pair.golden.has_value()) {
        extra.push_back((*target_)[*pair.target].number);
      }
    }
    std::string text;
    if (!missing.empty()) {
      text = "the target lacks golden steps " + listed(missing);
    }
    if (!extra.empty()) {
      text += (text.empty() ? "" : "; ") + std::string("the target has steps of its own: ") +
              listed(extra);
    }
    if (!text.empty()) {
      add({FindingKind::steps_missing, text, static_cast<double>(missing.size() + extra.size())});
    }
  }

  // Tensors of one name in both, which come in another order: said once, for all steps.
  void add_order() {
    std::uint64_t steps = 0;
    for (const StepPair& pair : alignment_->pairs) {
      if (pair.golden.has_value() && pair.target.has_value() &&
          other_order((*golden_)[*pair.golden], (*target_)[*pair.target])) {
        ++steps;
      }
    }
    if (steps > 0) {
      add({FindingKind::order_only,
           "tensors were made in another order in " + std::to_string(steps) +
               " steps; their names pair them",
           static_cast<double>(steps)});
    }
  }

  static bool other_order(const StepSketch& golden, const StepSketch& target) {
    std::unordered_map<std::string, std::size_t> place;
    for (std::size_t i = 0; i < golden.tensors.size(); ++i) {
      place.emplace(golden.tensors[i].name, i);
    }
    std::size_t last = 0;
    for (const TensorSketch& tensor : target.tensors) {
      const auto at = place.find(tensor.name);
      if (at == place.end()) {
        continue;
      }
      if (at->second < last) {
        return true;
      }
      last = at->second;
    }
    return false;
  }

  const std::vector<StepSketch>* golden_;
  const std::vector<StepSketch>* target_;
  StepAlignment* alignment_;
};

void choose(StepAlignment& alignment, std::vector<StepPair> candidate) {
  const double cost = candidate.empty() ? kNan : cost_of(candidate);
  const double numbers = cost_of(alignment.pairs);
  if (cost * kNumbersWorse < numbers && cost + kGap / 2.0 < numbers) {
    alignment.pairs = std::move(candidate);
    alignment.by_content = true;
  }
}

}  // namespace

StepAlignment align_steps(const std::vector<StepSketch>& golden,
                          const std::vector<StepSketch>& target) {
  StepAlignment alignment;
  const bool few = golden.size() <= kMostSteps && target.size() <= kMostSteps;
  if (golden.size() == 1 && target.size() == 1) {
    // Nothing else they could be, whatever their numbers.
    alignment.pairs = {{0, 0, kNan}};
  } else if (!few || golden.empty() || target.empty()) {
    alignment.pairs = by_number(golden, target, nullptr);
  } else {
    const Distances distances(golden, target);
    alignment.pairs = by_number(golden, target, &distances);
    if (!std::isnan(distances(0, 0))) {
      choose(alignment, in_order(golden.size(), target.size(), distances));
      choose(alignment, nearest(golden.size(), target.size(), distances));
    }
  }
  Findings(golden, target, alignment).add_all();
  return alignment;
}

}  // namespace opdrift::verdict
