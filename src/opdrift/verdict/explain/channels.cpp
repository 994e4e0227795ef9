#include "opdrift/verdict/explain/channels.hpp"

#include <algorithm>
#include <cmath>

#include "opdrift/verdict/explain/value_maps.hpp"

namespace opdrift::verdict::refit {

namespace {

enum class Model : std::uint8_t { factors, offsets, both };

class ChannelRefit final : public Refit {
 public:
  ChannelRefit(const tensor::Shape& shape, std::size_t axis, std::vector<Line> lines)
      : lines_(std::move(lines)), inner_(row_major_strides(shape)[axis]), extent_(shape[axis]) {}

  void predict(std::uint64_t first, std::size_t count, const double* base,
               double* out) const override {
    std::uint64_t channel = first / inner_ % extent_;
    std::uint64_t rest = inner_ - first % inner_;
    for (std::size_t i = 0; i < count;) {
      const Line& line = lines_[static_cast<std::size_t>(channel)];
      const std::size_t end =
          i + static_cast<std::size_t>(std::min<std::uint64_t>(rest, count - i));
      for (; i < end; ++i) {
        out[i] = line.a * base[i] + line.o;
      }
      rest = inner_;
      channel = channel + 1 == extent_ ? 0 : channel + 1;
    }
  }

 private:
  std::vector<Line> lines_;
  std::uint64_t inner_;
  std::uint64_t extent_;
};

struct AxisFit {
  std::vector<Line> lines;
  double left2 = 0.0;
  std::vector<std::uint64_t> changed;  ///< indices with a line of their own
};

Line fit(const IndexSums& sums, Model model) {
  switch (model) {
    case Model::factors: return fit_scale(sums);
    case Model::offsets: return fit_offset(sums);
    case Model::both: return fit_line(sums);
  }
  return {};
}

AxisFit fit_axis(const AxisProfile& axis, Model model, double error2) {
  AxisFit result;
  // A channel with so little of the error, or none but rounding, or that no line makes better, is
  // as it should be.
  const double least = error2 * 1e-5 / static_cast<double>(axis.extent);
  for (std::size_t i = 0; i < axis.entries.size(); ++i) {
    const IndexSums& sums = axis.entries[i];
    const Line line = fit(sums, model);
    if (sums.dd <= std::max(least, 4.0 * sums.budget2) || line.left2 > 0.5 * sums.dd) {
      result.lines.emplace_back();
      result.left2 += sums.dd;
      continue;
    }
    result.lines.push_back(line.plain());
    result.left2 += std::max(0.0, line.left2);
    result.changed.push_back(i);
  }
  return result;
}

double least_population(const AxisProfile& axis) {
  double least = axis.entries.front().n;
  for (const IndexSums& sums : axis.entries) {
    least = std::min(least, sums.n);
  }
  return least;
}

std::string line_text(const Line& line, Model model) {
  if (model == Model::factors) {
    return "scaled by " + factor_text(line.a);
  }
  if (model == Model::offsets) {
    return "offset by " + number(line.o, 6);
  }
  if (std::abs(line.a) < 1e-6) {
    return "constant " + number(line.o, 6);
  }
  return "scaled by " + factor_text(line.a) + ", offset by " + number(line.o, 6);
}

std::string range_text(const AxisFit& fit, double Line::*part) {
  double low = fit.lines[static_cast<std::size_t>(fit.changed.front())].*part;
  double high = low;
  for (const std::uint64_t i : fit.changed) {
    low = std::min(low, fit.lines[static_cast<std::size_t>(i)].*part);
    high = std::max(high, fit.lines[static_cast<std::size_t>(i)].*part);
  }
  return number(low, 4) + " to " + number(high, 4);
}

std::string sentence_of(const Evidence& evidence, std::size_t axis, const AxisFit& fit,
                        Model model) {
  constexpr std::size_t kMostListed = 4;
  if (fit.changed.size() <= kMostListed) {
    std::string text;
    for (const std::uint64_t i : fit.changed) {
      text += (text.empty() ? "" : "; ") + axis_place(evidence, axis, i) + " " +
              line_text(fit.lines[static_cast<std::size_t>(i)], model);
    }
    return text;
  }
  const std::string where = std::to_string(fit.changed.size()) + " of " +
                            std::to_string(evidence.shape[axis]) + " indices of axis " +
                            evidence.axis_names[axis];
  if (model == Model::factors) {
    return "each " + axis_word(evidence, axis) + " has a factor of its own, " +
           range_text(fit, &Line::a) + " (" + where + ")";
  }
  if (model == Model::offsets) {
    return "each " + axis_word(evidence, axis) + " has an offset of its own, " +
           range_text(fit, &Line::o) + " (" + where + ")";
  }
  return "each " + axis_word(evidence, axis) + " has a factor, " + range_text(fit, &Line::a) +
         ", and an offset, " + range_text(fit, &Line::o) + ", of its own (" + where + ")";
}

}  // namespace

Candidates channel_affine_candidates(const Evidence& evidence) {
  struct Ranked {
    std::size_t axis;
    Model model;
    AxisFit fit;
  };
  const double error2 = evidence.profile.all.dd;
  std::vector<Ranked> found;
  for (const Model model : {Model::factors, Model::offsets, Model::both}) {
    for (std::size_t k = 0; k < evidence.shape.size(); ++k) {
      const AxisProfile& axis = evidence.profile.axes[k];
      if (axis.width > 1 || axis.extent < 2 ||
          least_population(axis) < (model == Model::both ? 16.0 : 8.0)) {
        continue;
      }
      AxisFit fit = fit_axis(axis, model, error2);
      if (!fit.changed.empty() && fit.left2 <= 0.02 * error2 + 16.0 * evidence.profile.budget2) {
        found.push_back({k, model, std::move(fit)});
      }
    }
  }
  // Fewer channels first; within them factors before offsets before both.
  std::stable_sort(found.begin(), found.end(), [](const Ranked& one, const Ranked& other) {
    return one.model != other.model ? one.model < other.model
                                    : one.fit.changed.size() < other.fit.changed.size();
  });
  Candidates candidates;
  for (Ranked& ranked : found) {
    std::string sentence = sentence_of(evidence, ranked.axis, ranked.fit, ranked.model);
    offer(
        evidence, candidates,
        {ExplanationKind::channel_affine, std::move(sentence),
         std::make_unique<ChannelRefit>(evidence.shape, ranked.axis, std::move(ranked.fit.lines))});
  }
  return candidates;
}

}  // namespace opdrift::verdict::refit
