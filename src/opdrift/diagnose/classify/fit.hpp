#pragma once

#include <span>
#include <vector>

#include "opdrift/diagnose/classify/image.hpp"

/// Numbers that say how alike two arrays are:
///
///   cosine       sum g d / (|g| |d|), 1 when both are zero, NaN when one is or with a NaN
///   relative L2  |d - g| / |g|
///   correlation  cosine of g - mean g and d - mean d, NaN for a constant
///   affine fit   per channel a, b of least squares |a g + b - d|
namespace opdrift::diagnose::classify {

struct Likeness {
  double cosine = 0.0;
  double relative_l2 = 0.0;

  /// Cosine 0.9999 or more and relative L2 1e-2 or less.
  bool good() const;
  /// Closer than another; any number is closer than none.
  bool closer_than(const Likeness& other) const;
};

/// Both of the same length.
Likeness likeness(std::span<const double> golden, std::span<const double> device);

double correlation(std::span<const double> golden, std::span<const double> device);

struct ChannelFit {
  double a = 1.0;
  double b = 0.0;
};

struct AffineFit {
  std::vector<ChannelFit> channels;
  Likeness after;            ///< of a g + b and d
  double correlation = 0.0;  ///< the worst channel's
};

/// Both images of the same extents.
AffineFit fit_channels(const Image& golden, const Image& device);

}  // namespace opdrift::diagnose::classify
