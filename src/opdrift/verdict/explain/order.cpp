#include "opdrift/verdict/explain/order.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "opdrift/verdict/explain/index_maps.hpp"

namespace opdrift::verdict::refit {

namespace {

using tensor::AxisMap;
using tensor::View;

constexpr std::size_t kAllOrdersUpTo = 4;
constexpr std::size_t kMostListed = 4;
constexpr std::size_t kMostSingles = 16;  // indices of few elements that may be reordered
constexpr double kLeastPerIndex = 8.0;

/// Axes of the base with more than one index, as in Evidence::shape.
std::vector<AxisMap> long_axes(const Evidence& evidence) {
  std::vector<AxisMap> axes;
  for (const AxisMap& axis : evidence.base.view().axes) {
    if (axis.extent != 1) {
      axes.push_back(axis);
    }
  }
  return axes;
}

struct Order {
  std::vector<std::size_t> axes;
  std::string text;
};

std::string names_in(const Evidence& evidence, const std::vector<std::size_t>& order) {
  std::string text;
  for (const std::size_t axis : order) {
    text += (text.empty() ? "" : ",") + evidence.axis_names[axis];
  }
  return text;
}

std::string order_text(const Evidence& evidence, const std::vector<std::size_t>& order) {
  std::vector<std::size_t> natural(order.size());
  std::iota(natural.begin(), natural.end(), std::size_t{0});
  std::vector<std::size_t> last_two = natural;
  std::swap(last_two[order.size() - 1], last_two[order.size() - 2]);
  std::string text = "data lies in the axis order " + names_in(evidence, order) + " where " +
                     names_in(evidence, natural) + " is expected";
  if (order == last_two) {
    text += " (last two axes transposed)";
  }
  return text;
}

std::vector<std::vector<std::size_t>> orders_of(std::size_t rank) {
  std::vector<std::size_t> order(rank);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<std::vector<std::size_t>> orders;
  if (rank <= kAllOrdersUpTo) {
    while (std::next_permutation(order.begin(), order.end())) {
      orders.push_back(order);
    }
    return orders;
  }
  std::vector<std::size_t> changed = order;
  std::swap(changed[rank - 1], changed[rank - 2]);
  orders.push_back(changed);
  for (const std::size_t channel : {std::size_t{0}, std::size_t{1}}) {
    changed = order;
    std::rotate(changed.begin() + static_cast<std::ptrdiff_t>(channel),
                changed.begin() + static_cast<std::ptrdiff_t>(channel) + 1, changed.end());
    orders.push_back(changed);
    changed = order;
    std::rotate(changed.begin() + static_cast<std::ptrdiff_t>(channel), changed.end() - 1,
                changed.end());
    orders.push_back(changed);
  }
  return orders;
}

void offer_view(const Evidence& evidence, Candidates& candidates, const View& view,
                const std::string& text) {
  auto values = Values::of(view);
  if (values.has_value() && values->count() == evidence.count()) {
    offer(evidence, candidates,
          {ExplanationKind::permuted, text, std::make_unique<ViewRefit>(std::move(*values))});
  }
}

/// Axis `axis` in two: extent / block and block.
std::vector<AxisMap> split_axis(std::vector<AxisMap> axes, std::size_t axis, std::uint64_t block) {
  const AxisMap whole = axes[axis];
  AxisMap outer = whole;
  outer.extent = whole.extent / block;
  outer.outer_stride = whole.outer_stride * static_cast<std::int64_t>(block);
  AxisMap inner = whole;
  inner.extent = block;
  axes[axis] = outer;
  axes.insert(axes.begin() + static_cast<std::ptrdiff_t>(axis) + 1, inner);
  return axes;
}

View with_axes(const Evidence& evidence, const std::vector<AxisMap>& axes,
               const std::vector<std::size_t>& order) {
  View view = evidence.base.view();
  view.axes.clear();
  for (const std::size_t axis : order) {
    view.axes.push_back(axes[axis]);
  }
  return view;
}

/// The channel axis cut into blocks that lie innermost, as a device stores it, and the way back.
void offer_channel_blocks(const Evidence& evidence, Candidates& candidates) {
  const std::vector<AxisMap> axes = long_axes(evidence);
  for (std::size_t k = 0; k + 1 < axes.size(); ++k) {
    for (const std::uint64_t block : {16U, 32U, 8U}) {
      if (!is_channel_axis(evidence, k) || axes[k].inner != 1 || axes[k].extent % block != 0 ||
          axes[k].extent == block) {
        continue;
      }
      std::vector<std::size_t> order(axes.size() + 1);
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::rotate(order.begin() + static_cast<std::ptrdiff_t>(k) + 1,
                  order.begin() + static_cast<std::ptrdiff_t>(k) + 2, order.end());
      offer_view(evidence, candidates, with_axes(evidence, split_axis(axes, k, block), order),
                 "data lies in blocks of " + std::to_string(block) +
                     " channels (NC1HWC0) where plain order is expected");
    }
  }
}

/// The last two axes in 16 x 16 blocks, column of blocks by column of blocks.
void offer_fractal(const Evidence& evidence, Candidates& candidates) {
  constexpr std::uint64_t kBlock = 16;
  const std::vector<AxisMap> axes = long_axes(evidence);
  const std::size_t rank = axes.size();
  if (rank < 2 || axes[rank - 1].inner != 1 || axes[rank - 2].inner != 1 ||
      axes[rank - 1].extent % kBlock != 0 || axes[rank - 2].extent % kBlock != 0) {
    return;
  }
  const std::vector<AxisMap> split =
      split_axis(split_axis(axes, rank - 1, kBlock), rank - 2, kBlock);
  std::vector<std::size_t> order(rank + 2);
  std::iota(order.begin(), order.end(), std::size_t{0});
  // ... m1 m0 n1 n0 becomes ... n1 m1 m0 n0.
  std::rotate(order.begin() + static_cast<std::ptrdiff_t>(rank) - 2,
              order.begin() + static_cast<std::ptrdiff_t>(rank),
              order.begin() + static_cast<std::ptrdiff_t>(rank) + 1);
  offer_view(evidence, candidates, with_axes(evidence, split, order),
             "data lies in FRACTAL_NZ blocks of 16 x 16 where row-major order is expected");
}

/// Indices whose values are not those of the base.
std::vector<std::size_t> wrong_indices(const AxisProfile& axis) {
  std::vector<std::size_t> wrong;
  for (std::size_t i = 0; i < axis.entries.size(); ++i) {
    const IndexSums& sums = axis.entries[i];
    if (sums.dd > 1e-3 * (sums.bb + sums.tt)) {
      wrong.push_back(i);
    }
  }
  return wrong;
}

std::vector<std::size_t> sorted_by(const AxisProfile& axis, std::vector<std::size_t> order,
                                   double IndexSums::*sum) {
  std::stable_sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
    return axis.entries[one].*sum < axis.entries[other].*sum;
  });
  return order;
}

