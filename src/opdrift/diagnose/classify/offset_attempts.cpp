#include <algorithm>
#include <cmath>

#include "opdrift/diagnose/classify/attempts.hpp"
#include "opdrift/verdict/explain/refit.hpp"

namespace opdrift::diagnose::classify {

namespace {

constexpr double kResizedFrom = 0.9;
constexpr double kResizedTo = 0.999;

bool alike(const Image& golden, const Image& device) {
  return golden.batch() == device.batch() && golden.channels() == device.channels() &&
         golden.plane() > 1 && device.plane() > 1;
}

std::string place_text(const Offset& offset) {
  return "(" + std::to_string(offset.dy) + ", " + std::to_string(offset.dx) + ")";
}

InputKind kind_of(const Image& golden, const Image& device) {
  if (golden.rows() == device.rows() && golden.columns() == device.columns()) {
    return InputKind::shift;
  }
  return device.rows() <= golden.rows() && device.columns() <= golden.columns() ? InputKind::crop
                                                                                : InputKind::pad;
}

std::string offset_text(InputKind kind, const Offset& offset) {
  switch (kind) {
    case InputKind::crop:
      return "device = the part of the golden that begins at row and column " + place_text(offset);
    case InputKind::pad:
      return "device = the golden with a border; it begins at row and column " +
             place_text({-offset.dy, -offset.dx, 0.0});
    default:
      return "device = golden shifted by " + place_text({-offset.dy, -offset.dx, 0.0}) +
             " rows and columns";
  }
}

Attempt at_offset(const InputPair& pair, const Offset& offset) {
  Attempt made;
  made.found.kind = kind_of(pair.golden_image, pair.device_image);
  made.found.finding = with_layout(pair.layout, offset_text(made.found.kind, offset));
  made.found.layout_differs = !pair.layout.empty();
  made.found.offset = offset;
  return made;
}

/// The overlap as it is, with channels reversed, scaled, or both.
void try_overlap(const InputPair& pair, const Offset& offset, Attempts& attempts) {
  const Overlap overlap = overlap_at(pair.golden_image, pair.device_image, offset);
  for (const bool reverse : {false, true}) {
    if (reverse && overlap.golden.channels() < 2) {
      break;
    }
    const Image golden = reverse ? reversed_channels(overlap.golden) : overlap.golden;
    Attempt plain = at_offset(pair, offset);
    plain.found.like = likeness(golden.values, overlap.device.values);
    plain.accepted = plain.found.like.good();
    Attempt scaled = plain;
    const AffineFit fit = fit_channels(golden, overlap.device);
    const InputClass described = describe_fit(fit, golden);
    const std::string swap = reverse ? "; channels in reverse order (RGB for BGR)" : "";
    plain.found.swapped = scaled.found.swapped = reverse;
    plain.found.finding += swap;
    scaled.found.finding += swap + "; " + described.finding;
    scaled.found.like = fit.after;
    scaled.found.channels = fit.channels;
    scaled.accepted = fits(fit);
    attempts.push_back(std::move(plain));
    attempts.push_back(std::move(scaled));
  }
}

/// One plane resampled to another size, pixel centres on pixel centres.
std::vector<double> resampled(const Image& image, std::size_t channel, std::size_t rows,
                              std::size_t columns) {
  const double* const from = image.channel(0, channel);
  const auto clamp_to = [](double at, std::size_t extent) {
    return std::clamp(at, 0.0, static_cast<double>(extent - 1));
  };
  std::vector<double> plane;
  plane.reserve(rows * columns);
  for (std::size_t y = 0; y < rows; ++y) {
    const double v = clamp_to((static_cast<double>(y) + 0.5) * static_cast<double>(image.rows()) /
                                      static_cast<double>(rows) -
                                  0.5,
                              image.rows());
    const auto y0 = static_cast<std::size_t>(v);
    const std::size_t y1 = std::min(y0 + 1, image.rows() - 1);
    for (std::size_t x = 0; x < columns; ++x) {
      const double u =
          clamp_to((static_cast<double>(x) + 0.5) * static_cast<double>(image.columns()) /
                           static_cast<double>(columns) -
                       0.5,
                   image.columns());
      const auto x0 = static_cast<std::size_t>(u);
      const std::size_t x1 = std::min(x0 + 1, image.columns() - 1);
      const auto at = [&](std::size_t row, std::size_t column) {
        return from[row * image.columns() + column];
      };
      const double fy = v - static_cast<double>(y0);
      const double fx = u - static_cast<double>(x0);
      plane.push_back((1 - fy) * ((1 - fx) * at(y0, x0) + fx * at(y0, x1)) +
                      fy * ((1 - fx) * at(y1, x0) + fx * at(y1, x1)));
    }
  }
  return plane;
}

/// Correlation of the middle channel after bringing the golden to the device's size.
double resized_correlation(const InputPair& pair) {
  const Image& device = pair.device_image;
  const std::size_t channel = device.channels() / 2;
  const std::vector<double> made =
      resampled(pair.golden_image, channel, device.rows(), device.columns());
  return correlation(made, std::span(device.channel(0, channel), device.plane()));
}

}  // namespace

void try_offset(const InputPair& pair, Attempts& attempts) {
  if (!alike(pair.golden_image, pair.device_image)) {
    return;
  }
  const Offset offset = best_offset(pair.golden_image, pair.device_image);
  const bool moved =
      offset.dy != 0 || offset.dx != 0 || pair.golden_image.extent != pair.device_image.extent;
  if (!std::isnan(offset.correlation) && moved) {
    try_overlap(pair, offset, attempts);
  }
}

void try_resize(const InputPair& pair, Attempts& attempts) {
  if (!alike(pair.golden_image, pair.device_image)) {
    return;
  }
  const bool one_size = pair.golden_image.extent == pair.device_image.extent;
  Offset offset = best_offset(pair.golden_image, pair.device_image);
  const double at_offset_r = offset.correlation;
  const double r = one_size ? at_offset_r : std::max(at_offset_r, resized_correlation(pair));
  Attempt made;
  made.found.kind = InputKind::resize;
  made.found.finding = with_layout(
      pair.layout, (one_size ? "another method of resizing or interpolation: correlation "
                             : "another size, resized: correlation ") +
                       verdict::refit::number(r) + " at the best shift");
  made.found.layout_differs = !pair.layout.empty();
  made.found.like = {r, std::sqrt(std::max(0.0, 1.0 - r * r))};
  made.accepted = r >= kResizedFrom && (!one_size || r <= kResizedTo);
  attempts.push_back(std::move(made));
}

}  // namespace opdrift::diagnose::classify
