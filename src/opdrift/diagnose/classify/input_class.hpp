#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/diagnose/classify/fit.hpp"
#include "opdrift/diagnose/classify/offset.hpp"
#include "opdrift/tensor/view.hpp"

/// What was done to an input d that should be g. Tried in this order, the first that leaves a
/// cosine of 0.9999 or more and a relative L2 of 1e-2 or less is the finding:
///
///   equal      d = g; where d is g rounded to a narrower type, that is said instead
///   shape      the same elements in the same order, another shape
///   layout     NCHW for NHWC or the reverse, rows and columns exchanged
///   swap       channels in reverse order
///   affine     d = a g + b per channel, correlation 0.999 or more:
///              a, b the same in all channels: scaling; b differs: mean; a differs: variance
///   both       channels in reverse order, then a g + b
///   crop, pad, shift   d[y][x] = g[y + dy][x + dx], alone or with the above
///   cast       every element is g rounded
///   resize     correlation from 0.9 to 0.999 at the best shift, or after resampling to the size
///   missing    g or d is constant
///   different  none of these; the closest is named
///
/// The tests from swap to both are made for every layout in which the sides fit together.
namespace opdrift::diagnose::classify {

enum class InputKind : std::uint8_t {
  equal,
  cast,
  shape,
  layout,
  swap,
  scaling,
  mean,
  variance,
  mean_variance,
  crop,
  pad,
  shift,
  resize,
  missing,
  different,
};

std::string_view to_string(InputKind kind);

struct InputClass {
  InputKind kind = InputKind::different;
  std::string finding;  ///< in one sentence
  std::string closest;  ///< of different inputs: the test that came closest; "" otherwise
  Likeness like;        ///< of what the finding makes of g, with d
  bool layout_differs = false;
  bool swapped = false;              ///< channels in reverse order
  std::vector<ChannelFit> channels;  ///< of affine findings, in the device's order of channels
  std::optional<Offset> offset;      ///< of crops, paddings and shifts

  bool equal() const { return kind == InputKind::equal; }
};

/// Fails with what reading the elements fails with.
Result<InputClass> classify_input(const tensor::View& golden, const tensor::View& device);

}  // namespace opdrift::diagnose::classify
