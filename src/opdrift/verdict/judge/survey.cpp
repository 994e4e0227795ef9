#include "opdrift/verdict/judge/survey.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "opdrift/replay/budget.hpp"
#include "opdrift/tensor/decode.hpp"
#include "opdrift/verdict/judge/block_reader.hpp"

namespace opdrift::verdict::judging {

namespace {

constexpr std::size_t kBlock = BlockReader::kMost;
constexpr std::size_t kMismatchesKept = 1024;
constexpr double kTinyScale = 1e-300;
/// A tile whose peak, squared, is below this times the least score kept has little to add: scores
/// lie between a half of that square and all of it where its rows are alike.
constexpr double kWorthLooking = 1.5;

struct Candidate {
  double score = 0.0;
  std::uint64_t position = 0;
};

// The best candidates seen, ties going to the earlier position.
class Best {
 public:
  bool wants(double score) const { return list_.size() < kWorstSample || score > list_[0].score; }

  /// What a score has to exceed, a little below it for roundings.
  double least() const {
    constexpr double kBelow = 1.0 - 1e-12;
    return list_.size() < kWorstSample ? 0.0 : list_[0].score * kBelow;
  }

  void offer(double score, std::uint64_t position) {
    if (list_.size() == kWorstSample) {
      std::pop_heap(list_.begin(), list_.end(), better);
      list_.pop_back();
    }
    list_.push_back({score, position});
    std::push_heap(list_.begin(), list_.end(), better);
  }

  std::vector<std::uint64_t> positions() const {
    std::vector<std::uint64_t> sorted;
    for (const Candidate& candidate : list_) {
      sorted.push_back(candidate.position);
    }
    std::sort(sorted.begin(), sorted.end());
    return sorted;
  }

