#include "opdrift/verdict/explain/shift.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "opdrift/verdict/explain/index_maps.hpp"
#include "opdrift/verdict/explain/sample.hpp"

namespace opdrift::verdict::refit {

namespace {

constexpr std::int64_t kMostAlongAxis = 4096;
constexpr std::int64_t kMostInImage = 32;
constexpr std::int64_t kMostFlat = 64;
constexpr std::size_t kProbes = 96;
constexpr std::size_t kLeastProbes = 8;

/// Some of the elements with most error, and a quick word on a shift.
class Probes {
 public:
  Probes(const Evidence& evidence, tensor::Shape shape)
      : evidence_(&evidence), shape_(std::move(shape)), strides_(row_major_strides(shape_)) {
    const std::size_t focus = evidence.sample.focus;
    const std::size_t step = std::max<std::size_t>(1, focus / kProbes);
    for (std::size_t i = 0; i < focus; i += step) {
      const RowWalk walk(shape_, evidence.sample.index[i]);
      samples_.push_back(i);
      coordinates_.push_back(walk.coordinates());
    }
  }

  bool fits(const std::vector<std::int64_t>& shifts) const {
    std::size_t used = 0;
    std::size_t wrong = 0;
    for (std::size_t p = 0; p < samples_.size(); ++p) {
      const std::optional<std::uint64_t> source = source_of(coordinates_[p], shifts);
      if (!source.has_value()) {
        continue;
      }
      const std::size_t i = samples_[p];
      const double left = evidence_->sample.t[i] - evidence_->base.at(*source);
      const double d = evidence_->sample.t[i] - evidence_->sample.b[i];
      ++used;
      wrong += left * left <= 0.05 * d * d + 16.0 * evidence_->sample.sigma2[i] ? 0U : 1U;
      if (wrong > 3 + used / 20) {
        return false;
      }
    }
    return used >= std::max(kLeastProbes, samples_.size() / 4) && wrong * 20 <= used;
  }

 private:
  std::optional<std::uint64_t> source_of(const std::vector<std::uint64_t>& place,
                                         const std::vector<std::int64_t>& shifts) const {
    std::uint64_t source = 0;
    for (std::size_t k = 0; k < shape_.size(); ++k) {
      const std::int64_t c = static_cast<std::int64_t>(place[k]) - shifts[k];
      if (c < 0 || c >= static_cast<std::int64_t>(shape_[k])) {
        return std::nullopt;
      }
      source += static_cast<std::uint64_t>(c) * strides_[k];
    }
    return source;
  }

