#include "opdrift/verdict/explain/place.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "opdrift/verdict/explain/boxes.hpp"
#include "opdrift/verdict/explain/refit.hpp"

namespace opdrift::verdict::refit {

namespace {

constexpr std::size_t kMostSlices = 4;
constexpr double kNearlyAll = 0.99;
constexpr double kStandsOut = 3.0;  // times what an even spread would give

/// Error mass per entry of an axis, adding up to 1.
std::vector<double> masses(const Evidence& evidence, std::size_t axis) {
  const AxisProfile& profile = evidence.profile.axes[axis];
  const bool by_count = evidence.profile.class_mismatches > 0;
  std::vector<double> mass(profile.entries.size());
  for (std::size_t i = 0; i < mass.size(); ++i) {
    mass[i] = by_count ? static_cast<double>(evidence.bad.axes[axis][i]) : profile.entries[i].dd;
  }
  const double total = std::accumulate(mass.begin(), mass.end(), 0.0);
  if (total > 0.0) {
    for (double& part : mass) {
      part /= total;
    }
  }
  return mass;
}

std::vector<ErrorPlace::Slice> top_slices(const AxisProfile& axis,
                                          const std::vector<double>& mass) {
  std::vector<std::size_t> order(mass.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::size_t kept = std::min(kMostSlices, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
                    [&](std::size_t one, std::size_t other) {
                      return mass[one] != mass[other] ? mass[one] > mass[other] : one < other;
                    });
  std::vector<ErrorPlace::Slice> top;
  for (std::size_t i = 0; i < kept && mass[order[i]] > 0.0; ++i) {
    const std::uint64_t first = order[i] * axis.width;
    top.push_back({first, std::min(axis.width, axis.extent - first), mass[order[i]]});
  }
  return top;
}

/// The smallest block that holds nine tenths of the error, else the one that stands out most.
ErrorPlace::Slice block_of(const AxisProfile& axis, const std::vector<double>& mass) {
  ErrorPlace::Slice best;
  double best_excess = kStandsOut;
  for (const std::uint64_t size : {16U, 32U, 64U}) {
    if (axis.width > size || size % axis.width != 0 || axis.extent < 2 * size) {
      continue;
    }
    const auto entries = static_cast<std::size_t>(size / axis.width);
    for (std::size_t first = 0; first < mass.size(); first += entries) {
      const std::size_t end = std::min(mass.size(), first + entries);
      const double share = std::accumulate(mass.begin() + static_cast<std::ptrdiff_t>(first),
                                           mass.begin() + static_cast<std::ptrdiff_t>(end), 0.0);
      const std::uint64_t begin = first * axis.width;
      const std::uint64_t count = std::min(size, axis.extent - begin);
      const double excess = share * static_cast<double>(axis.extent) / static_cast<double>(count);
      if (excess > best_excess || (share >= 0.9 && best.share < 0.9 && excess >= kStandsOut)) {
        best = {begin, count, share};
        best_excess = share >= 0.9 ? HUGE_VAL : excess;
      }
    }
  }
  return best;
}

std::string percent(double share) {
  return number(100.0 * share, 4) + " %";
}

/// "all", "99.7 %": of the squared error, or of the elements out of place.
std::string amount(double share) {
  return share >= 0.99995 ? "all" : percent(share);
}

std::string slices_text(const Evidence& evidence, const std::vector<ErrorPlace::Axis>& axes) {
  std::string text;
  double least = 1.0;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (axes[k].extent < 2 || axes[k].top.empty()) {
      continue;
    }
    const ErrorPlace::Slice& top = axes[k].top.front();
    const bool stands_out = top.share * static_cast<double>(axes[k].extent) >=
                            kStandsOut * static_cast<double>(top.count);
    if (top.share >= kNearlyAll && top.count == 1 && (stands_out || axes[k].extent < 4)) {
      text += (text.empty() ? "" : ", ") + axis_place(evidence, k, top.first);
      least = std::min(least, top.share);
    }
  }
  return text.empty() ? "" : amount(least) + " of the error lies in " + text;
}

/// The end of an axis, or of the tensor, that holds every bad element.
std::string end_text(const Evidence& evidence) {
  for (std::size_t k = 0; k < evidence.shape.size(); ++k) {
    const std::vector<IndexBlock> blocks = bad_blocks(evidence, k);
    const std::uint64_t first = blocks.front().first;
    const std::uint64_t end = blocks.back().first + blocks.back().count;
    if (end == evidence.shape[k] && first * 2 > end) {
      return "the error lies in the last " + std::to_string(end - first) + " of " +
             std::to_string(end) + " indices of axis " + evidence.axis_names[k] + ", from " +
             std::to_string(first) + " on";
    }
    if (first == 0 && end * 2 < evidence.shape[k]) {
      return "the error lies in the first " + std::to_string(end) + " of " +
             std::to_string(evidence.shape[k]) + " indices of axis " + evidence.axis_names[k];
    }
  }
  const std::uint64_t first = evidence.bad.first();
  if (first * 2 > evidence.count()) {
    return "the error lies in the tail of " + std::to_string(evidence.count() - first) +
           " elements from index " + std::to_string(first);
  }
  return "";
}

std::string block_text(const Evidence& evidence, const std::vector<ErrorPlace::Axis>& axes) {
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const ErrorPlace::Slice& block = axes[k].block;
    if (block.share >= 0.5) {
      return amount(block.share) + " of the error lies in the block " +
             std::to_string(block.first) + " to " + std::to_string(block.first + block.count - 1) +
             " of axis " + evidence.axis_names[k] + " (extent " + std::to_string(axes[k].extent) +
             ")";
    }
  }
  return "";
}

std::string run_text(const Evidence& evidence) {
  const BadMap& bad = evidence.bad;
  const std::uint64_t length = bad.last() + 1 - bad.first();
  if (bad.runs.size() != 1 || bad.too_many_runs || length * 4 > evidence.count()) {
    return "";
  }
  return "the error lies in the " + std::to_string(length) + " elements from index " +
         std::to_string(bad.first()) + " to " + std::to_string(bad.last());
}

std::string coordinates_text(const std::vector<std::uint64_t>& coordinates) {
  std::string text = "(";
  for (std::size_t k = 0; k < coordinates.size(); ++k) {
    text += (k == 0 ? "" : ", ") + std::to_string(coordinates[k]);
  }
  return text + ")";
}

std::string sentence_of(const Evidence& evidence, const std::vector<ErrorPlace::Axis>& axes,
                        const std::vector<std::uint64_t>& first_bad) {
  if (evidence.bad.count == 0) {
    return "";
  }
  if (evidence.profile.target_nonfinite == evidence.count()) {
    return "every element of the target is NaN or infinite";
  }
  if (evidence.bad.count == 1) {
    return "one element is wrong, at " + coordinates_text(first_bad);
  }
  std::string text = slices_text(evidence, axes);
  // A map of bad elements that noise does not blur tells where the error ends.
  const bool sharp = evidence.bad.count * 2 < evidence.count();
  if (text.empty() && sharp) {
    text = end_text(evidence);
  }
  if (text.empty()) {
    text = block_text(evidence, axes);
  }
  if (text.empty() && sharp) {
    text = run_text(evidence);
  }
  return text;
}

}  // namespace

ErrorPlace place_of(const Evidence& evidence, const tensor::Shape& full_shape) {
  ErrorPlace place;
  const bool differs = evidence.profile.all.dd > 0.0 || evidence.profile.class_mismatches > 0;
  std::vector<ErrorPlace::Axis> axes;
  for (std::size_t k = 0; k < evidence.shape.size(); ++k) {
    const AxisProfile& profile = evidence.profile.axes[k];
    const std::vector<double> mass = masses(evidence, k);
    axes.push_back({profile.extent, top_slices(profile, mass), block_of(profile, mass)});
  }
  if (evidence.bad.count > 0) {
    place.first_bad = evidence.bad.first();
    place.first_bad_index = RowWalk(full_shape, place.first_bad).coordinates();
  }
  place.sentence = sentence_of(evidence, axes, place.first_bad_index);
  std::size_t next = 0;
  for (const std::uint64_t extent : full_shape) {
    if (extent != 1 && next < axes.size()) {
      place.axes.push_back(axes[next++]);
    } else {
      place.axes.push_back({1, {}, {}});
      if (differs) {
        place.axes.back().top.push_back({0, 1, 1.0});
      }
    }
  }
  return place;
}

}  // namespace opdrift::verdict::refit
