#include "opdrift/verdict/explain/regions.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "opdrift/tensor/bit_pack.hpp"
#include "opdrift/verdict/explain/boxes.hpp"

namespace opdrift::verdict::refit {

namespace {

constexpr std::size_t kMostRanges = 8;
constexpr std::uint64_t kLeastBytes = 32;
constexpr std::uint64_t kMostRead = std::uint64_t{1} << 22;  // elements looked at inside a part

/// r = target inside flat ranges or a box, base outside.
class PartRefit final : public Refit {
 public:
  PartRefit(const Evidence& evidence, std::vector<BadRun> ranges)
      : evidence_(&evidence), ranges_(std::move(ranges)) {}
  PartRefit(const Evidence& evidence, IndexBox box) : evidence_(&evidence), box_(std::move(box)) {}

  void predict(std::uint64_t first, std::size_t count, const double* base,
               double* out) const override {
    std::copy_n(base, count, out);
    if (!box_.begin.empty()) {
      inside_box(first, count, out);
      return;
    }
    for (const BadRun& range : ranges_) {
      const std::uint64_t begin = std::max(first, range.first);
      const std::uint64_t end = std::min<std::uint64_t>(first + count, range.last + 1);
      if (begin < end) {
        evidence_->target.read(begin, static_cast<std::size_t>(end - begin), out + (begin - first));
      }
    }
  }

 private:
  void inside_box(std::uint64_t first, std::size_t count, double* out) const {
    RowWalk walk(evidence_->shape, first);
    for (std::size_t done = 0; done < count;) {
      const auto run =
          static_cast<std::size_t>(std::min<std::uint64_t>(walk.rest_of_row(), count - done));
      std::vector<std::uint64_t> place = walk.coordinates();
      const std::uint64_t column = place.back();
      place.back() = std::clamp(column, box_.begin.back(), box_.end.back() - 1);
      if (box_.contains(place) && place.back() >= column && place.back() < column + run) {
        const auto skip = static_cast<std::size_t>(place.back() - column);
        const auto part = static_cast<std::size_t>(
            std::min<std::uint64_t>(box_.end.back() - place.back(), run - skip));
        evidence_->target.read(first + done + skip, part, out + done + skip);
      }
      walk.advance(run);
      done += run;
    }
  }

  const Evidence* evidence_;
  std::vector<BadRun> ranges_;
  IndexBox box_;
};

/// What stands inside a part.
struct Inside {
  IndexSums sums;
  double least = HUGE_VAL;
  double most = -HUGE_VAL;

