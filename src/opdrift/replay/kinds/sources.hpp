#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/replay/array.hpp"
#include "opdrift/replay/call.hpp"
#include "opdrift/replay/window.hpp"

// Where the elements of an output come from, for kinds that copy, pick or mix elements. All of it
// follows from shapes and attributes; values of data inputs are not looked at.

namespace opdrift::replay {

using Integers = std::vector<std::int64_t>;

/// start, step and count along one axis, all inside it.
struct Cut {
  std::int64_t start = 0;
  std::int64_t step = 1;
  std::uint64_t count = 0;
};

/// One cut per axis of a Slice.
Result<std::vector<Cut>> slice_cuts(const Call& call);

enum class PadMode : std::uint8_t { constant, reflect, symmetric, edge, wrap };

/// A place that no element of the input is copied to.
inline constexpr std::int64_t kFill = -1;

struct Padding {
  Integers widths;  ///< before per axis, then after per axis
  PadMode mode = PadMode::constant;
  double filler = 0.0;
  tensor::Shape shape;  ///< of the output
};

Result<Padding> padding_of(const Call& call);

/// Source index along one axis for output index `at` + pad before, or kFill.
std::int64_t padded_index(std::int64_t at, std::int64_t extent, PadMode mode);

/// A planned pooling.
struct Pool {
  const Array* x = nullptr;
  Window window;
  tensor::Shape shape;       ///< of the output
  bool include_pad = false;  ///< means divide by padding too
};

Result<Pool> plan_pool(const Call& call);

/// What a mean divides by at flat output position `output`: the elements inside, or those inside
/// the padded input.
double pool_divisor(const Pool& pool, const std::vector<Tap>& taps, std::size_t output);

/// Source elements of one output index along one axis.
struct AxisTaps {
  std::vector<std::size_t> at;
  std::vector<double> weight;  ///< one for each
  /// By how much each weight changes as its place rounds, in roundings.
  std::vector<double> slope;
  bool outside = false;  ///< tf_crop_and_resize: the extrapolation value stands here
};

/// A planned Resize: taps per output index of every axis; no list where an axis is kept.
struct Resampling {
  std::vector<std::vector<AxisTaps>> axes;
  double extrapolation = 0.0;
  bool nearest = false;
};

Result<Resampling> resampling_of(const Call& call);

}  // namespace opdrift::replay