  const Evidence* evidence_;
  tensor::Shape shape_;
  std::vector<std::uint64_t> strides_;
  std::vector<std::size_t> samples_;
  std::vector<std::vector<std::uint64_t>> coordinates_;
};

std::string fill_text(Fill fill) {
  switch (fill) {
    case Fill::zero: return "zeros follow in";
    case Fill::wrap: return "what left comes in at the other end";
    case Fill::repeat: return "the edge is repeated";
    case Fill::unknown: return "other data stand at the edge";
  }
  return "";
}

/// Elements that have no source inside the base.
std::vector<std::uint64_t> edge_elements(const tensor::Shape& shape,
                                         const std::vector<std::int64_t>& shifts) {
  constexpr std::size_t kDraws = 256;
  const std::vector<std::uint64_t> strides = row_major_strides(shape);
  std::vector<std::uint64_t> elements;
  Dice dice;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    for (std::size_t i = 0; i < kDraws && shifts[axis] != 0; ++i) {
      std::uint64_t element = 0;
      for (std::size_t k = 0; k < shape.size(); ++k) {
        const auto edge = static_cast<std::uint64_t>(std::abs(shifts[axis]));
        const std::uint64_t first = shifts[axis] > 0 ? 0 : shape[axis] - edge;
        element += strides[k] * (k == axis ? first + dice.below(edge) : dice.below(shape[k]));
      }
      elements.push_back(element);
    }
  }
  return elements;
}

Fill fill_of(const Evidence& evidence, const tensor::Shape& shape,
             const std::vector<std::int64_t>& shifts) {
  const std::vector<std::uint64_t> edge = edge_elements(shape, shifts);
  Fill best = Fill::unknown;
  double least = 0.0;
  for (const std::uint64_t element : edge) {
    const double d = evidence.target.at(element) - evidence.base.at(element);
    least += std::isfinite(d) ? 0.05 * d * d : 0.0;
  }
  for (const Fill fill : {Fill::zero, Fill::wrap, Fill::repeat}) {
    const ShiftRefit refit(evidence.base, shape, shifts, fill);
    double left2 = 0.0;
    for (const std::uint64_t element : edge) {
      double predicted = 0.0;
      refit.predict(element, 1, nullptr, &predicted);
      const double left = evidence.target.at(element) - predicted;
      left2 += std::isfinite(left) ? left * left : 0.0;
    }
    if (left2 < least) {
      best = fill;
      least = left2;
    }
  }
  return best;
}

void offer_shift(const Evidence& evidence, Candidates& candidates, const tensor::Shape& shape,
                 const std::vector<std::int64_t>& shifts, const std::string& text) {
  const Fill best = fill_of(evidence, shape, shifts);
  offer(evidence, candidates,
        {ExplanationKind::shifted, text + "; " + fill_text(best),
         std::make_unique<ShiftRefit>(evidence.base, shape, shifts, best)});
}

void along_axis(const Evidence& evidence, const Probes& probes, std::size_t axis,
                Candidates& candidates) {
  const std::int64_t most =
      std::min<std::int64_t>(static_cast<std::int64_t>(evidence.shape[axis]) - 1, kMostAlongAxis);
  if (most < 2) {
    return;  // two that change places are not shifted
  }
  std::vector<std::int64_t> shifts(evidence.shape.size(), 0);
  for (std::int64_t size = 1; size <= most; ++size) {
    for (const std::int64_t shift : {size, -size}) {
      shifts[axis] = shift;
      if (!probes.fits(shifts)) {
        continue;
      }
      const std::size_t before = candidates.size();
      offer_shift(evidence, candidates, evidence.shape, shifts,
                  "shifted by " + std::to_string(shift) + " along axis " +
                      evidence.axis_names[axis] + " (extent " +
                      std::to_string(evidence.shape[axis]) + ")");
      if (candidates.size() > before) {
        return;
      }
    }
  }
}

void in_image(const Evidence& evidence, const Probes& probes, std::size_t row_axis,
              Candidates& candidates) {
  const std::size_t column_axis = row_axis + 1;
  const auto most = [&](std::size_t axis) {
    return std::min<std::int64_t>(static_cast<std::int64_t>(evidence.shape[axis]) - 1,
                                  kMostInImage);
  };
  std::vector<std::int64_t> shifts(evidence.shape.size(), 0);
  for (std::int64_t y = -most(row_axis); y <= most(row_axis); ++y) {
    for (std::int64_t x = -most(column_axis); x <= most(column_axis); ++x) {
      shifts[row_axis] = y;
      shifts[column_axis] = x;
      if (y == 0 || x == 0 || !probes.fits(shifts)) {
        continue;
      }
      const std::size_t before = candidates.size();
      offer_shift(evidence, candidates, evidence.shape, shifts,
                  "shifted by (" + std::to_string(y) + ", " + std::to_string(x) + ") along axes " +
                      evidence.axis_names[row_axis] + " and " + evidence.axis_names[column_axis]);
      if (candidates.size() > before) {
        return;
      }
    }
  }
}

void flat(const Evidence& evidence, Candidates& candidates) {
  const tensor::Shape shape = {evidence.count()};
  const Probes probes(evidence, shape);
  const std::int64_t most =
      std::min<std::int64_t>(static_cast<std::int64_t>(evidence.count()) - 1, kMostFlat);
  for (std::int64_t size = 1; size <= most; ++size) {
    for (const std::int64_t shift : {size, -size}) {
      if (probes.fits({shift})) {
        offer_shift(evidence, candidates, shape, {shift},
                    "shifted by " + std::to_string(shift) + " elements in memory order");
        return;
      }
    }
  }
}

bool same_values(const Values& whole, const Values& part) {
  constexpr std::size_t kDraws = 256;
  Dice dice;
  const double unit =
      std::max(tensor::info(whole.dtype()).unit_roundoff, tensor::info(part.dtype()).unit_roundoff);
  for (std::size_t i = 0; i < kDraws; ++i) {
    const std::uint64_t at = dice.below(part.count());
    const double one = whole.at(at);
    const double other = part.at(at);
    const double most = (4.0 * unit + 1e-2) * std::max(std::abs(one), std::abs(other));
    if (!(std::abs(one - other) <= most) && !(std::isnan(one) && std::isnan(other)) &&
        one != other) {
      return false;
    }
  }
  return true;
}

Result<Values> cut(const Values& whole, const tensor::Shape& shape,
                   const std::vector<std::uint64_t>& offsets) {
  tensor::View view = whole.view();
  for (std::size_t k = 0; k < shape.size(); ++k) {
    view.axes[k].extent = shape[k];
    view.offset += static_cast<std::int64_t>(offsets[k]) * view.axes[k].outer_stride;
  }
  return Values::of(view);
}

bool can_hold(const Values& whole, const tensor::Shape& shape) {
  const std::vector<tensor::AxisMap>& axes = whole.view().axes;
  if (axes.size() != shape.size()) {
    return false;
  }
  for (std::size_t k = 0; k < shape.size(); ++k) {
    // Cutting a blocked axis in its middle is no view of ours.
    if (axes[k].extent < shape[k] || (axes[k].inner != 1 && axes[k].extent != shape[k])) {
      return false;
    }
  }
  return true;
}

}  // namespace

