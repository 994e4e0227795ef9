#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "opdrift/metrics/measurement.hpp"
#include "opdrift/verdict/problem.hpp"

// Where NaN and Inf come from, and which tensors are about to make some. All of it from statistics
// of one side of each tensor; no tensor is read, narrowing_effect() excepted.
//   origin     an operator with a NaN or Inf in an output while every known input is finite
//   spread     operators behind an origin that have a NaN or Inf in an input and in an output
//   headroom   largest finite number of a dtype over the largest |value|; below 1 it overflows

namespace opdrift::verdict {

/// Statistics of one side of a value; nullptr when they are not known. Must stay valid.
using StatsLookup = std::function<const metrics::SideStats*(RunSide, ValueId)>;

/// An operator that made NaN or Inf of finite inputs.
struct OverflowOrigin {
  std::size_t op = 0;       ///< position in Problem::operators
  ValueId value = kAbsent;  ///< the output
  std::uint64_t nan = 0;
  std::uint64_t inf = 0;
  double largest_input = 0.0;  ///< largest |input| known; NaN when none is
  bool inputs_known = false;   ///< false: some input has no statistics
  bool in_golden = false;      ///< the golden has NaN or Inf there as well
  std::string sentence;
};

/// How NaN and Inf run through one side.
struct OverflowLineage {
  std::vector<OverflowOrigin> origins;  ///< topological order; empty: none
  std::vector<std::size_t> spread;      ///< operators that pass it on, topological order
  /// From the first origin to the nearest network output with a NaN or Inf, both included; empty
  /// when it reaches none.
  std::vector<std::size_t> path;
  std::optional<std::size_t> turns_nan;  ///< first operator of the path with NaN from Inf alone
  std::string sentence;                  ///< "" when there is no origin
};

OverflowLineage trace_overflow(const Problem& problem, const StatsLookup& lookup, RunSide side);

/// One tensor against the range of a dtype.
struct Headroom {
  ValueId value = kAbsent;
  tensor::DType dtype = tensor::DType::raw;
  double amax = 0.0;
  double ratio = 0.0;            ///< limit / amax; infinite for zeros
  double subnormal_share = 0.0;  ///< of the elements, as stored; NaN for a supposed dtype
  std::uint64_t saturated = 0;   ///< elements at the limit, as stored
  std::string sentence;          ///< "" while there is room (ratio of 2 or more, few subnormals)
};

/// All values of a side with statistics, least headroom first. With `supposed` the limit is that of
/// another dtype: what would become of a float32 golden as float16, say.
std::vector<Headroom> headroom(const Problem& problem, const StatsLookup& lookup, RunSide side,
                               std::optional<tensor::DType> supposed = std::nullopt);

/// A parameter with values that a dtype cannot hold, an attention mask mostly.
struct LargeConstant {
  ValueId value = kAbsent;
  double extreme = 0.0;  ///< the value of largest size
  double becomes = 0.0;  ///< what it is when rounded to the dtype
  std::string sentence;
};

std::vector<LargeConstant> large_constants(const Problem& problem, const StatsLookup& lookup,
                                           tensor::DType dtype);

/// What storing a tensor as `dtype` would do to it; one pass.
struct NarrowingEffect {
  std::uint64_t finite = 0;
  std::uint64_t overflows = 0;   ///< finite values beyond the largest finite number
  std::uint64_t subnormals = 0;  ///< not zero before, below the smallest normal afterwards
  std::uint64_t flushed = 0;     ///< of these, those that become 0
  double relative_l2 = 0.0;      ///< error of those that do not overflow
};
Result<NarrowingEffect> narrowing_effect(const tensor::View& view, tensor::DType dtype);

}  // namespace opdrift::verdict