std::string range_text(std::uint64_t first, std::uint64_t last) {
  return first == last ? std::to_string(first)
                       : std::to_string(first) + " to " + std::to_string(last);
}

/// True when `moved` is two blocks of equal length that `map` exchanges.
bool exchanges_halves(const std::vector<std::uint64_t>& moved,
                      const std::vector<std::uint64_t>& map) {
  const std::size_t half = moved.size() / 2;
  if (half * 2 != moved.size()) {
    return false;
  }
  for (std::size_t i = 0; i < half; ++i) {
    if (moved[i] != moved[0] + i || moved[half + i] != moved[half] + i ||
        map[static_cast<std::size_t>(moved[i])] != moved[half + i] ||
        map[static_cast<std::size_t>(moved[half + i])] != moved[i]) {
      return false;
    }
  }
  return true;
}

std::string reorder_text(const Evidence& evidence, std::size_t axis,
                         const std::vector<std::uint64_t>& map) {
  std::vector<std::uint64_t> moved;
  for (std::uint64_t i = 0; i < map.size(); ++i) {
    if (map[static_cast<std::size_t>(i)] != i) {
      moved.push_back(i);
    }
  }
  const std::string word = axis_word(evidence, axis);
  const std::string of =
      " (of " + std::to_string(map.size()) + ", axis " + evidence.axis_names[axis] + ")";
  if (exchanges_halves(moved, map)) {
    const std::size_t half = moved.size() / 2;
    return (word == "index" ? "indices " : word + "s ") + range_text(moved[0], moved[half - 1]) +
           " and " + range_text(moved[half], moved.back()) + of + " are exchanged";
  }
  std::string list;
  for (std::size_t i = 0; i < moved.size() && i < kMostListed; ++i) {
    list += (i == 0 ? "" : ", ") + std::to_string(moved[i]) + " holds " +
            std::to_string(map[static_cast<std::size_t>(moved[i])]);
  }
  return std::to_string(moved.size()) + (word == "index" ? " indices" : " " + word + "s") + of +
         " stand in another order: " + list + (moved.size() > kMostListed ? " ..." : "");
}

}  // namespace