Candidates shift_candidates(const Evidence& evidence) {
  Candidates candidates;
  if (evidence.sample.focus < kLeastProbes) {
    return candidates;
  }
  const Probes probes(evidence, evidence.shape);
  const std::size_t rank = evidence.shape.size();
  for (std::size_t k = 0; k < rank; ++k) {
    along_axis(evidence, probes, k, candidates);
  }
  if (candidates.empty() && rank >= 2) {
    in_image(evidence, probes, rank - 2, candidates);
  }
  if (candidates.empty() && rank >= 3) {
    in_image(evidence, probes, rank - 3, candidates);
  }
  if (rank > 1) {
    flat(evidence, candidates);
  }
  return candidates;
}

std::vector<Crop> find_crops(const Values& whole, const Values& part) {
  constexpr std::uint64_t kMostPlaces = std::uint64_t{1} << 18;
  std::vector<Crop> crops;
  const tensor::Shape shape = part.view().shape();
  if (part.count() == 0 || part.count() > whole.count()) {
    return crops;
  }
  tensor::Shape room;
  std::uint64_t places = 1;
  if (can_hold(whole, shape)) {
    for (std::size_t k = 0; k < shape.size(); ++k) {
      room.push_back(whole.view().axes[k].extent - shape[k] + 1);
      places = std::min(places * std::min(room.back(), kMostPlaces), kMostPlaces + 1);
    }
    for (std::uint64_t place = 0; place < std::min(places, kMostPlaces); ++place) {
      const std::vector<std::uint64_t> offsets = RowWalk(room, place).coordinates();
      auto values = cut(whole, shape, offsets);
      if (values.has_value() && same_values(*values, part)) {
        crops.push_back({values->view(), offsets});
        return crops;
      }
    }
  }
  if (whole.contiguous()) {
    tensor::View head = whole.view();
    head.axes = {{.extent = part.count(), .inner = 1, .outer_stride = 1}};
    auto values = Values::of(head);
    if (values.has_value() && same_values(*values, part)) {
      crops.push_back({head, {}});
    }
  }
  return crops;
}

}  // namespace opdrift::verdict::refit