  void add(double b, double t) {
    if (!std::isfinite(b) || !std::isfinite(t)) {
      return;
    }
    sums.add({1.0, b, t, b * b, t * t, b * t, 0.0, 0.0});
    least = std::min(least, t);
    most = std::max(most, t);
  }
  bool constant() const { return least == most; }
  bool zero() const { return least == 0.0 && most == 0.0; }
  /// True when the target here is anything but the base changed a little.
  bool unrelated() const {
    if (sums.n < 2.0 || constant()) {
      return true;
    }
    const double covariance = sums.bt - sums.b * sums.t / sums.n;
    const double spread =
        (sums.bb - sums.b * sums.b / sums.n) * (sums.tt - sums.t * sums.t / sums.n);
    return !(std::abs(covariance) >= 0.9 * std::sqrt(std::max(spread, 0.0))) || !(spread > 0.0);
  }
  std::string text() const {
    return zero() ? "zeros" : constant() ? "the constant " + number(least, 6) : "other data";
  }
};

Inside inside_ranges(const Evidence& evidence, const std::vector<BadRun>& ranges) {
  Inside inside;
  std::array<double, kTile> b;
  std::array<double, kTile> t;
  std::uint64_t read = 0;
  for (const BadRun& range : ranges) {
    for (std::uint64_t at = range.first; at <= range.last && read < kMostRead; at += kTile) {
      const auto count =
          static_cast<std::size_t>(std::min<std::uint64_t>(kTile, range.last + 1 - at));
      evidence.base.read(at, count, b.data());
      evidence.target.read(at, count, t.data());
      for (std::size_t i = 0; i < count; ++i) {
        inside.add(b[i], t[i]);
      }
      read += count;
    }
  }
  return inside;
}

/// The same of the indices [box] by walking its rows, as far as kMostRead goes.
Inside inside_box(const Evidence& evidence, const IndexBox& box) {
  Inside inside;
  tensor::Shape sides;
  for (std::size_t k = 0; k < box.begin.size(); ++k) {
    sides.push_back(box.end[k] - box.begin[k]);
  }
  const std::vector<std::uint64_t> strides = row_major_strides(evidence.shape);
  const std::uint64_t total = std::min(box.count(), kMostRead);
  std::array<double, kTile> b;
  std::array<double, kTile> t;
  RowWalk walk(sides, 0);
  for (std::uint64_t done = 0; done < total;) {
    const auto run = static_cast<std::size_t>(
        std::min<std::uint64_t>({walk.rest_of_row(), kTile, total - done}));
    std::uint64_t place = 0;
    for (std::size_t k = 0; k < sides.size(); ++k) {
      place += (box.begin[k] + walk.coordinates()[k]) * strides[k];
    }
    evidence.base.read(place, run, b.data());
    evidence.target.read(place, run, t.data());
    for (std::size_t i = 0; i < run; ++i) {
      inside.add(b[i], t[i]);
    }
    walk.advance(run);
    done += run;
  }
  return inside;
}

std::uint64_t total_of(const std::vector<BadRun>& ranges) {
  std::uint64_t total = 0;
  for (const BadRun& range : ranges) {
    total += range.last + 1 - range.first;
  }
  return total;
}

/// Bytes per element when flat index i lies at byte `first_position * size + i * size`; else 0.
std::uint64_t element_bytes(const Evidence& evidence) {
  const tensor::DType type = evidence.target.dtype();
  return evidence.target.contiguous() && !tensor::is_packed(type) ? tensor::info(type).bits / 8 : 0;
}

std::string alignment_text(std::uint64_t first, std::uint64_t end) {
  const bool begins = first % 32 == 0;
  const bool ends = end % 32 == 0;
  if (begins && ends) {
    return "both ends at multiples of 32 bytes";
  }
  return begins ? "begins at a multiple of 32 bytes"
         : ends ? "ends at a multiple of 32 bytes"
                : "no end at a multiple of 32 bytes";
}

std::string range_text(const Evidence& evidence, const BadRun& range, std::uint64_t size) {
  const std::uint64_t first = (evidence.target.first_position() + range.first) * size;
  const std::uint64_t end = (evidence.target.first_position() + range.last + 1) * size;
  return "bytes " + std::to_string(first) + " to " + std::to_string(end - 1) + " (elements " +
         std::to_string(range.first) + " to " + std::to_string(range.last) + "; " +
         alignment_text(first, end) + ")";
}

/// True when the range is one index of one axis, of 2 elements or more.
bool is_one_slice(const Evidence& evidence, const BadRun& range) {
  const std::uint64_t length = range.last + 1 - range.first;
  for (const std::uint64_t inner : row_major_strides(evidence.shape)) {
    const std::uint64_t slack = std::max<std::uint64_t>(1, inner / 32);
    if (inner >= 2 && length <= inner && length + slack >= inner &&
        range.first / inner == range.last / inner) {
      return true;
    }
  }
  return false;
}

/// The match that covers most of the range, as bytes of the target.
std::optional<FingerprintMatch> best_match(const Evidence& evidence, const KnownTensors& known,
                                           const BadRun& range, std::uint64_t size) {
  if (known.index == nullptr) {
    return std::nullopt;
  }
  const std::uint64_t first = (evidence.target.first_position() + range.first) * size;
  const std::uint64_t end = (evidence.target.first_position() + range.last + 1) * size;
  const auto matches = known.index->find(evidence.target.view(), first, end, known.without);
  for (const FingerprintMatch& match : matches) {
    if (!match.whole) {
      return match;
    }
  }
  return std::nullopt;
}

std::string source_text(const KnownTensors& known, const FingerprintMatch& match) {
  const std::string moved = match.source >= match.first
                                ? std::to_string(match.source - match.first) + " further on"
                                : std::to_string(match.first - match.source) + " further back";
  return known.index->label(match.tensor) +
         (match.source == match.first ? ", at the same place" : ", " + moved + " in bytes");
}

struct AxisPart {
  IndexBox box;
  std::string text;
};

std::vector<AxisPart> axis_ends(const Evidence& evidence) {
  std::vector<AxisPart> parts;
  for (std::size_t k = 0; k < evidence.shape.size(); ++k) {
    const std::uint64_t extent = evidence.shape[k];
    const std::vector<IndexBlock> blocks = bad_blocks(evidence, k);
    const std::uint64_t first = blocks.front().first;
    const std::uint64_t end = blocks.back().first + blocks.back().count;
    const bool at_end = end == extent && first * 2 >= extent;
    const bool at_start = first == 0 && end * 2 <= extent;
    if (!at_end && !at_start) {
      continue;
    }
    IndexBox box;
    box.begin.assign(evidence.shape.size(), 0);
    box.end = evidence.shape;
    box.begin[k] = first;
    box.end[k] = end;
    if (evidence.bad.count * 4 < box.count()) {
      continue;
    }
    const std::string axis =
        " of the " + std::to_string(extent) + " indices of axis " + evidence.axis_names[k];
    parts.push_back({box, at_end ? "only the last " + std::to_string(extent - first) + axis
                                 : "only the first " + std::to_string(end) + axis});
  }
  return parts;
}

/// The last elements read flat, when bad ones are dense there and nowhere else.
std::optional<BadRun> flat_tail(const Evidence& evidence) {
  const std::uint64_t first = evidence.bad.first();
  const std::uint64_t count = evidence.count() - first;
  const bool dense = evidence.bad.count * 4 >= count;
  const bool to_the_end = evidence.count() - evidence.bad.last() <= 1 + count / 8;
  if (count * 2 > evidence.count() || !dense || !to_the_end) {
    return std::nullopt;
  }
  return BadRun{first, evidence.count() - 1, evidence.bad.count};
}

Candidates ends_of(const Evidence& evidence, bool zeros) {
  Candidates candidates;
  if (evidence.bad.count == 0) {
    return candidates;
  }
  const auto tells = [zeros](const Inside& inside) {
    return zeros ? inside.zero() : inside.unrelated();
  };
  const std::optional<BadRun> tail = flat_tail(evidence);
  for (AxisPart& part : axis_ends(evidence)) {
    // The part that holds fewer elements says more.
    const bool smaller = !tail.has_value() || part.box.count() <= evidence.count() - tail->first;
    const Inside inside = inside_box(evidence, part.box);
    if (smaller && tells(inside)) {
      candidates.push_back({ExplanationKind::padding_only,
                            part.text + " differ; they hold " + inside.text(),
                            std::make_unique<PartRefit>(evidence, std::move(part.box))});
    }
  }
  if (tail.has_value() && candidates.empty()) {
    const std::vector<BadRun> ranges = {*tail};
    const Inside inside = inside_ranges(evidence, ranges);
    if (tells(inside)) {
      candidates.push_back({ExplanationKind::padding_only,
                            "only the last " + std::to_string(evidence.count() - tail->first) +
                                " of " + std::to_string(evidence.count()) +
                                " elements differ, from " + std::to_string(tail->first) +
                                " on; they hold " + inside.text(),
                            std::make_unique<PartRefit>(evidence, ranges)});
    }
  }
  return candidates;
}

}  // namespace

Candidates other_tensor_candidates(const Evidence& evidence, const KnownTensors& known) {
  Candidates candidates;
  if (known.index == nullptr) {
    return candidates;
  }
  const ByteSpan bytes = stored_bytes(evidence.target.view());
  const auto matches = known.index->find(evidence.target.view(), 0, bytes.size(), known.without);
  std::vector<BadRun> all = {{0, evidence.count() - 1, evidence.count()}};
  for (const FingerprintMatch& match : matches) {
    if (match.whole) {
      const std::string& label = known.index->label(match.tensor);
      const bool input =
          std::find(known.inputs.begin(), known.inputs.end(), label) != known.inputs.end();
      candidates.push_back(
          {ExplanationKind::other_tensor,
           input ? "every byte is that of its input " + label +
                       ": handed on as if nothing was to be computed"
                 : "every byte is that of " + label + ": a stale or wrongly read buffer",
           std::make_unique<PartRefit>(evidence, all)});
      return candidates;
    }
  }
  return candidates;
}

Candidates overwritten_candidates(const Evidence& evidence, const KnownTensors& known) {
  Candidates candidates;
  const BadMap& bad = evidence.bad;
  const std::uint64_t size = element_bytes(evidence);
  if (bad.count == 0 || bad.too_many_runs || bad.runs.size() > kMostRanges || size == 0) {
    return candidates;
  }
  const std::uint64_t total = total_of(bad.runs);
  if (total * size < kLeastBytes || total * 2 > evidence.count() || bad.count * 2 < total) {
    return candidates;
  }
  std::string text;
  bool found = false;
  for (const BadRun& range : bad.runs) {
    const auto match = best_match(evidence, known, range, size);
    found = found || match.has_value();
    text += (text.empty() ? "" : "; ") + range_text(evidence, range, size);
    text += match.has_value() ? " hold data of " + source_text(known, *match) : "";
  }
  const Inside inside = inside_ranges(evidence, bad.runs);
  const bool slice = bad.runs.size() == 1 && is_one_slice(evidence, bad.runs.front());
  const bool tail = bad.runs.size() == 1 && bad.last() + kRunGap >= evidence.count();
  if (!found && (slice || tail || !inside.unrelated())) {
    return candidates;
  }
  candidates.push_back({ExplanationKind::overwritten,
                        text + (found ? "" : " hold " + inside.text()),
                        std::make_unique<PartRefit>(evidence, bad.runs)});
  return candidates;
}

Candidates padding_candidates(const Evidence& evidence) {
  return ends_of(evidence, false);
}

Candidates zero_padding_candidates(const Evidence& evidence) {
  return ends_of(evidence, true);
}

}  // namespace opdrift::verdict::refit
