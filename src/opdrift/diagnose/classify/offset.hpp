#pragma once

#include <cstdint>

#include "opdrift/diagnose/classify/image.hpp"

/// Where one image lies within another: device[y][x] = golden[y + dy][x + dx].
///
/// Sides of one length are tried shifted by up to 32 either way; a shorter device at every place
/// within the golden (crop), a longer one at every place around it (padding).
namespace opdrift::diagnose::classify {

struct Offset {
  std::int64_t dy = 0;
  std::int64_t dx = 0;
  double correlation = 0.0;  ///< of the middle channel of the first image, where both have pixels
};

/// The offset of the best correlation, NaN when there is nothing to correlate. Channels and batches
/// have to be alike.
Offset best_offset(const Image& golden, const Image& device);

/// The parts that lie upon each other, both of the same extents.
struct Overlap {
  Image golden;
  Image device;
};
Overlap overlap_at(const Image& golden, const Image& device, const Offset& offset);

}  // namespace opdrift::diagnose::classify
