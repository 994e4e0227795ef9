#include <algorithm>
#include <cmath>

#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/classify/attempts.hpp"
#include "opdrift/verdict/explain/refit.hpp"
#include "opdrift/verdict/explain/value_maps.hpp"

namespace opdrift::diagnose::classify {

namespace {

constexpr double kLeastCorrelation = 0.999;
// Factors that agree to this are one factor; offsets are measured against the scaled golden.
constexpr double kSameFactor = 1e-3;
constexpr double kSameOffset = 2e-3;

double rms(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) {
    sum += value * value;
  }
  return values.empty() ? 0.0 : std::sqrt(sum / static_cast<double>(values.size()));
}

struct Spread {
  double least = 0.0;
  double most = 0.0;
  double mean = 0.0;
};

Spread spread_of(const std::vector<ChannelFit>& channels, double ChannelFit::*number) {
  Spread spread{channels.front().*number, channels.front().*number, 0.0};
  for (const ChannelFit& channel : channels) {
    spread.least = std::min(spread.least, channel.*number);
    spread.most = std::max(spread.most, channel.*number);
    spread.mean += channel.*number / static_cast<double>(channels.size());
  }
  return spread;
}

std::string offset_text(double b) {
  return std::string(b < 0.0 ? " - " : " + ") + verdict::refit::number(std::abs(b), 6);
}

std::string list_text(const std::vector<ChannelFit>& channels, double ChannelFit::*number) {
  std::vector<std::string> parts;
  for (const ChannelFit& channel : channels) {
    parts.push_back(verdict::refit::number(channel.*number, 6));
  }
  return "[" + join(parts, ", ") + "]";
}

/// Adds an attempt per layout; `reverse` tries the channels in reverse order.
void try_fits(const InputPair& pair, bool reverse, Attempts& attempts) {
  if (reverse && pair.golden_image.channels() < 2) {
    return;
  }
  const Image golden = reverse ? reversed_channels(pair.golden_image) : pair.golden_image;
  for (const Alignment& alignment : pair.alignments) {
    const AffineFit fit = fit_channels(golden, alignment.device);
    Attempt made;
    made.found = describe_fit(fit, golden);
    made.found.swapped = reverse;
    made.found.layout_differs = !alignment.layout.empty();
    made.found.finding = with_layout(
        alignment.layout,
        (reverse ? "channels in reverse order (RGB for BGR), and " : "") + made.found.finding);
    made.accepted = fits(fit);
    attempts.push_back(std::move(made));
  }
}

}  // namespace

bool fits(const AffineFit& fit) {
  return fit.correlation >= kLeastCorrelation && fit.after.good();
}

InputClass describe_fit(const AffineFit& fit, const Image& golden) {
  const Spread a = spread_of(fit.channels, &ChannelFit::a);
  const Spread b = spread_of(fit.channels, &ChannelFit::b);
  const double scale = std::abs(a.mean) * rms(golden.values);
  const bool one_factor = a.most - a.least <= kSameFactor * std::abs(a.mean);
  const bool one_offset = b.most - b.least <= kSameOffset * scale;
  const bool unscaled = one_factor && std::abs(a.mean - 1.0) <= kSameFactor;
  const bool unmoved = one_offset && std::abs(b.mean) <= kSameOffset * scale;
  InputClass found;
  found.like = fit.after;
  found.channels = fit.channels;
  if (one_factor && one_offset && !unscaled) {
    found.kind = InputKind::scaling;
    found.finding = "scaling: device = " + verdict::refit::factor_text(a.mean) + " * golden" +
                    (unmoved ? "" : offset_text(b.mean));
    return found;
  }
  found.kind = one_factor   ? InputKind::mean
               : one_offset ? InputKind::variance
                            : InputKind::mean_variance;
  const std::string what = one_factor   ? "mean: "
                           : one_offset ? "variance: "
                                        : "mean and variance: ";
  const std::string factor = unscaled     ? ""
                             : one_factor ? verdict::refit::factor_text(a.mean) + " * "
                                          : list_text(fit.channels, &ChannelFit::a) + " * ";
  const std::string offset = one_offset ? (unmoved ? "" : offset_text(b.mean))
                                        : " + " + list_text(fit.channels, &ChannelFit::b);
  found.finding = what + "device = " + factor + "golden" + offset + " per channel";
  return found;
}

void try_swap(const InputPair& pair, Attempts& attempts) {
  if (pair.golden_image.channels() < 2) {
    return;
  }
  const Image golden = reversed_channels(pair.golden_image);
  for (const Alignment& alignment : pair.alignments) {
    Attempt made;
    made.found.kind = InputKind::swap;
    made.found.finding = with_layout(alignment.layout, "channels in reverse order (RGB for BGR)");
    made.found.swapped = true;
    made.found.layout_differs = !alignment.layout.empty();
    made.found.like = likeness(golden.values, alignment.device.values);
    made.accepted = made.found.like.good();
    attempts.push_back(std::move(made));
  }
}

void try_affine(const InputPair& pair, Attempts& attempts) {
  try_fits(pair, false, attempts);
}

void try_swap_affine(const InputPair& pair, Attempts& attempts) {
  try_fits(pair, true, attempts);
}

}  // namespace opdrift::diagnose::classify
