#include "opdrift/verdict/explain/boxes.hpp"

#include <algorithm>

namespace opdrift::verdict::refit {

namespace {

constexpr std::uint64_t kMostSources = std::uint64_t{1} << 20;
constexpr std::uint64_t kLeastCopied = 8;

bool countable(const Evidence& evidence) {
  if (evidence.bad.count == 0) {
    return false;
  }
  return std::all_of(evidence.profile.axes.begin(), evidence.profile.axes.end(),
                     [](const AxisProfile& axis) { return axis.width == 1; });
}

IndexBox moved_box(IndexBox box, std::size_t axis, std::uint64_t first, std::uint64_t count) {
  box.begin[axis] = first;
  box.end[axis] = first + count;
  return box;
}

std::int64_t distance(const Evidence& evidence, const IndexBox& from, const IndexBox& to) {
  const std::vector<std::uint64_t> strides = row_major_strides(evidence.shape);
  std::int64_t sum = 0;
  for (std::size_t k = 0; k < strides.size(); ++k) {
    sum += (static_cast<std::int64_t>(from.begin[k]) - static_cast<std::int64_t>(to.begin[k])) *
           static_cast<std::int64_t>(strides[k]);
  }
  return sum;
}

void offer_swap(const Evidence& evidence, Candidates& candidates, const IndexBox& one,
                const IndexBox& other) {
  std::vector<BoxRefit::Move> moves = {{one, distance(evidence, other, one)},
                                       {other, distance(evidence, one, other)}};
  offer(
      evidence, candidates,
      {ExplanationKind::swapped_rows,
       "tiles " + box_text(evidence, one) + " and " + box_text(evidence, other) + " are exchanged",
       std::make_unique<BoxRefit>(evidence, std::move(moves))});
}

/// The two halves along an axis, whether they touch or not.
std::vector<IndexBlock> halves(const std::vector<IndexBlock>& blocks) {
  if (blocks.size() == 2 && blocks[0].count == blocks[1].count) {
    return blocks;
  }
  if (blocks.size() == 1 && blocks[0].count % 2 == 0) {
    const std::uint64_t half = blocks[0].count / 2;
    return {{blocks[0].first, half}, {blocks[0].first + half, half}};
  }
  return {};
}

/// True when the box at `distance` has its base where most error at the sample asks for it.
bool fits_at(const Evidence& evidence, const IndexBox& box, std::int64_t distance) {
  const Sample& sample = evidence.sample;
  const std::size_t step = std::max<std::size_t>(1, sample.focus / 32);
  std::size_t used = 0;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < sample.focus; i += step) {
    const std::int64_t source = static_cast<std::int64_t>(sample.index[i]) + distance;
    if (source < 0 || source >= static_cast<std::int64_t>(evidence.count())) {
      return false;
    }
    const double left = sample.t[i] - evidence.base.at(static_cast<std::uint64_t>(source));
    const double d = sample.t[i] - sample.b[i];
    ++used;
    wrong += left * left <= 0.05 * d * d + 16.0 * sample.sigma2[i] ? 0U : 1U;
    if (wrong > 1) {
      return false;
    }
  }
  return used >= 4 && box.count() >= kLeastCopied;
}

}  // namespace

std::vector<IndexBlock> bad_blocks(const Evidence& evidence, std::size_t axis) {
  const std::vector<std::uint64_t>& counts = evidence.bad.axes[axis];
  const std::uint64_t width = evidence.profile.axes[axis].width;
  std::vector<IndexBlock> blocks;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) {
      continue;
    }
    const std::uint64_t first = i * width;
    if (blocks.empty() || blocks.back().first + blocks.back().count != first) {
      blocks.push_back({first, 0});
    }
    blocks.back().count += std::min(width, evidence.shape[axis] - first);
  }
  return blocks;
}

IndexBox bad_box(const Evidence& evidence) {
  IndexBox box;
  for (std::size_t k = 0; k < evidence.shape.size(); ++k) {
    const std::vector<IndexBlock> blocks = bad_blocks(evidence, k);
    box.begin.push_back(blocks.front().first);
    box.end.push_back(blocks.back().first + blocks.back().count);
  }
  return box;
}

std::string box_text(const Evidence& evidence, const IndexBox& box) {
  std::string text;
  for (std::size_t k = 0; k < box.begin.size(); ++k) {
    text += k == 0 ? "[" : ", ";
    if (box.begin[k] == 0 && box.end[k] == evidence.shape[k]) {
      text += "all";
    } else {
      text += std::to_string(box.begin[k]);
      if (box.end[k] - box.begin[k] > 1) {
        text += " to " + std::to_string(box.end[k] - 1);
      }
    }
  }
  return text + "]";
}

Candidates box_swap_candidates(const Evidence& evidence) {
  Candidates candidates;
  if (!countable(evidence)) {
    return candidates;
  }
  const IndexBox box = bad_box(evidence);
  for (std::size_t k = 0; k < evidence.shape.size(); ++k) {
    const std::vector<IndexBlock> first = halves(bad_blocks(evidence, k));
    if (first.empty()) {
      continue;
    }
    const IndexBox low = moved_box(box, k, first[0].first, first[0].count);
    const IndexBox high = moved_box(box, k, first[1].first, first[1].count);
    offer_swap(evidence, candidates, low, high);
    for (std::size_t j = k + 1; j < evidence.shape.size(); ++j) {
      const std::vector<IndexBlock> second = halves(bad_blocks(evidence, j));
      if (second.empty()) {
        continue;
      }
      for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        offer_swap(evidence, candidates, moved_box(low, j, second[side].first, second[side].count),
                   moved_box(high, j, second[1 - side].first, second[1 - side].count));
      }
    }
  }
  return candidates;
}

Candidates box_copy_candidates(const Evidence& evidence) {
  Candidates candidates;
  if (!countable(evidence) || evidence.shape.size() < 2) {
    return candidates;
  }
  const IndexBox box = bad_box(evidence);
  const std::vector<std::uint64_t> strides = row_major_strides(evidence.shape);
  std::size_t axis = evidence.shape.size() - 1;
  while (axis > 0 && box.begin[axis] == 0 && box.end[axis] == evidence.shape[axis]) {
    --axis;
  }
  // Within the innermost axis that the box does not fill, sources may begin anywhere.
  const std::uint64_t step = strides[axis];
  if (evidence.count() / step > kMostSources || box.count() * 2 > evidence.count()) {
    return candidates;
  }
  IndexBox origin = box;
  std::fill(origin.begin.begin(), origin.begin.end(), 0);
  const std::int64_t place = distance(evidence, box, origin);
  for (std::uint64_t source = 0; source < evidence.count(); source += step) {
    const std::int64_t from = static_cast<std::int64_t>(source) - place;
    if (from == 0 || !fits_at(evidence, box, from)) {
      continue;
    }
    IndexBox other;
    other.begin = RowWalk(evidence.shape, source).coordinates();
    bool inside = true;
    for (std::size_t k = 0; k < evidence.shape.size(); ++k) {
      other.end.push_back(other.begin[k] + box.end[k] - box.begin[k]);
      inside = inside && other.end[k] <= evidence.shape[k];
    }
    if (!inside) {
      continue;
    }
    std::vector<BoxRefit::Move> moves = {{box, from}};
    offer(evidence, candidates,
          {ExplanationKind::swapped_rows,
           "the part " + box_text(evidence, box) + " holds the golden's part " +
               box_text(evidence, other),
           std::make_unique<BoxRefit>(evidence, std::move(moves))});
    break;
  }
  return candidates;
}

}  // namespace opdrift::verdict::refit
