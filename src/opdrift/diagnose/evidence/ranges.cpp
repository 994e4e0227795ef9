#include "opdrift/diagnose/evidence/ranges.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "opdrift/tensor/dtype.hpp"
#include "opdrift/verdict/explain/refit.hpp"
#include "opdrift/verdict/explain/values.hpp"

namespace opdrift::diagnose::evidence {

namespace {

using verdict::refit::kTile;
using verdict::refit::Values;

constexpr double kLargestFloat16 = 65504.0;
constexpr double kSmallestNormal = 0x1p-14;
constexpr std::uint64_t kBridge = 64;
constexpr std::size_t kShownIntervals = 4;
constexpr std::uint64_t kBlockBytes = 32;

/// Calls body(index, reference, candidate) for every element.
template <typename Body>
Status for_each(const pipeline::AlignedPair& pair, const Body& body) {
  OPDRIFT_TRY(const Values golden, Values::of(pair.golden));
  OPDRIFT_TRY(const Values target, Values::of(pair.target));
  const std::uint64_t all = std::min(golden.count(), target.count());
  std::array<double, kTile> g{};
  std::array<double, kTile> t{};
  for (std::uint64_t first = 0; first < all; first += kTile) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kTile, all - first));
    golden.read(first, count, g.data());
    target.read(first, count, t.data());
    for (std::size_t i = 0; i < count; ++i) {
      body(first + i, g[i], t[i]);
    }
  }
  return Unit{};
}

struct Interval {
  std::uint64_t first = 0;
  std::uint64_t last = 0;  ///< inclusive
};

struct Differences {
  std::uint64_t count = 0;
  std::uint64_t first_index = 0;
  double first_golden = 0.0;
  double first_target = 0.0;
  std::uint64_t intervals = 0;
  std::vector<Interval> shown;
  bool aligned = true;
  Interval open;

  void add(std::uint64_t index, double golden, double target, std::uint64_t element_bytes) {
    if (count++ == 0) {
      first_index = index;
      first_golden = golden;
      first_target = target;
    }
    if (intervals > 0 && index - open.last <= kBridge) {
      open.last = index;
      refresh();
      return;
    }
    open = {index, index};
    ++intervals;
    aligned = aligned && (index * element_bytes) % kBlockBytes == 0;
    if (shown.size() < kShownIntervals) {
      shown.push_back(open);
    }
  }

 private:
  void refresh() {
    if (intervals <= shown.size()) {
      shown.back() = open;
    }
  }
};

bool same(double left, double right) {
  return left == right || (std::isnan(left) && std::isnan(right));
}

std::string intervals_text(const Differences& found) {
  std::string text = "differing elements:";
  for (const Interval& one : found.shown) {
    text += (&one == found.shown.data() ? " " : ", ") + std::to_string(one.first) + " to " +
            std::to_string(one.last);
  }
  if (found.intervals > found.shown.size()) {
    text += " and " + std::to_string(found.intervals - found.shown.size()) + " more intervals";
  }
  return text + (found.aligned ? "; all begin at multiples of 32 bytes" : "");
}

}  // namespace

Result<RangeCounts> count_ranges(const pipeline::AlignedPair& pair) {
  RangeCounts counts;
  OPDRIFT_CHECK_OK(for_each(pair, [&](std::uint64_t, double reference, double candidate) {
    const double size = std::abs(reference);
    ++counts.count;
    counts.over += std::isfinite(size) && size > kLargestFloat16 ? 1U : 0U;
    counts.saturated += std::abs(candidate) == kLargestFloat16 ? 1U : 0U;
    counts.flushed += size > 0.0 && size < kSmallestNormal && candidate == 0.0 ? 1U : 0U;
  }));
  return counts;
}

void add_ranges(const RangeCounts& counts, flow::OperatorNumbers& numbers) {
  if (counts.count == 0) {
    return;
  }
  if (counts.over > 0) {
    numbers.over_65504 = numbers.over_65504.value_or(0.0) + static_cast<double>(counts.over);
  }
  const auto keep = [&](std::uint64_t found, std::optional<double>& share) {
    if (found > 0) {
      share = std::max(share.value_or(0.0),
                       static_cast<double>(found) / static_cast<double>(counts.count));
    }
  };
  keep(counts.saturated, numbers.saturated);
  keep(counts.flushed, numbers.flushed_share);
}

Result<std::vector<std::string>> describe_places(const pipeline::AlignedPair& pair) {
  const std::uint64_t bits = tensor::info(pair.target.tensor.desc.dtype).bits;
  const std::uint64_t element_bytes = std::max<std::uint64_t>(1, bits / 8);
  Differences found;
  OPDRIFT_CHECK_OK(for_each(pair, [&](std::uint64_t index, double golden, double target) {
    if (!same(golden, target)) {
      found.add(index, golden, target, element_bytes);
    }
  }));
  if (found.count == 0) {
    return std::vector<std::string>{};
  }
  return std::vector<std::string>{"first differing element " + std::to_string(found.first_index) +
                                      ": " + verdict::refit::number(found.first_target) + " for " +
                                      verdict::refit::number(found.first_golden),
                                  intervals_text(found)};
}

}  // namespace opdrift::diagnose::evidence