 private:
  static bool better(const Candidate& one, const Candidate& other) {
    return one.score > other.score || (one.score == other.score && one.position < other.position);
  }
  std::vector<Candidate> list_;
};

/// Sum of term(i) for i below `count`, four sums at a time so that they do not wait for each other.
template <typename Term>
double lane_sum(std::size_t count, const Term& term) {
  std::array<double, 4> sums{};
  std::size_t i = 0;
  for (; i + sums.size() <= count; i += sums.size()) {
    for (std::size_t lane = 0; lane < sums.size(); ++lane) {
      sums[lane] += term(i + lane);
    }
  }
  for (; i < count; ++i) {
    sums[0] += term(i);
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// A stretch of both sides with zeros wherever one is not finite.
struct FinitePairs {
  FinitePairs(std::span<const double> all_golden, std::span<const double> all_target) {
    golden.reserve(all_golden.size());
    target.reserve(all_golden.size());
    for (std::size_t i = 0; i < all_golden.size(); ++i) {
      const bool both = std::isfinite(all_golden[i]) && std::isfinite(all_target[i]);
      golden.push_back(both ? all_golden[i] : 0.0);
      target.push_back(both ? all_target[i] : 0.0);
    }
  }
  std::vector<double> golden;
  std::vector<double> target;
};

class Surveyor {
 public:
  explicit Surveyor(std::size_t row) : row_(row) {}

  void take(std::uint64_t first, std::span<const double> golden, std::span<const double> target) {
    for (std::size_t at = 0; at < golden.size(); at += row_) {
      const std::size_t length = std::min(row_, golden.size() - at);
      take_row(first + at, golden.subspan(at, length), target.subspan(at, length));
    }
  }

  /// The largest scores in [begin, end), rows beginning at multiples of their length from `first`.
  /// Nothing else is counted.
  void look(std::uint64_t first, std::span<const double> golden, std::span<const double> target,
            std::uint64_t begin, std::uint64_t end) {
    for (std::size_t at = 0; at < golden.size(); at += row_) {
      const std::size_t length = std::min(row_, golden.size() - at);
      const std::uint64_t row = first + at;
      const std::uint64_t from = std::max(row, begin);
      const std::uint64_t to = std::min(row + length, end);
      if (from < to) {
        look_at_row(row, golden.subspan(at, length), target.subspan(at, length), from, to);
      }
    }
  }

  std::vector<std::uint64_t> worst() const { return best_.positions(); }
  /// What a score has to exceed to be kept.
  double least() const { return best_.least(); }

  Survey finish(std::uint64_t count) {
    survey_.count = count;
    survey_.golden_norm = std::sqrt(golden2_);
    survey_.error_norm = std::sqrt(error2_);
    survey_.worst = best_.positions();
    return std::move(survey_);
  }

 private:
  void take_row(std::uint64_t first, std::span<const double> golden,
                std::span<const double> target) {
    double golden2 = 0.0;
    double error2 = 0.0;
    bool finite = true;
    for (std::size_t i = 0; i < golden.size(); ++i) {
      const double e = target[i] - golden[i];
      golden2 += golden[i] * golden[i];
      error2 += e * e;
      finite = finite && std::isfinite(golden[i]) && std::isfinite(target[i]);
    }
    if (!finite) {
      take_odd_row(first, golden, target);
      return;
    }
    survey_.finite += golden.size();
    golden2_ += golden2;
    error2_ += error2;
    if (error2 > 0.0) {
      survey_.equal = false;
      pick(first, golden, target, golden2 / static_cast<double>(golden.size()));
    }
  }

  void look_at_row(std::uint64_t row, std::span<const double> golden,
                   std::span<const double> target, std::uint64_t from, std::uint64_t to) {
    const double nothing = lane_sum(golden.size(), [&](std::size_t i) {
      return (golden[i] - golden[i]) + (target[i] - target[i]);  // NaN unless both are finite
    });
    if (nothing == 0.0) {
      look_at_finite_row(row, golden, target, from, to);
      return;
    }
    const FinitePairs pairs(golden, target);
    look_at_finite_row(row, pairs.golden, pairs.target, from, to);
  }

  void look_at_finite_row(std::uint64_t row, std::span<const double> golden,
                          std::span<const double> target, std::uint64_t from, std::uint64_t to) {
    const double golden2 =
        lane_sum(golden.size(), [&](std::size_t i) { return golden[i] * golden[i]; });
    const auto skipped = static_cast<std::size_t>(from - row);
    const auto wanted = static_cast<std::size_t>(to - from);
    pick(from, golden.subspan(skipped, wanted), target.subspan(skipped, wanted),
         golden2 / static_cast<double>(golden.size()));
  }

  // Most rows hold nothing better than what is kept; a sum of what exceeds it finds that out
  // without branches, several elements at a time.
  bool promising(std::span<const double> golden, std::span<const double> target,
                 double mean2) const {
    const double least = best_.least();
    const double excess = lane_sum(golden.size(), [&](std::size_t i) {
      const double e = target[i] - golden[i];
      const double over = e * e - least * (golden[i] * golden[i] + mean2);
      return over > 0.0 ? over : 0.0;
    });
    return !(excess <= 0.0);
  }

  void pick(std::uint64_t first, std::span<const double> golden, std::span<const double> target,
            double mean2) {
    if (!promising(golden, target, mean2)) {
      return;
    }
    for (std::size_t i = 0; i < golden.size(); ++i) {
      const double e = target[i] - golden[i];
      const double score = e * e / (golden[i] * golden[i] + mean2 + kTinyScale);
      if (score > 0.0 && best_.wants(score)) {
        best_.offer(score, first + i);
      }
    }
  }

  void take_odd_row(std::uint64_t first, std::span<const double> golden,
                    std::span<const double> target) {
    const FinitePairs pairs(golden, target);
    double golden2 = 0.0;
    for (std::size_t i = 0; i < golden.size(); ++i) {
      if (!std::isfinite(golden[i]) || !std::isfinite(target[i])) {
        note_classes(first + i, golden[i], target[i]);
        continue;
      }
      const double e = target[i] - golden[i];
      ++survey_.finite;
      golden2 += golden[i] * golden[i];
      error2_ += e * e;
      survey_.equal = survey_.equal && e == 0.0;
    }
    golden2_ += golden2;
    pick(first, pairs.golden, pairs.target, golden2 / static_cast<double>(golden.size()));
  }

  void note_classes(std::uint64_t position, double golden, double target) {
    if (replay::class_of(golden) == replay::class_of(target)) {
      ++survey_.shared_nonfinite;
      return;
    }
    survey_.equal = false;
    ++survey_.class_mismatches;
    if (survey_.mismatches.size() < kMismatchesKept) {
      survey_.mismatches.push_back(position);
    }
  }

  std::size_t row_;
  Survey survey_;
  Best best_;
  double golden2_ = 0.0;
  double error2_ = 0.0;
};

std::size_t row_length(const tensor::View& view) {
  const std::uint64_t last = view.axes.empty() ? 1 : view.axes.back().extent;
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(last, 1, kBlock));
}

// The tiles with the largest peaks, those first.
std::vector<std::uint64_t> worst_tiles(std::span<const float> peaks) {
  std::vector<std::uint64_t> tiles(peaks.size());
  std::iota(tiles.begin(), tiles.end(), std::uint64_t{0});
  const auto kept = static_cast<std::ptrdiff_t>(std::min(kWorstTiles, tiles.size()));
  std::partial_sort(tiles.begin(), tiles.begin() + kept, tiles.end(),
                    [&](std::uint64_t a, std::uint64_t b) {
                      return peaks[a] > peaks[b] || (peaks[a] == peaks[b] && a < b);
                    });
  tiles.resize(static_cast<std::size_t>(kept));
  std::erase_if(tiles, [&](std::uint64_t tile) { return !(peaks[tile] > 0.0F); });
  return tiles;
}

/// The first positions where the classes differ, `count` of them at most.
std::vector<std::uint64_t> first_mismatches(const tensor::View& golden, const tensor::View& target,
                                            std::size_t count) {
  std::vector<std::uint64_t> positions;
  BlockReader golden_reader(golden);
  BlockReader target_reader(target);
  for (std::uint64_t first = 0; first < golden.count() && positions.size() < count;) {
    const auto length =
        static_cast<std::size_t>(std::min<std::uint64_t>(kBlock, golden.count() - first));
    const std::span<const double> g = golden_reader.read(first, length);
    const std::span<const double> t = target_reader.read(first, length);
    for (std::size_t i = 0; i < length && positions.size() < count; ++i) {
      const bool finite = std::isfinite(g[i]) && std::isfinite(t[i]);
      if (!finite && replay::class_of(g[i]) != replay::class_of(t[i])) {
        positions.push_back(first + i);
      }
    }
    first += length;
  }
  return positions;
}

Survey survey_measured(const tensor::View& golden, const tensor::View& target,
                       const MeasuredValue& known) {
  const metrics::Measurement& m = *known.measurement;
  Survey result;
  result.count = m.count;
  result.equal = m.sum_abs_d == 0.0 && m.class_mismatches == 0;
  result.finite = m.finite_pairs;
  result.class_mismatches = m.class_mismatches;
  result.shared_nonfinite = m.count - m.finite_pairs - m.class_mismatches;
  result.mismatches = first_mismatches(
      golden, target,
      static_cast<std::size_t>(std::min<std::uint64_t>(kMismatchesKept, m.class_mismatches)));
  result.golden_norm = std::sqrt(m.sum_golden2);
  result.error_norm = std::sqrt(m.sum_d2);
  const std::size_t row = row_length(golden);
  const std::size_t block = std::max<std::size_t>(1, metrics::kTileElements / row) * row;
  BlockReader golden_reader(golden);
  BlockReader target_reader(target);
  Surveyor surveyor(row);
  for (const std::uint64_t tile : worst_tiles(known.peaks)) {
    const auto peak = static_cast<double>(known.peaks[tile]);
    if (surveyor.least() * kWorthLooking > peak * peak) {
      break;
    }
    const std::uint64_t begin = tile * metrics::kTileElements;
    const std::uint64_t end = std::min(m.count, begin + metrics::kTileElements);
    const std::uint64_t last = std::min(m.count, (end + row - 1) / row * row);
    for (std::uint64_t first = begin / row * row; first < last; first += block) {
      const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(block, last - first));
      surveyor.look(first, golden_reader.read(first, length), target_reader.read(first, length),
                    begin, end);
    }
  }
  result.worst = surveyor.worst();
  return result;
}

bool tells_enough(const MeasuredValue& known, std::uint64_t count) {
  return known.measurement != nullptr && known.measurement->count == count &&
         known.peaks.size() == (count + metrics::kTileElements - 1) / metrics::kTileElements;
}

}  // namespace

Result<Survey> survey(const tensor::View& golden, const tensor::View& target,
                      const MeasuredValue& known) {
  OPDRIFT_CHECK_OK(check_numbers(golden));
  OPDRIFT_CHECK_OK(check_numbers(target));
  const std::uint64_t count = golden.count();
  if (tells_enough(known, count)) {
    return survey_measured(golden, target, known);
  }
  const std::size_t row = row_length(golden);
  const std::size_t block = kBlock / row * row;
  BlockReader golden_reader(golden);
  BlockReader target_reader(target);
  Surveyor surveyor(row);
  for (std::uint64_t first = 0; first < count; first += block) {
    const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(block, count - first));
    surveyor.take(first, golden_reader.read(first, length), target_reader.read(first, length));
  }
  return surveyor.finish(count);
}

std::vector<std::uint64_t> Survey::standing_out() const {
  std::vector<std::uint64_t> positions = worst;
  positions.insert(positions.end(), mismatches.begin(), mismatches.end());
  return positions;
}

std::vector<std::uint64_t> random_positions(std::uint64_t population, std::size_t count,
                                            std::uint64_t seed) {
  std::vector<std::uint64_t> positions;
  positions.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    positions.push_back(replay::random_in_part(replay::random_bits(seed, i), i, count, population));
  }
  return positions;
}

std::vector<double> values_at(const tensor::View& view, std::span<const std::uint64_t> positions) {
  std::array<std::byte, 16> bytes{};
  std::vector<double> values;
  values.reserve(positions.size());
  for (const std::uint64_t position : positions) {
    tensor::gather(view, position, 1, bytes.data());
    values.push_back(tensor::decode_one(view.tensor.desc.dtype, bytes.data(), 0));
  }
  return values;
}

}  // namespace opdrift::verdict::judging
