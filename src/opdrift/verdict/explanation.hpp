#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/tensor/view.hpp"

/// Explanations of a wrong tensor, each proved by refitting: the hypothesis is applied to the
/// golden (or to what was expected) and what is left of the error is stated.
namespace opdrift::verdict {

enum class ExplanationKind : std::uint8_t {
  clamped,            ///< limited to a largest value
  rounded,            ///< equals the golden rounded to another type
  truncated,          ///< the same, towards zero
  scaled,             ///< a * golden
  offset,             ///< golden + b
  affine,             ///< a * golden + b
  channel_affine,     ///< the same with factors of its own per channel
  permuted,           ///< another order of axes
  reversed_channels,  ///< RGB for BGR
  swapped_channels,
  shifted,  ///< along an axis
  cropped,
  swapped_rows,  ///< rows or tiles exchanged
  padding_only,  ///< only a tail or padding block differs
  other_tensor,  ///< equals another operator's tensor, or an earlier step's
  overwritten,   ///< a byte range holds other data
  zero,
  constant,
  half_accumulation,
  other_function,  ///< another activation or epsilon
};

std::string_view to_string(ExplanationKind kind);

struct Explanation {
  ExplanationKind kind = ExplanationKind::zero;
  std::string sentence;    ///< "target = 1.0200 * golden"
  double residual = 0.0;   ///< ||target - refit|| / ||golden||
  double explained = 0.0;  ///< share of the squared error that the refit removes, 0 to 1
};

/// Where the error lies.
struct ErrorPlace {
  struct Slice {
    std::uint64_t first = 0;  ///< index along the axis; of a block: its first index
    std::uint64_t count = 1;  ///< 1, or the block length 16, 32, 64
    double share = 0.0;       ///< of the squared error
  };
  struct Axis {
    std::uint64_t extent = 0;
    std::vector<Slice> top;  ///< largest shares first, at most 4
    Slice block;             ///< the 16-, 32- or 64-block that stands out most; share 0: none
  };
  std::vector<Axis> axes;
  std::uint64_t first_bad = ~std::uint64_t{0};  ///< flat index of the first element out of budget
  std::vector<std::uint64_t> first_bad_index;   ///< its coordinates
  std::string sentence;  ///< "all of the error lies in channel 17"; "" when it is spread evenly
};

}  // namespace opdrift::verdict