bool is_channel_axis(const Evidence& evidence, std::size_t axis) {
  for (std::size_t k = 0; k < evidence.axis_names.size(); ++k) {
    if (evidence.axis_names[k] == "C") {
      return k == axis;
    }
  }
  const std::size_t rank = evidence.shape.size();
  return axis == (rank >= 4 ? 1 : rank - 1);
}

Candidates permutation_candidates(const Evidence& evidence) {
  Candidates candidates;
  const std::vector<AxisMap> axes = long_axes(evidence);
  if (axes.size() < 2) {
    return candidates;
  }
  for (const std::vector<std::size_t>& order : orders_of(axes.size())) {
    offer_view(evidence, candidates, with_axes(evidence, axes, order), order_text(evidence, order));
  }
  offer_channel_blocks(evidence, candidates);
  offer_fractal(evidence, candidates);
  return candidates;
}

Candidates reversal_candidates(const Evidence& evidence) {
  Candidates candidates;
  for (std::size_t k = 0; k < evidence.shape.size(); ++k) {
    const std::uint64_t extent = evidence.shape[k];
    if (extent < 2 || extent > kMostEntries) {
      continue;
    }
    std::vector<std::uint64_t> map(static_cast<std::size_t>(extent));
    std::iota(map.rbegin(), map.rend(), std::uint64_t{0});
    std::string text = extent <= 4 && is_channel_axis(evidence, k)
                           ? "channels run backwards along axis " + evidence.axis_names[k] + " (" +
                                 std::to_string(extent) + " channels: RGB for BGR)"
                           : "axis " + evidence.axis_names[k] + " (extent " +
                                 std::to_string(extent) + ") runs backwards";
    offer(evidence, candidates,
          {ExplanationKind::reversed_channels, std::move(text),
           std::make_unique<AxisRefit>(evidence, k, std::move(map))});
  }
  return candidates;
}

Candidates reorder_candidates(const Evidence& evidence) {
  Candidates candidates;
  for (std::size_t k = 0; k < evidence.shape.size(); ++k) {
    const AxisProfile& axis = evidence.profile.axes[k];
    if (axis.width > 1 || axis.extent < 2) {
      continue;
    }
    const std::vector<std::size_t> wrong = wrong_indices(axis);
    // Any two lists of numbers look alike once both are sorted.
    if (wrong.size() > kMostSingles && axis.entries[wrong.front()].n < kLeastPerIndex) {
      continue;
    }
    const std::vector<std::size_t> of_base = sorted_by(axis, wrong, &IndexSums::b);
    const std::vector<std::size_t> of_target = sorted_by(axis, wrong, &IndexSums::t);
    if (of_base == of_target) {
      continue;
    }
    std::vector<std::uint64_t> map(axis.entries.size());
    std::iota(map.begin(), map.end(), std::uint64_t{0});
    for (std::size_t i = 0; i < wrong.size(); ++i) {
      map[of_target[i]] = of_base[i];
    }
    std::string text = reorder_text(evidence, k, map);
    offer(evidence, candidates,
          {is_channel_axis(evidence, k) ? ExplanationKind::swapped_channels
                                        : ExplanationKind::swapped_rows,
           std::move(text), std::make_unique<AxisRefit>(evidence, k, std::move(map))});
  }
  return candidates;
}

}  // namespace opdrift::verdict::refit
